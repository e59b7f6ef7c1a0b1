"""Tables that fold into short blocks on phones: every cell is told the heading it stands under, for the style sheet."""

from __future__ import annotations

import re

_TABLE = re.compile(r'(<div class="wide"[^>]*>\s*<table(?![^>]*\bcross\b)[^>]*>)(.*?)(</table>)', re.DOTALL)
_HEADS = re.compile(r"<th\b[^>]*>(.*?)</th>", re.DOTALL)
_ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
_CELL = re.compile(r"<t[dh]\b")
_TAG = re.compile(r"<[^>]*>|[↓↑]")


def label_cells(text: str) -> str:
    """A page whose wide tables have a `data-label` at each cell; crosstables stay as they are."""
    return _TABLE.sub(_labelled, text)


def _labelled(found: re.Match[str]) -> str:
    opening, inner, closing = found.groups()
    head, end, body = inner.partition("</thead>")
    titles = [" ".join(_TAG.sub("", title).split()).replace('"', "&quot;") for title in _HEADS.findall(head)]

    def row(line: re.Match[str]) -> str:
        rest = iter(titles)
        return _CELL.sub(lambda cell: f'{cell[0]} data-label="{next(rest, "")}"', line[0])

    return f"{opening}{head}{end}{_ROW.sub(row, body)}{closing}"
