"""A scripted client of the Tablut Challenge: `tablut_player.py [--habit H]… ROLE SECONDS SERVER`.

It keeps the documented protocol and plays the first rook-like move it finds for its colour, by its own simple rules.
Habits: `unquoted` (name without quotes), `upper` (cells in upper case), `no-turn` (no turn in its moves), `stays` (does
not leave at the end), `split` (bytes one by one), `chatty` (moves when it is not its turn), `logs` (writes a log where
it runs, or ends, as the official classes do), and the faults `no-json`, `no-cells`, `huge`, `hangs-up`, `silent`,
`absent`, `early-exit`, `illegal`.
"""

import argparse
import contextlib
import json
import os
import signal
import socket
import struct
import sys

BASES = {f"{a}{b}" for a, b in zip("defeaaabiiihdefe", "1112456545659998", strict=True)}


def receive(connection: socket.socket):
    head = b""
    while len(head) < 4:
        data = connection.recv(4 - len(head))
        if not data:
            return None
        head += data
    payload, (size,) = b"", struct.unpack(">i", head)
    while len(payload) < size:
        payload += connection.recv(size - len(payload))
    return json.loads(payload)


def send(connection: socket.socket, payload: str, habits: set[str]) -> None:
    frame = struct.pack(">i", len(payload.encode())) + payload.encode()
    for part in [frame[place : place + 1] for place in range(len(frame))] if "split" in habits else [frame]:
        connection.sendall(part)


def moves(board, role: str):
    """Moves of one cell or more onto empty cells that are neither throne nor base."""
    own = {"WHITE": ("WHITE", "KING"), "BLACK": ("BLACK",)}[role]
    for rank in range(9):
        for file in range(9):
            if board[rank][file] not in own:
                continue
            for across, along in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                x, y = file + across, rank + along
                while 0 <= x < 9 and 0 <= y < 9 and board[y][x] == "EMPTY":
                    name = f"{'abcdefghi'[x]}{y + 1}"
                    if name in BASES:
                        break
                    yield f"{'abcdefghi'[file]}{rank + 1}", name
                    x, y = x + across, y + along


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--habit", action="append", default=[])
    parser.add_argument("--say", action="store_true")
    parser.add_argument("role", choices=("WHITE", "BLACK"))
    parser.add_argument("seconds", type=int)
    parser.add_argument("server")
    arguments = parser.parse_args()
    habits, role = set(arguments.habit), arguments.role
    if "absent" in habits:
        signal.pause()
    if "early-exit" in habits:
        sys.exit(9)
    if "logs" in habits:
        with open(f"{role}_gameLog.txt", "x", encoding="utf-8") as file:
            file.write("a game\n")
    print(f"{role} with {arguments.seconds} s", file=sys.stderr, flush=True)
    white, black = os.environ.get("TABLUT_PORTS", "5800,5801").split(",")
    connection = socket.create_connection((arguments.server, int(white if role == "WHITE" else black)))
    send(connection, "my name" if "unquoted" in habits else '"my name"', habits)
    count = 0
    with contextlib.suppress(OSError):
        while (state := receive(connection)) is not None:
            assert len(state["board"]) == 9
            assert {len(row) for row in state["board"]} == {9}
            if state["turn"] in ("WHITEWIN", "BLACKWIN", "DRAW"):
                print(f"{role} heard {state['turn']}", file=sys.stderr, flush=True)
                break
            if state["turn"] != role:
                if "chatty" in habits and count:
                    send(connection, '{"from":"a1","to":"a2"}', habits)
                continue
            if "silent" in habits:
                signal.pause()
            if "hangs-up" in habits:
                sys.exit(7)
            if "huge" in habits:
                connection.sendall(struct.pack(">i", 2**30))
                continue
            start, end = list(moves(state["board"], role))[:: -1 if role == "WHITE" else 1][0]
            count += 1
            if "upper" in habits:
                start, end = start.upper(), end.upper()
            if "illegal" in habits and count == 2:
                start, end = "a1", "i9"
            move = {"from": start, "to": end} | ({} if "no-turn" in habits else {"turn": role})
            text = "e4 to f4" if "no-json" in habits else json.dumps({"move": "e4f4"} if "no-cells" in habits else move)
            send(connection, text, habits)
    if "stays" in habits:
        signal.pause()


main()
