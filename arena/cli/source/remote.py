"""What all client commands share: which server, which token, and how answers are printed."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from arena import csv_text
from arena.cli.terminal import output
from arena.cli.terminal.output_option import add_output
from arena.client import DEFAULT, ApiClient, read_keys

GAME_COLUMNS = (
    "id",
    "event",
    "round",
    "sequence",
    "pair",
    "family",
    "variant",
    "options",
    "first",
    "second",
    "winner",
    "termination",
    "kind",
    "detail",
    "plies",
    "time",
    "position",
    "final_position",
    "started",
    "finished",
)
"""What `--output csv` says of a game."""
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?")


def add_server(
    parser: argparse.ArgumentParser, *, has_ndjson: bool = False, has_csv: bool = False, is_file: bool = False
) -> None:
    """`--server`, `--token`, and the forms of the answer; `has_csv` where it is a table. A file has its own forms."""
    parser.add_argument(
        "--server", metavar="URL", help="the server (default: ARENA_SERVER, the last log-in's, or local)"
    )
    parser.add_argument("--token", metavar="TOKEN", help="an API token (default: ARENA_TOKEN, or that of arena login)")
    if is_file:
        return
    add_output(parser, "json", *(["ndjson"] if has_ndjson else []), *(["csv"] if has_csv else []))


def server_of(arguments: argparse.Namespace) -> str:
    """The server the arguments mean."""
    return str(arguments.server or os.environ.get("ARENA_SERVER") or read_keys()["server"] or DEFAULT)


def client(arguments: argparse.Namespace) -> ApiClient:
    """A client of the server the arguments mean, with its token if there is one."""
    server = server_of(arguments)
    bare = ApiClient(server)
    token = arguments.token or os.environ.get("ARENA_TOKEN") or read_keys()["tokens"].get(bare.server)
    return ApiClient(server, token)


def add_file(parser: argparse.ArgumentParser, forms: Mapping[str, str]) -> None:
    """`--output` and `--output-file` of a command that fetches a file; `forms` are media types by name, the default
    first.
    """
    default = next(iter(forms))
    texts = {"ndjson": "a record a line", "text": "PGN-like text", "csv": "a line for each game, without its moves"}
    meanings = "; ".join(f"{name}: {texts[name]}" for name in forms if name in texts)
    parser.add_argument(
        "-o",
        "--output",
        "--form",
        dest="form",
        choices=tuple(forms),
        default=default,
        help=f"{meanings} (default {default})",
    )
    json_form = "json" if "json" in forms else "ndjson"
    parser.add_argument("--json", dest="form", action="store_const", const=json_form, help=f"as -o {json_form}")
    parser.add_argument(
        "--output-file",
        "--out",
        dest="out",
        metavar="FILE",
        type=Path,
        help="into a file, which is there only when it is whole",
    )


def save(arguments: argparse.Namespace, path: str, forms: Mapping[str, str], **query: Any) -> None:
    """A file from the server to stdout, or whole into `--output-file`."""
    chunks = client(arguments).chunks(path, forms[arguments.form], **query)
    if arguments.form == "csv":
        chunks = (line.encode() for line in csv_text.lines(map(_game, _records(chunks)), GAME_COLUMNS))
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


def _records(chunks: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """The documents of NDJSON that comes in pieces."""
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        yield from (json.loads(line) for line in whole if line.strip())
    if rest.strip():
        yield json.loads(rest)


def _game(record: Mapping[str, Any]) -> dict[str, Any]:
    """What a line of CSV says of a record."""
    return {**record, "plies": len(record["moves"])}


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
    if arguments.output == "csv":
        output.csv(items)
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
