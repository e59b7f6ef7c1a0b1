"""A line of an event stream and its two encodings: NDJSON and server-sent events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arena.http.json_text import as_json

NDJSON = "application/x-ndjson"
SSE = "text/event-stream"
FORMS = {NDJSON: "one event per line", SSE: "server-sent events; `id` is `seq`, `data` the same document"}
KEEP_ALIVE = {NDJSON: b"\n", SSE: b": keep-alive\n\n"}
"""Empty messages that keep proxies from closing an idle stream."""


@dataclass(frozen=True, slots=True)
class StreamLine:
    """One event. `seq` increases; a client resumes after the last one it has received."""

    event: str
    seq: int
    data: dict[str, Any]


def encode_line(line: StreamLine, form: str) -> bytes:
    """Encode a line for the wire."""
    text = as_json({"event": line.event, "seq": line.seq, **line.data})
    if form == NDJSON:
        return text.encode() + b"\n"
    return f"id: {line.seq}\nevent: {line.event}\ndata: {text}\n\n".encode()
