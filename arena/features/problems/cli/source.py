"""The problems of an arena, with one interface for a data folder and a server."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias

from arena.cli.source.source import FolderSource, SourceArguments, open_source

if TYPE_CHECKING:
    from arena.client import ApiClient
    from arena.features.problems.documents import WinProblemQuery, WinProblemRequest
    from arena.services.arena import Arena


@contextlib.contextmanager
def open_problems(arguments: SourceArguments) -> Iterator[ProblemSource]:
    with open_source(arguments) as source:
        if isinstance(source, FolderSource):
            yield FolderProblems(source.arena)
        else:
            yield ServerProblems(source.client)


class FolderProblems:
    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    def problems(self, query: WinProblemQuery) -> list[dict[str, Any]]:
        """Return the latest win problems that match a query."""
        from arena.features.problems import service
        from arena.features.problems.documents import WinProblemItem
        from referee.validation import adapter_of

        return list(adapter_of(list[WinProblemItem]).dump_python(service.search(self._arena, query).items, mode="json"))

    def problem(self, number: int) -> dict[str, Any]:
        """Return a problem with its position."""
        from arena.features.problems import service
        from referee.validation import plain

        return plain(service.read(self._arena, number))

    def add_problem(self, request: WinProblemRequest) -> dict[str, Any]:
        """Add a problem, and examine it at once."""
        from arena.features.problems import service
        from arena.features.problems.prover import ProblemProver

        number = service.add(self._arena, request, None).id
        prover = ProblemProver(self._arena.store)
        try:
            while self.problem(number)["state"] == "waiting":
                prover.work(threading.Event())
        finally:
            prover.process.close()
        return self.problem(number)

    def remove_problem(self, number: int) -> None:
        """Remove a problem; the ratings of those who tried it stay."""
        from arena.features.problems import service

        service.remove(self._arena, number, None)

    def attempt(self, number: int, moves: Sequence[str]) -> dict[str, Any]:
        """Judge a line of play in a problem; return the verdict, with the defender's reply if there is one."""
        from arena.features.problems import service
        from referee.validation import plain

        return plain(service.attempt(self._arena, number, moves, None))

    def solution(self, number: int) -> dict[str, Any]:
        from arena.features.problems import service
        from referee.validation import plain

        return plain(service.solution(self._arena, number, None))

    def choose_of_month(self, number: int, month: str | None) -> dict[str, Any]:
        """Make a problem the problem of a month, by default of the current one."""
        from arena.features.problems import service
        from referee.validation import plain

        return plain(service.choose_of_month(self._arena, number, month, None))


class ServerProblems:
    """Problems of a server, read and changed through its JSON interface, as those of `FolderProblems` are."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    def problems(self, query: WinProblemQuery) -> list[dict[str, Any]]:
        filters = {name: value for name, value in asdict(query).items() if name not in ("limit", "after")}
        return list(self._client.pages("/problems", query.limit, **filters))

    def problem(self, number: int) -> dict[str, Any]:
        return self._client.get(f"/problems/{number}")

    def add_problem(self, request: WinProblemRequest) -> dict[str, Any]:
        """Add a problem; the server's solver examines it later."""
        return self._send("POST", "/problems", asdict(request))

    def remove_problem(self, number: int) -> None:
        self._client.ask("POST", f"/problems/{number}/remove")

    def attempt(self, number: int, moves: Sequence[str]) -> dict[str, Any]:
        return self._send("POST", f"/problems/{number}/attempts", {"moves": " ".join(moves)})

    def solution(self, number: int) -> dict[str, Any]:
        return self._send("POST", f"/problems/{number}/solution")

    def choose_of_month(self, number: int, month: str | None) -> dict[str, Any]:
        return self._send("PUT", f"/problems/{number}/month", {"month": month})

    def _send(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        return self._client.ask(method, path, body=body).data


ProblemSource: TypeAlias = FolderProblems | ServerProblems
