"""A bot that stops the referee while it thinks: `holding.py answers|stays-silent SECONDS`.

It stops its parent, answers at once or not at all, and lets the parent go on after so many seconds.
"""

import os
import select
import signal
import sys


def is_asleep(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0] == "S"


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
        while not is_asleep(os.getppid()):  # the referee has begun to wait
            pass
        os.kill(os.getppid(), signal.SIGSTOP)
        if does_answer:
            print("bestmove b1b3", flush=True)
        select.select([], [], [], seconds)
        os.kill(os.getppid(), signal.SIGCONT)
    elif word == "quit":
        break
