"""A bot that stops the referee while it thinks: `holding.py answers|stays-silent SECONDS`.

It stops the slot, answers at once or not at all, and lets it go on after so many seconds. Between the two there is
the bot's supervisor.
"""

import os
import select
import signal
import sys


def is_asleep(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0] == "S"


def parent_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return int(file.read().rpartition(")")[2].split()[1])


slot = parent_of(os.getppid())
does_answer, seconds = sys.argv[1] == "answers", float(sys.argv[2])
has_held = False
for line in sys.stdin:
    word = line.split()[0]
    if word == "ugi":
        print("id name holding\nugiok", flush=True)
    elif word == "isready":
        print("readyok", flush=True)
    elif word == "go":
        if has_held:
            print("bestmove d1a4", flush=True)
            continue
        has_held = True
        select.select([], [], [], 0.02)
        while not is_asleep(slot):  # the referee has begun to wait
            pass
        os.kill(slot, signal.SIGSTOP)
        if does_answer:
            print("bestmove b1b3", flush=True)
        select.select([], [], [], seconds)
        os.kill(slot, signal.SIGCONT)
    elif word == "quit":
        break
