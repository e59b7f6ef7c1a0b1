"""Structured logs: `event key=value` for people, JSON lines for machines, on stderr.

No secret is ever logged: neither headers nor query strings nor bodies.
"""

from __future__ import annotations

import json
import logging
import sys
from typing import Any, Literal, TextIO, cast

Form = Literal["auto", "json", "text"]


class _Stderr:
    """Standard error as it is when something is said: whoever replaced it may have closed what was there before."""

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


_ENCODER = json.JSONEncoder(ensure_ascii=False, default=repr)


def _written(event: Any, **_: Any) -> str:
    """An event as JSON: with one encoder for all of them, as there is a line for every request."""
    return _ENCODER.encode(event)


def configure(form: Form = "auto", level: str = "info") -> None:
    """Set up logging for this process; `auto` is text on a terminal, JSON elsewhere."""
    import structlog

    is_text = form == "text" or (form == "auto" and sys.stderr.isatty())
    # Local variables hold secrets: a trace shows where, never with what.
    trace = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    last: list[Any] = (
        [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback)]
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
    # Libraries that log in the standard way come out in the same form.
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
    )
    handler = logging.StreamHandler(cast(TextIO, _Stderr()))
    handler.setFormatter(formatter)
    logging.basicConfig(handlers=[handler], level=max(number, logging.WARNING), force=True)


class Logger:
    """Says things in the name of a part. What it takes to say them is loaded with the first: most commands say none."""

    def __init__(self, part: str) -> None:
        self._part = part

    def __getattr__(self, level: str) -> Any:
        import structlog

        return getattr(structlog.get_logger(part=self._part), level)


def logger(name: str) -> Any:
    """A logger whose lines carry `part=name`."""
    return Logger(name)
