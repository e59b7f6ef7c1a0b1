"""Structured logs on stderr: `event key=value` for people, JSON lines for machines.

No secret is ever logged: no headers, query strings or bodies.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import MutableMapping
from typing import Any, Literal, TextIO, cast

from arena.plain_text import plain

Form = Literal["auto", "json", "text"]


class _Stderr:
    """A stream that writes to the present `sys.stderr`, since an earlier one may be closed."""

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


_ENCODER = json.JSONEncoder(ensure_ascii=False, default=repr)


def _written(event: Any, **_: Any) -> str:
    """Encode an event as JSON, with a shared encoder for speed: every request logs a line."""
    return _ENCODER.encode(event)


def _plain(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Replace characters that are unsafe on a terminal: a logged address, for example, is text from outside."""
    for name, value in event.items():
        if isinstance(value, str):
            event[name] = plain(value)
    return event


def configure(form: Form = "auto", level: str = "info") -> None:
    """Configure logging of this process; `auto` is text on a terminal, JSON elsewhere."""
    import structlog

    is_text = form == "text" or (form == "auto" and sys.stderr.isatty())
    # Local variables may hold secrets: tracebacks leave them out.
    trace = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    last: list[Any] = (
        [
            _plain,
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
            ),
        ]
        if is_text
        else [structlog.processors.ExceptionRenderer(trace), structlog.processors.JSONRenderer(_written)]
    )
    number = logging.getLevelNamesMapping().get(level.upper(), logging.INFO)
    structlog.configure(
        processors=[*shared, *last],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.WriteLoggerFactory(file=cast(TextIO, _Stderr())),
        cache_logger_on_first_use=False,
    )
    # Messages of the standard library's logging get the same format.
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
    )
    handler = logging.StreamHandler(cast(TextIO, _Stderr()))
    handler.setFormatter(formatter)
    logging.basicConfig(handlers=[handler], level=max(number, logging.WARNING), force=True)


class Logger:
    """A logger for a part of the program. structlog is imported with the first message: most commands log none."""

    def __init__(self, part: str) -> None:
        self._part = part

    def __getattr__(self, level: str) -> Any:
        import structlog

        return getattr(structlog.get_logger(part=self._part), level)


def logger(name: str) -> Any:
    """Return a logger whose lines carry `part=name`."""
    return Logger(name)
