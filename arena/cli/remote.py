"""What all client commands share: which server, which token, and how answers are printed."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.cli import output
from arena.client import DEFAULT, Client, read_keys

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?")


def add_server(parser: argparse.ArgumentParser, *, has_ndjson: bool = False) -> None:
    """`--server`, `--token`, and the forms of the answer."""
    parser.add_argument(
        "--server", metavar="URL", help="the server (default: ARENA_SERVER, the last log-in's, or local)"
    )
    parser.add_argument("--token", metavar="TOKEN", help="an API token (default: ARENA_TOKEN, or that of arena login)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON document on stdout")
    if has_ndjson:
        form.add_argument("--ndjson", action="store_true", help="one JSON document a line on stdout")


def server_of(arguments: argparse.Namespace) -> str:
    """The server the arguments mean."""
    return str(arguments.server or os.environ.get("ARENA_SERVER") or read_keys()["server"] or DEFAULT)


def client(arguments: argparse.Namespace) -> Client:
    """A client of the server the arguments mean, with its token if there is one."""
    server = server_of(arguments)
    bare = Client(server)
    token = arguments.token or os.environ.get("ARENA_TOKEN") or read_keys()["tokens"].get(bare.server)
    return Client(server, token)


def add_file(parser: argparse.ArgumentParser, forms: Mapping[str, str]) -> None:
    """`--form` and `--out` of a command that fetches a file; `forms` are media types by name, the default first."""
    parser.add_argument(
        "--form", choices=tuple(forms), default=next(iter(forms)), help=f"(default {next(iter(forms))})"
    )
    parser.add_argument("--out", metavar="FILE", type=Path, help="into a file, which is there only when it is whole")


def save(arguments: argparse.Namespace, path: str, forms: Mapping[str, str], **query: Any) -> None:
    """A file from the server to stdout, or whole into `--out`."""
    chunks = client(arguments).chunks(path, forms[arguments.form], **query)
    out: Path | None = arguments.out
    if out is None:
        for chunk in chunks:
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
        return
    fresh = out.with_name(out.name + ".new")
    try:
        with open(fresh, "wb") as file:
            for chunk in chunks:
                file.write(chunk)
        os.replace(fresh, out)
    finally:
        fresh.unlink(missing_ok=True)


def follow(arguments: argparse.Namespace, path: str, tell: Callable[[dict[str, Any]], None]) -> None:
    """A stream to its end: every event told or, with `--ndjson`, a line; with `--json` the last one alone."""
    last: dict[str, Any] = {}
    for event in client(arguments).events(path):
        if arguments.ndjson:
            output.item(event)
        elif not arguments.json:
            tell(event)
        last = event
    if arguments.json:
        output.document(last)


def show_items(
    arguments: argparse.Namespace,
    items: Iterable[dict[str, Any]],
    columns: Sequence[tuple[str, str]],
    *,
    empty: str,
    drop: Sequence[str] = (),
) -> None:
    """A list: as JSON, as NDJSON, or as a table of (heading, key), `drop` going first where there is no room for all.

    `empty` is what to say of nothing.
    """
    if getattr(arguments, "ndjson", False):
        for item in items:
            output.item(item)
        return
    found = list(items)
    if arguments.json:
        output.document({"items": found, "next": None})
        return
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


def show_document(arguments: argparse.Namespace, document: dict[str, Any], names: Sequence[str]) -> None:
    """A document: as JSON, or its main members line by line."""
    if arguments.json:
        output.document(document)
        return
    width = max(map(len, names))
    output.text(*(f"{name.replace('_', ' '):<{width}}  {cell(document.get(name))}" for name in names))


def cell(value: Any) -> str:
    """A value in a table."""
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
