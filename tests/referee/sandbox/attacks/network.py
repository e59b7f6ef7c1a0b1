"""Tries to reach anybody: by TCP, UDP, names, local sockets, and families of sockets that namespaces do not know."""

import socket
import sys
from typing import Any

from attacker import error_of, run

PORT, ADDRESS, ABSTRACT, PATH = sys.argv[1:5]
FAMILIES = {"AF_VSOCK": 40, "AF_PACKET": 17, "AF_ALG": 38, "AF_BLUETOOTH": 31, "AF_KEY": 15, "AF_XDP": 44}


def tcp(host: str, port: int) -> None:
    socket.create_connection((host, port), 2).close()


def udp(host: str, family: int = socket.AF_INET) -> int:
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        return sock.sendto(b"hello", (host, 53))


def strange(family: int) -> None:
    socket.socket(family, socket.SOCK_RAW if family == FAMILIES["AF_PACKET"] else socket.SOCK_SEQPACKET).close()


def local(name: str) -> None:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(name)


def listen() -> int:
    server = socket.create_server(("0.0.0.0", int(PORT)))
    kept.append(server)
    return 0


kept: list[socket.socket] = []


def attack() -> dict[str, Any]:
    results = {
        "tcp to the referee": error_of(lambda: tcp("127.0.0.1", int(PORT))),
        "tcp to this machine": error_of(lambda: tcp(ADDRESS, int(PORT))),
        "tcp out": error_of(lambda: tcp("192.0.2.1", 80)),
        "udp out": error_of(lambda: udp("192.0.2.1")),
        "udp6 out": error_of(lambda: udp("2001:db8::1", socket.AF_INET6)),
        "name": error_of(lambda: socket.getaddrinfo("example.org", 80)),
        "abstract socket": error_of(lambda: local("\0" + ABSTRACT)),
        "path socket": error_of(lambda: local(PATH)),
        "listen": error_of(listen),
    }
    for name, number in FAMILIES.items():
        results[name] = error_of(lambda number=number: strange(number))
    return results


run(attack)
