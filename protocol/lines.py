"""Split a stream of bytes into lines, in bounded memory."""

from __future__ import annotations

from protocol.errors import LineTooLong, visible

LIMIT_BYTES = 8192
"""Maximum length of a line of a bot, without its newline."""

HEAD_BYTES = 80
"""Number of bytes of an overlong line that are kept for the error message."""


def text(line: bytes) -> str:
    """Decode a line for display: invalid UTF-8 becomes `�`, control characters become escapes."""
    return visible(line.decode("utf-8", "replace"))


class LineSplitter:
    r"""Splits chunks of any size into lines that end with `\n` or `\r\n`; chunk boundaries do not change the result.

    A line of more than `limit` bytes before its `\n` (a `\r` counts) raises LineTooLong once. The rest of that line is
    dropped as it arrives, so the caller may continue with the lines after it.
    """

    __slots__ = ("_after", "_dropping", "_held", "limit")

    def __init__(self, limit: int = LIMIT_BYTES) -> None:
        self.limit = limit
        self._held = bytearray()
        """Unfinished line of at most `limit` bytes."""
        self._after = b""
        """Data of the same chunk after an overlong line; it is read before the next chunk."""
        self._dropping = False

    @property
    def pending(self) -> int:
        """Number of buffered bytes: an unfinished line, and the data after an overlong line."""
        return len(self._held) + len(self._after)

    @property
    def unfinished(self) -> bytes:
        """The beginning of a line whose end has not arrived."""
        return bytes(self._held)

    @property
    def is_empty(self) -> bool:
        """True if no unfinished line is buffered or being dropped: the next byte begins a line."""
        return not (self._held or self._dropping or self._after)

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines completed by `data`, without line ends. Raises LineTooLong, with the lines before it.

        After LineTooLong, `feed(b"")` returns the lines after the overlong one in the same chunk.
        """
        # Fast path: a bot nearly always writes one whole line at a time.
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
        lines: list[bytes] = []
        # A return at the end of the last chunk may belong to a line end that this chunk completes.
        if not start and b"\r" not in data and not self._held.endswith(b"\r"):
            # Many lines, none overlong: split them at once, so that a flood of short lines stays cheap.
            *lines, rest = (bytes(self._held) + data if self._held else data).split(b"\n")
            if len(rest) <= self.limit and all(len(line) <= self.limit for line in lines):
                self._held = bytearray(rest)
                return lines
            lines = []
        while (end := data.find(b"\n", start)) >= 0:
            length = len(self._held) + end - start
            if length > self.limit:
                head = bytes(self._held[:HEAD_BYTES] + data[start : min(end, start + HEAD_BYTES)])[:HEAD_BYTES]
                self._held.clear()
                # The caller gets the error first: the lines behind the long one must not be lost with it.
                self._after = data[end + 1 :]
                raise LineTooLong(length=length, limit=self.limit, head=head, complete=lines)
            line = data[start:end]
            if self._held:
                line = bytes(self._held) + line
                self._held.clear()
            lines.append(line[:-1] if line.endswith(b"\r") else line)
            start = end + 1
        length = len(self._held) + len(data) - start
        if length > self.limit:
            head = bytes(self._held[:HEAD_BYTES] + data[start : start + HEAD_BYTES])[:HEAD_BYTES]
            self._held.clear()
            self._dropping = True
            raise LineTooLong(length=length, limit=self.limit, head=head, complete=lines)
        self._held += data[start:] if start else data
        return lines
