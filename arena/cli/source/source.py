"""The archive and the explorer of an arena, with one interface for the data folder of this machine and for a server."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from arena.cli.source import remote
from arena.cli.source.database import DatabaseArguments, open_store
from arena.cli.source.remote import ServerArguments
from arena.cli.terminal import output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import option
from referee.errors import ArenaError

if TYPE_CHECKING:
    from arena.client import ApiClient
    from arena.documents.archive import ArchiveQuery, ExplorerQuery
    from arena.services.arena import Arena
    from referee.rules.rules import Ruleset


@dataclass(frozen=True, slots=True)
class GameFile:
    """A file of game texts to import: its path (`-` for stdin), its text, and how to read it."""

    path: str
    text: str
    ruleset: Ruleset
    notation: str | None

    @property
    def collection(self) -> str:
        """The name of the collection that the games of this file belong to."""
        return "stdin" if self.path == "-" else self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class FoundGames:
    """Some of the games of the archive that match a search. If not `total_exact`, more than `total` match."""

    lines: list[dict[str, Any]]
    total: int
    total_exact: bool


@dataclass(frozen=True, kw_only=True)
class SourceArguments(DatabaseArguments, ServerArguments):
    """The data folder of this machine, or a server."""

    server: str | None = option(
        "address of the server (default: the data folder of this machine)", metavar="URL", group="server"
    )


@contextlib.contextmanager
def open_source(arguments: SourceArguments) -> Iterator[FolderSource | ServerSource]:
    """Open the arena that the arguments choose: the data folder unless `--server` is given.

    Raises CommandError if both are chosen or there is no database.
    """
    if arguments.server:
        for name in ("data", "config", "database"):
            if getattr(arguments, name):
                raise CommandError(f"--server and --{name} choose different archives; remove one of them")
        yield ServerSource(remote.client(arguments))
        return
    if arguments.token:
        raise CommandError("--token is for a server; choose it with --server")
    with open_folder(arguments) as source:
        yield source


@contextlib.contextmanager
def open_folder(arguments: DatabaseArguments) -> Iterator[FolderSource]:
    """Open the database that the arguments choose. Raises CommandError if there is none."""
    from arena.services.arena import Arena

    settings = arguments.read()
    with contextlib.closing(open_store(settings)) as store:
        yield FolderSource(Arena(store, settings))


class FolderSource:
    """The arena of an open database, with the methods of a `ServerSource`."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena

    def collections(self) -> list[dict[str, Any]]:
        """Return the collections of the archive, with the number of games of each."""
        return [asdict(line) for line in self.arena.store.archive.sources()]

    def search(self, query: ArchiveQuery, *, offset: int = 0) -> FoundGames:
        from arena.services.archive import read_query

        found = self.arena.store.archive.search(read_query(query), offset=offset)
        return FoundGames([asdict(line) for line in found.items], found.total, found.total_exact)

    def texts(self, query: ArchiveQuery, notation: str | None) -> Iterator[str]:
        """Yield the texts of the matching games by number: as imported, or in `notation` (`record`: as JSON)."""
        from arena.collections.conversion import to_record, to_text
        from arena.services.archive import find_format, read_query

        for game in self.arena.store.archive.find(read_query(query)):
            if notation == "record":  # with its number, so that an import of it is the same game of the same collection
                tags = {**game.tags, **({"Number": game.number} if game.number else {})}
                yield json.dumps({**to_record(game).as_json(), "tags": tags}, ensure_ascii=False)
            else:
                yield to_text(game, find_format(game.ruleset().rules, notation) if notation else None)

    def import_files(self, files: Sequence[GameFile]) -> list[dict[str, Any]]:
        """Import games; return a report for each file. Nothing is imported if a file holds no games."""
        from arena.services.archive import find_format, read_text, store_collection

        read = []
        for file in files:
            form = find_format(file.ruleset.rules, file.notation) if file.notation else None
            try:
                read.append((file, read_text(file.text, file.ruleset, form)))
            except ArenaError as error:
                raise CommandError(f"{file.path}: {error}") from None
        return [
            {**asdict(store_collection(self.arena, games, file.collection)), "file": file.path} for file, games in read
        ]

    def explore(self, family: str, query: ExplorerQuery) -> dict[str, Any]:
        """Return the moves played in a position, with their results."""
        from arena.services.explorer import explore
        from referee.validation import plain

        return plain(explore(self.arena, family, query))


_POLL_INTERVAL_S = 0.5
"""How often the server is asked whether it has read an import."""


class ServerSource:
    """The arena of a server behind a client of its JSON interface, with the methods of a `FolderSource`."""

    def __init__(self, client: ApiClient) -> None:
        self.client = client

    def collections(self) -> list[dict[str, Any]]:
        return list(self.client.get("/archive/sources")["items"])

    def search(self, query: ArchiveQuery, *, offset: int = 0) -> FoundGames:
        asked = _parameters(query)
        first = self.client.get("/archive", **asked, limit=1)
        lines = islice(self.client.pages("/archive", offset + query.limit, **asked), offset, None)
        return FoundGames(list(lines), first["total"], first["total_exact"])

    def texts(self, query: ArchiveQuery, notation: str | None) -> Iterator[str]:
        for line in self.client.pages("/archive", **_parameters(query)):
            path = f"/archive/{line['serial']}/text"
            yield b"".join(self.client.chunks(path, "text/plain", notation=notation)).decode()

    def import_files(self, files: Sequence[GameFile]) -> list[dict[str, Any]]:
        """Upload the texts, wait until they are read, and return a report for each file. Raises CommandError."""
        if any(one.ruleset.overrides for one in files):
            raise CommandError('a server takes no --option; write them as tags of the games: [Rule.NAME "VALUE"]')
        return [self._upload(one) for one in files]

    def explore(self, family: str, query: ExplorerQuery) -> dict[str, Any]:
        return self.client.get(f"/explorer/{family}", **asdict(query))

    def _upload(self, game_file: GameFile) -> dict[str, Any]:
        query = {
            "family": game_file.ruleset.rules.family,
            "source": game_file.collection,
            "variant": game_file.ruleset.variant.name,
            "notation": game_file.notation,
        }
        with tempfile.TemporaryFile() as file:
            file.write(game_file.text.encode())
            file.seek(0, io.SEEK_SET)
            upload: dict[str, Any] = self.client.ask("POST", "/archive", query=query, file=file).data
        begin, is_silent = time.monotonic(), True
        while upload["state"] == "waiting":
            if is_silent and time.monotonic() - begin > output.SPEAKS_AFTER_S:
                is_silent = False
                output.note(f"waiting until the server's referee has read {game_file.path}; Ctrl-C leaves it to that")
            time.sleep(_POLL_INTERVAL_S)
            upload = self.client.get(f"/archive/imports/{upload['id']}")
        if upload["state"] == "failed":
            raise CommandError(f"{game_file.path}: {upload['problem']}", Exit.FAILED)
        return {**upload, "file": game_file.path}


def _parameters(query: ArchiveQuery) -> dict[str, Any]:
    """Return the filters and the order as query parameters; the client adds the parameters for paging."""
    return {name: value for name, value in asdict(query).items() if name not in ("limit", "after")}
