"""`-o/--output`, and the `Printer` that prints the result of a command in the form that was chosen."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from arena.cli.terminal import output

FORMS = ("table", "json", "ndjson", "text")
_MEANINGS = {
    "table": "for people",
    "json": "one document",
    "ndjson": "a document on each line",
    "text": "plain text",
    "csv": "comma-separated values",
}
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?")


def add_output(
    parser: argparse.ArgumentParser, *more: str, forms: Sequence[str] = FORMS, meanings: Mapping[str, str] | None = None
) -> None:
    """Add `--output` with these forms, of which the first is the default, and `--json`.

    `meanings` replace the usual explanations of forms.
    """
    known = (*forms, *more)
    said = {**_MEANINGS, **(meanings or {})}
    group = parser.add_argument_group("output").add_mutually_exclusive_group()
    group.add_argument(
        "-o",
        "--output",
        choices=known,
        default=known[0],
        metavar="FORM",
        help="; ".join(f"{form}: {said[form]}" for form in known) + f" (default {known[0]})",
    )
    short = "json" if "json" in known else "ndjson"
    group.add_argument("--json", dest="output", action="store_const", const=short, help=f"same as -o {short}")


class Printer:
    """Prints the result of a command in the form that `--output` chooses."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.form: str = arguments.output
        output.be_plain(self.form == "text")

    @property
    def is_for_people(self) -> bool:
        """True if the result is a table or text, which a command may print piece by piece."""
        return self.form in ("table", "text")

    def result(self, document: Mapping[str, Any], show: Callable[[], None] | None = None, items: str = "") -> None:
        """Print a document: as JSON, or by `show` for people.

        `items` is the key of a list in `document`: NDJSON and CSV print each of its items on a line. Without `items`,
        NDJSON is the document on one line.
        """
        if self.form == "json":
            output.document(document)
        elif self.form == "ndjson":
            for item in document[items] if items else [document]:
                output.item(item)
        elif self.form == "csv":
            output.csv(document[items])
        elif show is not None:
            show()

    def rows(
        self,
        items: Iterable[dict[str, Any]],
        columns: Sequence[tuple[str, str]],
        *,
        empty: str,
        drop: Sequence[str] = (),
    ) -> None:
        """Print a list: as a table with columns of (heading, key), or as NDJSON each item as it comes.

        `empty` is the note on an empty list; columns in `drop` are left out first if there is not enough room.
        """
        if self.form == "ndjson":
            for item in items:
                output.item(item)
            return
        found = list(items)

        def show() -> None:
            if not found:
                output.note(empty)
                return
            numbers = [
                heading
                for heading, key in columns
                if all(isinstance(item.get(key), (int, float, type(None))) for item in found)
            ]
            rows = [[cell(item.get(key)) for _, key in columns] for item in found]
            output.table([heading for heading, _ in columns], rows, numbers=numbers, drop=drop)

        self.result({"items": found, "next": None}, show, "items")

    def members(self, document: Mapping[str, Any], names: Sequence[str]) -> None:
        """Print a document; as text, only the members with these names, one per line."""
        width = max(map(len, names))
        lines = [f"{name.replace('_', ' '):<{width}}  {cell(document.get(name))}" for name in names]
        self.result(document, lambda: output.text(*lines))


def cell(value: Any) -> str:
    """Format a value for a table."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:z.2f}"
    if isinstance(value, list):
        return " ".join(map(str, value)) or "-"
    if isinstance(value, dict):
        return ", ".join(f"{name} {cell(one)}" for name, one in value.items()) or "-"
    text = str(value)
    return text[:16].replace("T", " ") if _MOMENT.fullmatch(text) else text
