"""CSV for spreadsheets and programs: one line for each item, one column for each key."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any


def lines(items: Iterable[Mapping[str, Any]], columns: Iterable[str] = ()) -> Iterator[str]:
    """Yield the header (`columns`, or the keys of the first item) and a line for each item, with line ends.

    Booleans are `true` and `false`, None is empty, lists and tables are JSON.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    names = list(columns)
    if names:
        writer.writerow(names)
    for item in items:
        if not names:
            names = list(item)
            writer.writerow(names)
        writer.writerow([_cell(item.get(name)) for name in names])
        yield out.getvalue()
        out.seek(0)
        out.truncate()
    yield out.getvalue()


def safe(text: str) -> str:
    """Quote a text that spreadsheets would evaluate as a formula."""
    return "'" + text if text[:1] in "=+-@\t\r" else text


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return safe(value)
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else value
