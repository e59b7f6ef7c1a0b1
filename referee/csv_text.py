"""CSV for spreadsheets and programs: one line for each item, one column for each key."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", *"\uff1d\uff0b\uff0d\uff20")
"""Starts of a text that spreadsheets would evaluate, also as letters of full width."""


def lines(items: Iterable[Mapping[str, Any]], columns: Iterable[str] = ()) -> Iterator[str]:
    """Yield the header (`columns`, or the keys of the first item) and a line for each item, with line ends.

    Booleans are `true` and `false`, None is empty, lists and tables are JSON.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    names = list(columns)
    if names:
        writer.writerow(map(safe, names))
        yield from _taken(out)
    for item in items:
        if not names:
            names = list(item)
            writer.writerow(map(safe, names))
            yield from _taken(out)
        writer.writerow([_cell(item.get(name)) for name in names])
        yield from _taken(out)


def _taken(out: io.StringIO) -> Iterator[str]:
    """Yield the line that was written, and begin the next one: a terminal shows line by line."""
    yield out.getvalue()
    out.seek(0)
    out.truncate()


def safe(text: str) -> str:
    """Quote a text that spreadsheets would evaluate as a formula."""
    return "'" + text if text.startswith(_FORMULA) else text


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return safe(value)
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else value
