"""The archive of a server, asked through its JSON interface: what `arena archive … --server URL` does."""

from __future__ import annotations

import argparse
import io
import json
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from arena.cli import remote
from arena.cli.exit import CommandError
from arena.cli.query_options import NOT_FILTERS, read_options
from arena.documents.archive import ArchiveQuery

if TYPE_CHECKING:
    from referee.game.record import GameRecord


def add_server(parser: argparse.ArgumentParser) -> None:
    """`--server` and `--token`; without them the archive is the one of the data folder."""
    parser.add_argument("--server", metavar="URL", help="ask this server instead of the database here")
    parser.add_argument("--token", metavar="TOKEN", help="an API token (default: ARENA_TOKEN, or that of arena login)")


def is_meant(arguments: argparse.Namespace) -> bool:
    """Whether the arguments mean a server. Raises CommandError when they mean a database as well."""
    if not arguments.server:
        return False
    for name in ("data", "config", "database"):
        if getattr(arguments, name):
            raise CommandError(f"--server and --{name} name two archives; leave one of them out")
    return True


def asked(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the filters among the arguments, by name; None matches anything."""
    return read_options(arguments, ArchiveQuery, without=NOT_FILTERS)


def order_of(arguments: argparse.Namespace) -> Literal["falling", "rising"]:
    """Return the direction of the order."""
    return "falling" if arguments.latest else "rising"


def search(arguments: argparse.Namespace) -> tuple[list[dict[str, Any]], int]:
    """The games that match, as far as they are to be shown, and how many match in all."""
    query = {**asked(arguments), "sort": arguments.sort, "order": order_of(arguments)}
    client = remote.client(arguments)
    total = client.get("/archive", **query, limit=1)["total"]
    found = client.pages("/archive", arguments.offset + arguments.limit, **query)
    return list(islice(found, arguments.offset, None)), int(total)


def sources(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Where its games come from."""
    found: list[dict[str, Any]] = remote.client(arguments).get("/archive/sources")["items"]
    return found


def _texts(arguments: argparse.Namespace, notation: str | None) -> Iterator[str]:
    """The games that match, each as text, in the order of their numbers."""
    client = remote.client(arguments)
    for line in client.pages("/archive", **asked(arguments), order="rising"):
        yield b"".join(client.chunks(f"/archive/{line['serial']}/text", "text/plain", notation=notation)).decode()


def texts(arguments: argparse.Namespace) -> list[str]:
    """The games that match as they were imported, or in the notation wanted."""
    return list(_texts(arguments, arguments.format))


def records(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """The games that match as records."""
    return [json.loads(text) for text in _texts(arguments, "record")]


def first(arguments: argparse.Namespace) -> GameRecord | None:
    """The first of the games that match."""
    from referee.game.record import read_record

    text = next(_texts(arguments, "record"), None)
    return None if text is None else read_record(text)


def take_in(arguments: argparse.Namespace, name: str, text: str) -> dict[str, Any]:
    """What became of a text that is sent to be imported."""
    if arguments.options:
        raise CommandError('a server takes no --option; write them as tags of the games: [Rule.NAME "VALUE"]')
    query = {
        "family": arguments.family,
        "source": "stdin" if name == "-" else Path(name).name,
        "variant": arguments.variant,
        "notation": arguments.format,
    }
    with tempfile.TemporaryFile() as file:
        file.write(text.encode())
        file.seek(0, io.SEEK_SET)
        answer = remote.client(arguments).ask("POST", "/archive", query=query, file=file).data
    return {**answer, "file": name}
