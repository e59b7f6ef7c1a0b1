"""A chess engine that plays the moves of its command line, and writes what it reads to a file.

`chess_player.py uci|xboard FILE [habit=…] MOVE…`; instead of a move, `silent` is no answer until it is stopped, `deaf`
none at all, `exit` ends it; other words with a space are written as they are.
"""

import sys
import time

VARIANTS = ("chess", "linesofaction", "linesofaction-draw", "tablut-throne-adjacent-strong")
ENDINGS = ("0-1", "1-0", "1/2", "resign", "Illegal")
"""How lines begin that come instead of a move."""
protocol, log, *words = sys.argv[1:]
habits = {word.removeprefix("habit=") for word in words if word.startswith("habit=")}
moves = [word for word in words if not word.startswith("habit=")]


def say(*lines: str) -> None:
    for line in lines:
        print(line, flush=True)


def play() -> None:
    move = moves.pop(0)
    if move == "exit":
        sys.exit(3)
    if move in ("silent", "deaf"):
        waiting.append(move)
    elif " " in move:
        say(move)
        if not move.startswith(ENDINGS):
            play()
    else:
        say(("bestmove " if protocol == "uci" else "move ") + move)


def features() -> None:
    if "loading" in habits:
        say("feature done=0")
        return
    if "slow" in habits:
        say("feature done=0")
        time.sleep(0.1)
    if "old" not in habits:
        named = f' variants="{",".join(VARIANTS)}"' if "plain" not in habits else ""
        say(f"feature setboard={int('startpos' not in habits)} usermove=1 ping=1{named}", "feature done=1")


waiting: list[str] = []
with open(log, "a", encoding="utf-8") as file:
    for line in sys.stdin:
        file.write(line)
        file.flush()
        verb, _, rest = line.strip().partition(" ")
        if "mute" in habits:
            continue
        if verb == "uci":
            choice = "".join(f" var {name}" for name in VARIANTS)
            announced = [] if "plain" in habits else [f"option name UCI_Variant type combo default chess{choice}"]
            say("id name player", *announced, "uciok")
        elif verb == "protover":
            features()
        elif verb == "isready":
            say("readyok")
        elif verb == "ping":
            say(f"pong {rest}")
        elif verb == "go":
            if "complains" in habits:
                say("Error (unknown command): post")
            play()
        elif verb in ("stop", "?") and "silent" in waiting:
            waiting.remove("silent")
            play()
        elif verb == "quit":
            break
