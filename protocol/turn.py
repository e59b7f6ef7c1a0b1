"""States of a session, the same for both ends: they decide which end may send what.

STARTED --ugi--> HANDSHAKE --ugiok--> IDLE --isready--> READYING --readyok--> IDLE
                                      IDLE --position, go--> THINKING --bestmove--> IDLE
any --quit--> CLOSED
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from protocol.errors import BadLine, OutOfTurn
from protocol.messages import Message


class SessionState(enum.Enum):
    """Stage of a session, which decides what either end may send next; error messages quote the value."""

    STARTED = "started"
    HANDSHAKE = "handshake"
    READYING = "readying"
    IDLE = "idle"
    THINKING = "thinking"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Stray:
    """A message that the state does not allow and that is ignored. `reason` explains why."""

    message: Message
    reason: str

    def __str__(self) -> str:
        return str(self.message)


def encode_line(line: str) -> bytes:
    """Encode a line as bytes. Raises BadLine for a text with line breaks."""
    if "\n" in line or "\r" in line:
        raise BadLine(
            "a message of more than one line", line=line, hint="remove the line breaks from the texts in the message"
        )
    return line.encode() + b"\n"


def out_of_turn_error(message: Message, state: SessionState, hint: str) -> OutOfTurn:
    """Return the error for a message that the state does not allow; `hint` says what to do instead."""
    verb = str(message).partition(" ")[0]
    return OutOfTurn(f"{verb!r} is not allowed while {state.value}", line=str(message), hint=hint, state=state.value)
