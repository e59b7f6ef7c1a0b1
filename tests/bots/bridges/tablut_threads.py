"""A client of the Tablut Challenge as people write them: `tablut_threads.py ROLE SECONDS SERVER`.

It starts slowly, connects to the port of its colour, reads states in one thread and thinks in another. It answers every
state whose turn is its own, an old one as well, and takes its time. It prints what it does, on standard output too.
TABLUT_START_S and TABLUT_THINK_S set how long it takes to start and to think.
"""

import json
import os
import queue
import socket
import struct
import sys
import threading
import time

CAMPS = frozenset(["d1", "e1", "f1", "e2", "a4", "a5", "a6", "b5", "i4", "i5", "i6", "h5", "d9", "e9", "f9", "e8"])
STATES: "queue.Queue[dict]" = queue.Queue()


def read_exactly(stream, size):
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


def listen(stream):
    """Read states until the server hangs up."""
    try:
        while True:
            (size,) = struct.unpack(">i", read_exactly(stream, 4))
            STATES.put(json.loads(read_exactly(stream, size)))
    except (EOFError, OSError):
        STATES.put({"turn": "GONE"})


def choose(board, role):
    """Return a rook's move to a free cell outside the camps, for the piece that is nearest to the corner i9."""
    own = {"WHITE", "KING"} if role == "WHITE" else {"BLACK"}
    for row in range(8, -1, -1):
        for column in range(8, -1, -1):
            if board[row][column] not in own:
                continue
            for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                to_row, to_column = row + down, column + right
                if not (0 <= to_row < 9 and 0 <= to_column < 9) or board[to_row][to_column] != "EMPTY":
                    continue
                cells = [f"{'abcdefghi'[x]}{y + 1}" for x, y in ((column, row), (to_column, to_row))]
                if cells[1] not in CAMPS:
                    return cells
    raise SystemExit(f"{role} has no move")


def main():
    role, seconds, server = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    time.sleep(float(os.environ.get("TABLUT_START_S", "0.3")))
    ports = os.environ.get("TABLUT_PORTS", "5800,5801").split(",")
    connection = socket.create_connection((server, int(ports[role == "BLACK"])))
    name = json.dumps(f"threads of {role}").encode()
    connection.sendall(struct.pack(">i", len(name)) + name)
    threading.Thread(target=listen, args=(connection.makefile("rb"),), daemon=True).start()
    think_s = min(seconds, float(os.environ.get("TABLUT_THINK_S", "0.05")))
    seen = 0
    while (state := STATES.get())["turn"] in ("WHITE", "BLACK"):
        seen += 1
        print(f"state {seen}: {state['turn']} to move, I am {role}", flush=True)
        if state["turn"] == role:
            time.sleep(think_s)
            start, end = choose(state["board"], role)
            print(f"{role} plays {start} to {end}", file=sys.stderr, flush=True)
            move = json.dumps({"from": start, "to": end, "turn": role[0]}).encode()
            connection.sendall(struct.pack(">i", len(move)) + move)
    print(f"{role} heard {state['turn']}", file=sys.stderr, flush=True)


main()
