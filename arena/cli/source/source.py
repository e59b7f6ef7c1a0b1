"""The archive, the explorer and the problems of an arena, with one interface for a data folder and a server."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from arena.cli.source import remote
from arena.cli.source.database import add_database
from arena.cli.terminal.exit import CommandError

if TYPE_CHECKING:
    from arena.documents.archive import ArchiveQuery
    from arena.documents.explorer import ExplorerQuery
    from arena.documents.win_problem import WinProblemQuery, WinProblemRequest
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


class Source(Protocol):
    """An arena: that of this machine's data folder, or that of a server."""

    def collections(self) -> list[dict[str, Any]]:
        """Return the collections of the archive, with the number of games of each."""

    def search(self, query: ArchiveQuery, *, offset: int = 0) -> FoundGames:
        """Return one page of the matching games."""

    def texts(self, query: ArchiveQuery, notation: str | None) -> Iterator[str]:
        """Yield the texts of the matching games by number: as imported, or in `notation` (`record`: as JSON)."""

    def import_files(self, files: Sequence[GameFile]) -> list[dict[str, Any]]:
        """Import games; return a report for each file. Nothing is imported if a file holds no games."""

    def explore(self, family: str, query: ExplorerQuery) -> dict[str, Any]:
        """Return the moves played in a position, with their results."""

    def problems(self, query: WinProblemQuery) -> list[dict[str, Any]]:
        """Return the latest win problems that match a query."""

    def problem(self, number: int) -> dict[str, Any]:
        """Return a problem with its position."""

    def add_problem(self, request: WinProblemRequest) -> dict[str, Any]:
        """Add a problem; the solver of a data folder examines it at once, that of a server later."""

    def remove_problem(self, number: int) -> None:
        """Remove a problem; the ratings of those who tried it stay."""

    def attempt(self, number: int, moves: Sequence[str]) -> dict[str, Any]:
        """Judge a line of play in a problem; return the verdict, with the defender's reply if there is one."""

    def solution(self, number: int) -> dict[str, Any]:
        """Return all solutions of a problem."""

    def choose_of_month(self, number: int, month: str | None) -> dict[str, Any]:
        """Make a problem the problem of a month, by default of the current one."""


def add_source(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that choose a data folder or a server."""
    add_database(parser)
    remote.add_server(parser, default="the data folder of this machine")


@contextlib.contextmanager
def open_source(arguments: argparse.Namespace, *, creates: bool = False) -> Iterator[Source]:
    """Open the arena that the arguments choose: the data folder unless `--server` is given.

    With `creates` a missing database is created. Raises CommandError if both are chosen or there is no database.
    """
    if arguments.server:
        for name in ("data", "config", "database"):
            if getattr(arguments, name):
                raise CommandError(f"--server and --{name} choose different archives; remove one of them")
        from arena.cli.source.server_source import ServerSource

        yield ServerSource(remote.client(arguments))
        return
    if arguments.token:
        raise CommandError("--token is for a server; choose it with --server")
    from arena.cli.source.folder_source import open_folder

    with open_folder(arguments, creates=creates) as source:
        yield source
