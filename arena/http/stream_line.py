"""A line of a stream, and how it is written: a JSON document a line (NDJSON) or a server-sent event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arena.http.json_text import as_json

NDJSON = "application/x-ndjson"
SSE = "text/event-stream"
FORMS = {NDJSON: "one event a line", SSE: "server-sent events; `id` is `seq`, `data` the same document"}
KEEP_ALIVE = {NDJSON: b"\n", SSE: b": keep-alive\n\n"}
"""What says nothing, and keeps proxies from hanging up."""


@dataclass(frozen=True, slots=True)
class StreamLine:
    """One event. `seq` grows; a client that has seen it goes on behind it."""

    event: str
    seq: int
    data: dict[str, Any]


def encode_line(line: StreamLine, form: str) -> bytes:
    """A line as it goes over the wire."""
    text = as_json({"event": line.event, "seq": line.seq, **line.data})
    if form == NDJSON:
        return text.encode() + b"\n"
    return f"id: {line.seq}\nevent: {line.event}\ndata: {text}\n\n".encode()
