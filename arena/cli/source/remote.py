"""Common parts of the client commands: server, token, files and streams."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.cli.terminal import output
from arena.cli.terminal.fields import option
from arena.cli.terminal.printer import Printer, add_output
from arena.client import DEFAULT, ApiClient, read_keys
from arena.data_folder import unfinished
from referee import csv_text

_SERVER = "ARENA_SERVER, that of arena login, or http://127.0.0.1:8000"
RECORDS: Mapping[str, str] = {
    "ndjson": "application/x-ndjson",
    "text": "text/plain",
    "csv": "application/x-ndjson",
}
"""Forms in which a server gives the records of many games, with their media types."""
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


@dataclass(frozen=True, kw_only=True)
class ServerArguments:
    """A server, and the token that it gets."""

    server: str | None = option(f"address of the server (default: {_SERVER})", metavar="URL", group="server")
    token: str | None = option(
        "API token (default: ARENA_TOKEN, or that of arena login)", metavar="TOKEN", group="server"
    )


def server_of(arguments: ServerArguments | argparse.Namespace) -> str:
    return str(arguments.server or os.environ.get("ARENA_SERVER") or read_keys()["server"] or DEFAULT)


def client(arguments: ServerArguments | argparse.Namespace) -> ApiClient:
    """Return a client of the server that the arguments choose, with its token if there is one."""
    server = server_of(arguments)
    bare = ApiClient(server)
    token = arguments.token or os.environ.get("ARENA_TOKEN") or read_keys()["tokens"].get(bare.server)
    return ApiClient(server, token)


def add_file(parser: argparse.ArgumentParser, forms: Mapping[str, str]) -> None:
    """Add `--output` and `--output-file` of a command that fetches a file.

    `forms` are media types by name, the default first.
    """
    meanings = {"ndjson": "a record on each line", "text": "PGN-like text", "csv": "a line for each game, no moves"}
    add_output(parser, forms=tuple(forms), meanings=meanings)
    parser.add_argument(
        "--output-file", metavar="FILE", type=Path, help="write to this file, which appears when it is complete"
    )


def save(arguments: argparse.Namespace, path: str, forms: Mapping[str, str], **query: Any) -> None:
    """Write a file from the server to stdout or to `--output-file`, which appears when it is complete."""
    chunks = client(arguments).chunks(path, forms[arguments.output], **query)
    if arguments.output == "csv":
        chunks = (line.encode() for line in csv_text.lines(map(_game, _records(chunks)), GAME_COLUMNS))
    out: Path | None = arguments.output_file
    if out is None:
        for chunk in chunks:
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
        return
    with unfinished(out) as fresh:
        with open(fresh, "wb") as file:
            for chunk in chunks:
                file.write(chunk)
        os.replace(fresh, out)


def _records(chunks: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the JSON documents of an NDJSON stream that arrives in chunks."""
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        yield from (json.loads(line) for line in whole if line.strip())
    if rest.strip():
        yield json.loads(rest)


def _game(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a game record as a row for CSV, with its number of plies."""
    return {**record, "plies": len(record["moves"])}


def follow(arguments: argparse.Namespace, path: str, show: Callable[[dict[str, Any]], None]) -> None:
    """Print a stream of events until it ends: as text or NDJSON every event, as JSON only the last one."""
    printer, last = Printer(arguments), {}
    for event in client(arguments).events(path):
        if printer.form == "ndjson":
            output.item(event)
        elif printer.is_for_people:
            show(event)
        last = event
    if printer.form == "json":
        printer.result(last)
