"""A small program of its own, run inside a sandbox: tries what must not work there and tells what did.

    probe.py PORT FILE PROCESSES

Prints one line of JSON: `user`, `connected` (to PORT of this machine), `wrote` (FILE), `children` (of twice PROCESSES).
"""

import json
import os
import signal
import socket
import sys


def main() -> None:
    """Try everything."""
    found = {"user": os.getuid(), "connected": False, "wrote": False, "children": 0}
    try:
        with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 1):
            found["connected"] = True
    except OSError:
        pass
    try:
        with open(sys.argv[2], "w", encoding="ascii") as file:
            file.write("here")
        found["wrote"] = True
    except OSError:
        pass
    children = []
    for _ in range(2 * int(sys.argv[3])):
        try:
            child = os.fork()
        except OSError:
            break
        if not child:
            signal.pause()
        children.append(child)
    found["children"] = len(children)
    for child in children:
        os.kill(child, signal.SIGKILL)
    print(json.dumps(found), flush=True)


main()
