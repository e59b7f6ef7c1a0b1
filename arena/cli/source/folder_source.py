"""The archive, the explorer and the problems in the database of a data folder, read without a server."""

from __future__ import annotations

import argparse
import contextlib
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from arena.cli.source.database import file_of, open_any, settings_of
from arena.cli.terminal.exit import CommandError, Exit
from arena.errors import ArenaError

if TYPE_CHECKING:
    from arena.cli.source.source import FoundGames, GameFile
    from arena.documents.archive import ArchiveQuery
    from arena.documents.explorer import ExplorerQuery
    from arena.documents.win_problem import WinProblemQuery, WinProblemRequest
    from arena.services.arena import Arena


@contextlib.contextmanager
def open_folder(arguments: argparse.Namespace, *, creates: bool) -> Iterator[FolderSource]:
    """Open the database that the arguments choose; with `creates` it need not exist yet. Raises CommandError."""
    from arena.data_folder import make_folder
    from arena.services.arena import Arena
    from arena.store.base import schema

    settings = settings_of(arguments)
    file = file_of(settings)
    if not creates and file is not None and not file.exists():
        raise CommandError(
            f"no archive in {settings.data}; fill one with: arena archive import FILE --family FAMILY", Exit.NOT_FOUND
        )
    make_folder(settings.data, is_passage=True)
    with contextlib.closing(open_any(settings)) as store:
        if schema.is_fresh(store.engine):
            store.upgrade()
        store.require()
        yield FolderSource(Arena(store, settings))


class FolderSource:
    """A `Source` on an open database."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena

    def collections(self) -> list[dict[str, Any]]:
        """Return the collections of the archive, with the number of games of each."""
        return [asdict(line) for line in self.arena.store.archive.sources()]

    def search(self, query: ArchiveQuery, *, offset: int = 0) -> FoundGames:
        """Return one page of the matching games."""
        from arena.cli.source.source import FoundGames
        from arena.services.archive import read_query

        found = self.arena.store.archive.search(read_query(query), offset=offset)
        return FoundGames([asdict(line) for line in found.items], found.total, found.total_exact)

    def texts(self, query: ArchiveQuery, notation: str | None) -> Iterator[str]:
        """Yield the texts of the matching games in order of their numbers: as imported, or in `notation`."""
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
        for one in files:
            form = find_format(one.ruleset.rules, one.notation) if one.notation else None
            try:
                read.append((one, read_text(one.text, one.ruleset, form)))
            except ArenaError as error:
                raise CommandError(f"{one.path}: {error}") from None
        return [
            {**asdict(store_collection(self.arena, found, one.collection)), "file": one.path} for one, found in read
        ]

    def explore(self, family: str, query: ExplorerQuery) -> dict[str, Any]:
        """Return the moves played in a position, with their results."""
        from arena.services.explorer import explore
        from arena.validation import plain

        found: dict[str, Any] = plain(explore(self.arena, family, query))
        return found

    def problems(self, query: WinProblemQuery) -> list[dict[str, Any]]:
        """Return the latest win problems that match a query."""
        from arena.services.problems import search
        from arena.validation import plain

        return [plain(one) for one in search(self.arena, query).items]

    def problem(self, number: int) -> dict[str, Any]:
        """Return a problem with its position."""
        from arena.services.problems import read
        from arena.validation import plain

        found: dict[str, Any] = plain(read(self.arena, number))
        return found

    def add_problem(self, request: WinProblemRequest) -> dict[str, Any]:
        """Add a problem, and examine it at once."""
        from arena.coordinator.problem_prover import ProblemProver
        from arena.services.problems import add

        number = add(self.arena, request, None).id
        prover = ProblemProver(self.arena.store)
        try:
            while self.problem(number)["state"] == "waiting":
                prover.work(threading.Event())
        finally:
            prover.process.close()
        return self.problem(number)

    def remove_problem(self, number: int) -> None:
        """Remove a problem; the ratings of those who tried it stay."""
        from arena.services.problems import remove

        remove(self.arena, number, None)

    def attempt(self, number: int, moves: Sequence[str]) -> dict[str, Any]:
        """Judge a line of play in a problem; return the verdict, with the defender's reply if there is one."""
        from arena.services.problems import attempt
        from arena.validation import plain

        found: dict[str, Any] = plain(attempt(self.arena, number, moves, None))
        return found

    def solution(self, number: int) -> dict[str, Any]:
        """Return all solutions of a problem."""
        from arena.services.problems import solution
        from arena.validation import plain

        found: dict[str, Any] = plain(solution(self.arena, number, None))
        return found

    def choose_of_month(self, number: int, month: str | None) -> dict[str, Any]:
        """Make a problem the problem of a month, by default of the current one."""
        from arena.services.problems import choose_of_month
        from arena.validation import plain

        found: dict[str, Any] = plain(choose_of_month(self.arena, number, month, None))
        return found
