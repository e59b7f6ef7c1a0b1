"""A port for a server that a test starts: one that nobody else will be given meanwhile."""

from __future__ import annotations

import secrets
import socket

_LOWEST, _HIGHEST = 10_000, 32_000
"""Below those that the kernel gives to whoever connects or asks for any: one of these is soon somebody else's."""


def free_port(host: str = "127.0.0.1") -> int:
    """A port nobody listens on now, drawn at random: tests that run at once do not draw the same."""
    while True:
        port = _LOWEST + secrets.randbelow(_HIGHEST - _LOWEST)
        try:
            with socket.create_server((host, port)):
                return port
        except OSError:
            continue
