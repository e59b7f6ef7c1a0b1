"""A bot that answers from a list: `scripted.py MOVE…` plays the moves in turn, then stops answering.

`--option LINE` announces an option; `--say TEXT` prints TEXT before every bestmove; `--echo` writes what it hears to
standard error, `--hear FILE` into a file; `--ignore VERB` never answers that.
"""

import sys


def main() -> None:
    moves, options, says, ignored, echoes, heard = [], [], [], [], False, None
    words = iter(sys.argv[1:])
    for word in words:
        if word == "--option":
            options.append(next(words))
        elif word == "--say":
            says.append(next(words))
        elif word == "--ignore":
            ignored.append(next(words))
        elif word == "--hear":
            heard = open(next(words), "a")  # noqa: SIM115 - until its end
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
            game = iter(moves)
        elif verb == "go":
            for say in says:
                print(say)
            move = next(game, None)
            if move is not None:
                print("bestmove", move.replace("_", " "))
        elif verb == "quit":
            return
        sys.stdout.flush()


main()
