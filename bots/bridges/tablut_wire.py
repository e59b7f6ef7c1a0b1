"""Messages of the clients of the Tablut Challenge: frames of JSON over TCP.

A frame is the length of its payload in bytes (four bytes, big-endian, signed) and the payload, UTF-8 JSON. The server
sends boards as rows of words, rank 1 first; clients send moves as the names of two cells. Source: the server of the
challenge, and known errors of its clients.
"""

from __future__ import annotations

import json
import re
import struct
from typing import Any

from bots.bridges.failure import BridgeError, BridgeExit, shown
from referee.rules.position import Position

PORTS = {"WHITE": 5800, "BLACK": 5801}
"""Port for the client of each colour; nearly all clients have these numbers built in."""
COLOURS = {"first": "WHITE", "second": "BLACK"}
"""The defenders are white and move first."""
ENDINGS = {"p1win": "WHITEWIN", "p2win": "BLACKWIN", "draw": "DRAW"}
MAX_FRAME_BYTES = 65_536
"""Longest frame of a client: names and moves are short."""
MAX_NAME_CHARACTERS = 60

_HEAD = struct.Struct(">i")
_WORDS = {"t": "BLACK", "T": "WHITE", "K": "KING"}
_CELL = re.compile(r"[a-i][1-9]")
_THRONE = "e5"


def pack_frame(data: Any) -> bytes:
    """Encode data as one frame."""
    payload = json.dumps(data, separators=(",", ":")).encode()
    return _HEAD.pack(len(payload)) + payload


def state_frame(position: Position, turn: str | None = None) -> bytes:
    """Encode a position as a frame. After the end of the game, `turn` replaces the side to move."""
    pieces = position.board.pieces

    def word(name: str) -> str:
        return _WORDS[pieces[name][-1]] if pieces.get(name) else "THRONE" if name == _THRONE else "EMPTY"

    rows = [[word(f"{file}{rank}") for file in "abcdefghi"] for rank in range(1, 10)]
    return pack_frame({"board": rows, "turn": turn or COLOURS[position.side]})


class Frames:
    """Splits a stream of bytes into frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Return the payloads completed by these bytes. Raises BridgeError for an impossible length."""
        self._buffer += data
        payloads = []
        while len(self._buffer) >= _HEAD.size:
            (size,) = _HEAD.unpack_from(self._buffer)
            if not 0 < size <= MAX_FRAME_BYTES:
                raise BridgeError(
                    BridgeExit.ANSWER, f"the client sent a frame of {size} bytes ({shown(bytes(self._buffer[:24]))})"
                )
            if len(self._buffer) < _HEAD.size + size:
                break
            payloads.append(bytes(self._buffer[_HEAD.size : _HEAD.size + size]))
            del self._buffer[: _HEAD.size + size]
        return payloads


def read_name(payload: bytes) -> str:
    """Read a client's name: a JSON string, or the bare text that some clients send."""
    text = payload.decode("utf-8", "replace").strip()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    name = value if isinstance(value, str) else text
    return "".join(letter for letter in name if letter.isprintable()).strip()[:MAX_NAME_CHARACTERS] or "nameless"


def read_move(payload: bytes) -> str:
    """Read a client's move as canonical text, `e4f4`. Cells may be in either case, `turn` may be missing. Raises
    BridgeError.
    """
    try:
        data = json.loads(payload)
    except (ValueError, RecursionError):
        raise BridgeError(BridgeExit.ANSWER, f"the client's move is not JSON: {shown(payload)}") from None
    cells = [str(data.get(key, "")).strip().lower() for key in ("from", "to")] if isinstance(data, dict) else [""]
    if not all(map(_CELL.fullmatch, cells)):
        raise BridgeError(BridgeExit.ANSWER, f"the client's move names no two cells as from and to: {shown(payload)}")
    return "".join(cells)
