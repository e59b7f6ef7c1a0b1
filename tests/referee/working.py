"""A bot that works for 50 ms of processor time a move on one core: `working.py CORE CHILDREN START_MS`.

It works for START_MS before it is ready. Its children never rest. At its second move it resigns.
"""

import os
import sys
import time

core, children, start_ms = map(int, sys.argv[1:])
os.sched_setaffinity(0, {core})
reader, writer = os.pipe()
for _ in range(children):
    if not os.fork():
        os.close(writer)
        os.set_blocking(reader, False)
        while True:  # until the bot is gone
            try:
                if not os.read(reader, 1):
                    os._exit(0)
            except BlockingIOError:
                pass


def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


has_moved = False
for line in sys.stdin:
    word = line.split()[0]
    if word == "ugi":
        work(start_ms / 1000)
        print("id name working\nugiok", flush=True)
    elif word == "isready":
        print("readyok", flush=True)
    elif word == "go":
        work(0.05)
        print("bestmove", "resign" if has_moved else "b1b3", flush=True)
        has_moved = True
    elif word == "quit":
        break
