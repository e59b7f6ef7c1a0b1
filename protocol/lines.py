"""Cutting a stream of bytes into lines, in bounded memory.

Refuses to know what a line says, and never decodes one except to show it to people.
"""

from __future__ import annotations

from protocol.errors import LineTooLong, visible

LIMIT_BYTES = 8192
"""The longest line a bot may write, its newline not counted."""

HEAD_BYTES = 80
"""How much of a line that is too long is kept, to tell its author which one it was."""


def text(line: bytes) -> str:
    """A line as people read it: UTF-8 where it is, `�` where it is not, control characters as escapes."""
    return visible(line.decode("utf-8", "replace"))


class LineSplitter:
    r"""Turns chunks of any size into lines ended by `\n` or `\r\n`; the lines are the same however the bytes arrive.

    A line of more than `limit` bytes (what stands before the `\n`, a `\r` included) raises LineTooLong once. The
    rest of that line is dropped as it arrives, so a caller that chooses to carry on gets the lines after it.
    """

    __slots__ = ("_after", "_dropping", "_held", "limit")

    def __init__(self, limit: int = LIMIT_BYTES) -> None:
        self.limit = limit
        self._held = bytearray()
        """An unfinished line of at most `limit` bytes."""
        self._after = b""
        """What followed a line that was too long in the same chunk; it goes before the next one."""
        self._dropping = False

    @property
    def pending(self) -> int:
        """How many bytes are held: an unfinished line, and what followed a line that was too long."""
        return len(self._held) + len(self._after)

    @property
    def is_empty(self) -> bool:
        """Whether the next byte begins a line."""
        return not (self._held or self._dropping or self._after)

    def feed(self, data: bytes) -> list[bytes]:
        """The lines completed by `data`, without their ends. Raises LineTooLong (see there for the lines before it).

        After LineTooLong, `feed(b"")` gives the lines that stood behind the long one in the same chunk.
        """
        # Nearly always a bot writes one whole line at a time: no joining, no loop.
        end = data.find(b"\n")
        if 0 <= end == len(data) - 1 and end <= self.limit and not (self._held or self._dropping or self._after):
            return [data[:-2] if data.endswith(b"\r\n") else data[:-1]]
        return self._feed(data)

    def _feed(self, data: bytes) -> list[bytes]:
        if self._after:
            data, self._after = self._after + data, b""
        start = 0
        if self._dropping:
            start = data.find(b"\n") + 1
            if not start:
                return []
            self._dropping = False
        found: list[bytes] = []
        if not start and b"\r" not in data and not self._held.endswith(b"\r"):
            # Many lines at once, none too long: cut them all in one go. A flood of short lines must not cost us much.
            *found, rest = (bytes(self._held) + data if self._held else data).split(b"\n")
            if len(rest) <= self.limit and all(len(line) <= self.limit for line in found):
                self._held = bytearray(rest)
                return found
            found = []
        while (end := data.find(b"\n", start)) >= 0:
            length = len(self._held) + end - start
            if length > self.limit:
                head = bytes(self._held[:HEAD_BYTES] + data[start : min(end, start + HEAD_BYTES)])[:HEAD_BYTES]
                self._held.clear()
                self._after = data[end + 1 :]
                raise LineTooLong(length=length, limit=self.limit, head=head, complete=found)
            line = data[start:end]
            if self._held:
                line = bytes(self._held) + line
                self._held.clear()
            found.append(line[:-1] if line.endswith(b"\r") else line)
            start = end + 1
        length = len(self._held) + len(data) - start
        if length > self.limit:
            head = bytes(self._held[:HEAD_BYTES] + data[start : start + HEAD_BYTES])[:HEAD_BYTES]
            self._held.clear()
            self._dropping = True
            raise LineTooLong(length=length, limit=self.limit, head=head, complete=found)
        self._held += data[start:] if start else data
        return found
