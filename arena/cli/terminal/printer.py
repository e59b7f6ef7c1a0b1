"""`-o/--output`, and the `Printer` that prints the result of a command in the form that was chosen."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from arena.cli.terminal import output
from arena.cli.terminal.fields import Place, declared
from arena.documents.table import Column
from arena.errors import BadValueError

T = TypeVar("T")


def read_document(kind: type[T], data: Mapping[str, Any]) -> T:
    """Return the document that `data` describes; hidden fields are None. Raises BadValueError if a field is missing."""
    values = {}
    for name, hint, is_hidden, has_default in _fields(kind):  # type: ignore[arg-type]
        if name in data:
            values[name] = _value(hint, data[name])
        elif is_hidden and not has_default:
            values[name] = None
        elif not has_default:
            raise BadValueError(
                f"invalid answer: no {name!r} in a {kind.__name__}", hint="check that this is a server of this version"
            )
    return kind(**values)


@cache
def _fields(kind: type) -> tuple[tuple[str, Any, bool, bool], ...]:
    """Return (name, type, whether it is hidden, whether it has a default) of each field."""
    hints = get_type_hints(kind)
    return tuple(
        (
            field.name,
            hints[field.name],
            bool(field.metadata.get("exclude")),
            (field.default, field.default_factory) != (MISSING, MISSING),
        )
        for field in fields(kind)
    )


def _value(hint: Any, value: Any) -> Any:
    kinds = (hint, *get_args(hint))
    if isinstance(value, str) and datetime in kinds:
        return datetime.fromisoformat(value)
    document = next((kind for kind in kinds if is_dataclass(kind)), None)
    if document is not None and isinstance(value, dict):
        return read_document(document, value)  # type: ignore[arg-type]
    if isinstance(value, list) and get_origin(hint) is list:
        return [_value(get_args(hint)[0], item) for item in value]
    return value


FORMS = ("table", "json", "ndjson", "text")
_MEANINGS = {
    "table": "for people",
    "json": "one document",
    "ndjson": "a document on each line",
    "text": "plain text",
    "csv": "comma-separated values",
}


def add_output(
    parser: Place,
    *more: str,
    forms: Sequence[str] = FORMS,
    meanings: Mapping[str, str] | None = None,
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


def output_form(*more: str, forms: Sequence[str] = FORMS, meanings: Mapping[str, str] | None = None) -> Any:
    """Declare the field `output` of a command's record: `--output` with these forms, and `--json`."""
    return declared(lambda parser: add_output(parser, *more, forms=forms, meanings=meanings), forms[0])


@dataclass(frozen=True, kw_only=True)
class Output:
    output: str = output_form()


@dataclass(frozen=True, kw_only=True)
class ListOutput(Output):
    """The form of a list, which may be CSV."""

    output: str = output_form("csv")


class Printer:
    """Prints the result of a command in the form that `--output` chooses."""

    def __init__(self, arguments: Output | argparse.Namespace) -> None:
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
        self, items: Iterable[dict[str, Any]], columns: Iterable[Column[T]], document: type[T], *, empty: str
    ) -> None:
        """Print a list of documents: as a table with these columns, or as NDJSON each item as it comes.

        `empty` is the note on an empty list.
        """
        if self.form == "ndjson":
            for item in items:
                output.item(item)
            return
        listed = list(items)

        def show() -> None:
            if listed:
                output.table(columns, [read_document(document, item) for item in listed])
            else:
                output.note(empty)

        self.result({"items": listed, "next": None}, show, "items")

    def members(self, document: Mapping[str, Any], names: Sequence[str]) -> None:
        """Print a document; as text, only the members with these names, one per line."""
        from arena.cli.terminal.table import written  # loads rich

        titles = {name: name.removesuffix("_bytes").replace("_", " ") for name in names}
        width = max(map(len, titles.values()))
        lines = [
            f"{title:<{width}}  {written(document.get(name), 'size' if name.endswith('_bytes') else '')}"
            for name, title in titles.items()
        ]
        self.result(document, lambda: output.text(*lines))
