"""A bot that answers from a list: `scripted.py MOVE…` plays the moves in turn, then stops answering.

`--option LINE` announces an option, `--clocks` the one of bots that read clocks, which are not measured first;
`--say TEXT` prints TEXT before every bestmove; `--after COUNT TEXT` prints TEXT
and flushes it apart, behind the COUNT-th of a game, `--at-once COUNT TEXT` together with that, `--complain COUNT TEXT`
on standard error; `--think COUNT MS` thinks so long about that one; `--echo` writes what it hears to standard error,
`--hear FILE` into a file; `--ignore VERB` never answers that.
"""

import sys
import time


def main() -> None:
    moves, options, says, ignored, echoes, heard = [], [], [], [], False, None
    after, count, slow, slow_ms = {}, 0, 0, 0
    words = iter(sys.argv[1:])
    for word in words:
        if word == "--option":
            options.append(next(words))
        elif word == "--clocks":
            options.append("option name UGI_Clocks type check default true")
        elif word == "--say":
            says.append(next(words))
        elif word == "--ignore":
            ignored.append(next(words))
        elif word == "--hear":
            # By line: a bot that is killed at the end of its games writes nothing more.
            heard = open(next(words), "a", buffering=1)  # noqa: SIM115 - until its end
        elif word == "--think":
            slow, slow_ms = int(next(words)), int(next(words))
        elif word in ("--after", "--at-once", "--complain"):
            number = int(next(words))
            after[number] = next(words), sys.stderr if word == "--complain" else sys.stdout, word != "--at-once"
        elif word == "--echo":
            echoes = True
        else:
            moves.append(word)
    game = iter(moves)
    for line in sys.stdin:
        if echoes:
            print(line.rstrip(), file=sys.stderr, flush=True)
        if heard:
            print(line, end="", file=heard)
        verb = line.split(" ")[0].strip()
        if verb in ignored:
            continue
        if verb == "ugi":
            print("id name scripted\nid author the tests", *options, "ugiok", sep="\n")
        elif verb == "isready":
            print("readyok")
        elif verb == "uginewgame":
            game, count = iter(moves), 0
        elif verb == "go":
            for say in says:
                print(say)
            if count + 1 == slow:
                time.sleep(slow_ms / 1000)
            move = next(game, None)
            if move is not None:
                print("bestmove", move.replace("_", " "))
                count += 1
            if count in after:
                text, stream, is_apart = after[count]
                if is_apart:
                    sys.stdout.flush()
                print(text, file=stream, flush=True)
        elif verb == "quit":
            return
        sys.stdout.flush()


main()
