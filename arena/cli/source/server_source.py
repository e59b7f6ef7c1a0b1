"""The archive, the explorer and the problems of a server, read through its JSON interface."""

from __future__ import annotations

import io
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Any

from arena.cli.terminal.exit import CommandError, Exit

if TYPE_CHECKING:
    from arena.cli.source.source import FoundGames, GameFile
    from arena.client import ApiClient
    from arena.documents.archive import ArchiveQuery
    from arena.documents.explorer import ExplorerQuery
    from arena.documents.win_problem import WinProblemQuery, WinProblemRequest

_POLL_INTERVAL_S = 0.5
"""How often the server is asked whether it has read an import."""


class ServerSource:
    """A `Source` behind a client of the JSON interface."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    def collections(self) -> list[dict[str, Any]]:
        """Return the collections of the archive, with the number of games of each."""
        found: list[dict[str, Any]] = self._client.get("/archive/sources")["items"]
        return found

    def search(self, query: ArchiveQuery, *, offset: int = 0) -> FoundGames:
        """Return one page of the matching games."""
        from arena.cli.source.source import FoundGames

        asked = _parameters(query)
        first = self._client.get("/archive", **asked, limit=1)
        lines = islice(self._client.pages("/archive", offset + query.limit, **asked), offset, None)
        return FoundGames(list(lines), first["total"], first["total_exact"])

    def texts(self, query: ArchiveQuery, notation: str | None) -> Iterator[str]:
        """Yield the texts of the matching games in order of their numbers: as imported, or in `notation`."""
        for line in self._client.pages("/archive", **_parameters(query)):
            path = f"/archive/{line['serial']}/text"
            yield b"".join(self._client.chunks(path, "text/plain", notation=notation)).decode()

    def import_files(self, files: Sequence[GameFile]) -> list[dict[str, Any]]:
        """Upload the texts, wait until they are read, and return a report for each file. Raises CommandError."""
        if any(one.ruleset.overrides for one in files):
            raise CommandError('a server takes no --option; write them as tags of the games: [Rule.NAME "VALUE"]')
        return [self._upload(one) for one in files]

    def explore(self, family: str, query: ExplorerQuery) -> dict[str, Any]:
        """Return the moves played in a position, with their results."""
        found: dict[str, Any] = self._client.get(f"/explorer/{family}", **asdict(query))
        return found

    def problems(self, query: WinProblemQuery) -> list[dict[str, Any]]:
        """Return the latest win problems that match a query."""
        filters = {name: value for name, value in asdict(query).items() if name not in ("limit", "after")}
        return list(self._client.pages("/problems", query.limit, **filters))

    def problem(self, number: int) -> dict[str, Any]:
        """Return a problem with its position."""
        found: dict[str, Any] = self._client.get(f"/problems/{number}")
        return found

    def add_problem(self, request: WinProblemRequest) -> dict[str, Any]:
        """Add a problem; the server's solver examines it later."""
        return self._send("POST", "/problems", asdict(request))

    def remove_problem(self, number: int) -> None:
        """Remove a problem; the ratings of those who tried it stay."""
        self._client.ask("POST", f"/problems/{number}/remove")

    def attempt(self, number: int, moves: Sequence[str]) -> dict[str, Any]:
        """Judge a line of play in a problem; return the verdict, with the defender's reply if there is one."""
        return self._send("POST", f"/problems/{number}/attempts", {"moves": " ".join(moves)})

    def solution(self, number: int) -> dict[str, Any]:
        """Return all solutions of a problem."""
        return self._send("POST", f"/problems/{number}/solution")

    def choose_of_month(self, number: int, month: str | None) -> dict[str, Any]:
        """Make a problem the problem of a month, by default of the current one."""
        return self._send("PUT", f"/problems/{number}/month", {"month": month})

    def _send(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        found: dict[str, Any] = self._client.ask(method, path, body=body).data
        return found

    def _upload(self, one: GameFile) -> dict[str, Any]:
        query = {
            "family": one.ruleset.rules.family,
            "source": one.collection,
            "variant": one.ruleset.variant.name,
            "notation": one.notation,
        }
        with tempfile.TemporaryFile() as file:
            file.write(one.text.encode())
            file.seek(0, io.SEEK_SET)
            found: dict[str, Any] = self._client.ask("POST", "/archive", query=query, file=file).data
        while found["state"] == "waiting":
            time.sleep(_POLL_INTERVAL_S)
            found = self._client.get(f"/archive/imports/{found['id']}")
        if found["state"] == "failed":
            raise CommandError(f"{one.path}: {found['problem']}", Exit.FAILED)
        return {**found, "file": one.path}


def _parameters(query: ArchiveQuery) -> dict[str, Any]:
    """Return the filters and the order as query parameters; the client adds the parameters for paging."""
    return {name: value for name, value in asdict(query).items() if name not in ("limit", "after")}
