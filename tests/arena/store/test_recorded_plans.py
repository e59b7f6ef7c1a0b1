"""Query plans of all statements recorded while pages and JSON interface are used: none scans a growing table.

Recording finds statements that a list by hand would miss.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from sqlalchemy import event

from arena.http.problem import PREFIX
from arena.store import Store
from tests.arena.api.filled import Arena, fill
from tests.arena.api.server import Server, settings_in

GROWING = ("games", "records", "rating_changes", "ratings", "versions", "version_families", "voids", "entries")
"""Tables that grow with games and uploads; users, tournaments and schedules are few in comparison."""
STATEMENTS = ("SELECT", "UPDATE", "DELETE", "WITH")


def addresses(server: Server, arena: Arena) -> list[str]:
    """Yield an address per GET route with existing objects, and queries that change the plan."""
    things = {
        "game": arena.games[0],
        "tournament": str(arena.finished),
        "bot": "zeta",
        "other": "random",
        "family": "loa",
        "number": "1",
        "side": "first",
        "submission": "1",
        "submission_id": "1",
        "user": "author",
        "schedule": "1",
        "form": "json",
        "name": "x",
        "document": "protocol",
        "path": "x",
    }
    paths = []
    for resource in server.runner.app.router.resources():  # type: ignore[union-attr]
        if not any(route.method == "GET" for route in resource):
            continue
        path = resource.canonical
        if path.endswith("/stream"):
            path = path.replace("{game}", arena.games[0])  # a finished game, so the stream ends by itself
        paths.append(re.sub(r"\{(\w+)[^}]*\}", lambda match: things.get(match[1], "x"), path))
    queries = [
        "sort=-games",
        "after=",
        "state=finished",
        "family=loa",
        "termination_class=forfeit",
        "bot=random",
        "retired=1",
    ]
    lists = ["/games", "/bots", "/tournaments", "/loa/leaderboard", f"/tournaments/{arena.finished}"]
    paths += [f"{path}?{query}" for path in lists for query in queries]
    paths += [f"{PREFIX}{path}?{query}" for path in lists[:3] for query in queries]
    return paths


def test_no_statement_scans_a_table(sqlite_store: Store, tmp_path: Any) -> None:
    recorded: dict[str, Any] = {}

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, many: bool) -> None:
        if statement.lstrip().upper().startswith(STATEMENTS):
            recorded.setdefault(statement, parameters[0] if many else parameters)

    event.listen(sqlite_store.engine, "before_cursor_execute", note)
    server = Server(sqlite_store, settings_in(tmp_path))
    try:
        server.unlimited()
        arena = fill(server)
        for path in addresses(server, arena):
            for token in (None, arena.tokens["admin"]):
                reply = server.get(path, token=token if path.startswith("/api") else None)
                assert reply.status < 500, (path, reply.body[:300])
        sqlite_store.ratings.rebuild()
        sqlite_store.ratings.check()
    finally:
        server.close()
        event.remove(sqlite_store.engine, "before_cursor_execute", note)
    assert len(recorded) > 100, "few statements were recorded: is the listener attached?"
    problems = []
    with sqlite_store.engine.connect() as connection:
        for statement, parameters in recorded.items():
            rows = connection.exec_driver_sql("EXPLAIN QUERY PLAN " + statement, parameters).all()
            names = dict(re.findall(r"(?:FROM|JOIN) (\w+) AS (\w+)", statement))
            plan = [str(row[-1]) for row in rows]
            # A page in row order stops at its limit without sorting.
            is_page = "LIMIT" in statement and not any("TEMP B-TREE" in line for line in plan)
            is_rebuild = statement.endswith("FROM ratings")
            if not (is_page or is_rebuild):
                problems += [f"{line}: {statement}" for line in plan if is_whole(line, names)]
    assert problems == []


def is_whole(line: str, names: dict[str, str]) -> bool:
    """Return whether a line of a plan scans a growing table; a walk along an index, as for lists, is allowed."""
    found = re.match(r"SCAN (\w+)", line)
    aliases = {alias: table for table, alias in names.items()}
    return found is not None and aliases.get(found[1], found[1]) in GROWING and "USING" not in line


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("SCAN games", True),
        ("SCAN games USING INDEX ix_games_commit_number", False),
        ("SEARCH games USING INDEX ix_games_commit_number (commit_number>?)", False),
        ("SCAN users", False),
        ("SCAN g", True),
    ],
)
def test_scans_are_detected(line: str, expected: bool) -> None:
    assert is_whole(line, {"games": "g"}) is expected
