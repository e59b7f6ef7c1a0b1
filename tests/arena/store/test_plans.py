"""Query plans: every query of a page uses an index, and the number of queries is independent of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event

from arena.clock import now
from arena.documents.game import GameQuery
from arena.documents.query import PageQuery
from arena.documents.service import AuditQuery
from arena.documents.tournament import PlanQuery, TournamentQuery
from arena.store import Store
from arena.store.base.page import write_cursor
from tests.arena.field import START, Field, void_of

Page = Callable[[Store, Field], Any]
HALF = write_cursor(50)

PAGES: dict[str, Page] = {
    "users": lambda store, field: store.users.page(after=write_cursor("a")),
    "user by name": lambda store, field: store.users.find("zoe"),
    "tokens": lambda store, field: store.users.tokens(field.user_id),
    "who has a token": lambda store, field: store.users.by_token("0" * 64),
    "who has a cookie": lambda store, field: store.users.by_login("0" * 64),
    "bots": lambda store, field: store.bots.page(after=write_cursor("a")),
    "bots of an owner": lambda store, field: store.bots.page(owner_id=field.user_id),
    "bots of a family": lambda store, field: store.bots.page(family="loa"),
    "versions": lambda store, field: store.versions.of_bot(1),
    "version by name": lambda store, field: store.versions.find("ada"),
    "lines": lambda store, field: store.versions.lines([1, 2, 3]),
    "active versions": lambda store, field: store.versions.active("loa"),
    "usage": lambda store, field: store.bots.usage(field.user_id),
    "tournaments": lambda store, field: store.tournaments.page(TournamentQuery(after=write_cursor(START, 10))),
    "tournaments of a family": lambda store, field: store.tournaments.page(TournamentQuery(family="loa")),
    "tournaments in a state": lambda store, field: store.tournaments.page(TournamentQuery(state="running")),
    "tournaments that are on": lambda store, field: store.tournaments.in_states("running", "paused"),
    "entries": lambda store, field: store.tournaments.entries(field.tournament_id),
    "game": lambda store, field: store.games.get(field.games(1, seed=field.tournament_id)[0].id),
    "games of a tournament": lambda store, field: store.games.of_tournament(field.tournament_id, PlanQuery(after=HALF)),
    "planned games": lambda store, field: store.games.of_tournament(field.tournament_id, PlanQuery(state="planned")),
    "waiting games": lambda store, field: store.queue.waiting(field.tournament_id, 10),
    "game counts": lambda store, field: store.games.counts(field.tournament_id),
    "open games": lambda store, field: store.queue.open(),
    "running games": lambda store, field: store.games.in_state("running"),
    "latest games": lambda store, field: store.games.latest(GameQuery(after=HALF)),
    "latest of a family": lambda store, field: store.games.latest(GameQuery(family="loa", after=HALF)),
    "latest of a pool": lambda store, field: store.games.latest(GameQuery(pool="loa", after=HALF)),
    "latest forfeits": lambda store, field: store.games.latest(GameQuery(termination_class="forfeit")),
    "latest errors": lambda store, field: store.games.latest(GameQuery(errors=True, after=HALF)),
    "latest of a variant": lambda store, field: store.games.latest(GameQuery(variant="standard", after=HALF)),
    "latest that were drawn": lambda store, field: store.games.latest(GameQuery(winner="draw", after=HALF)),
    "latest of some days": lambda store, field: store.games.latest(
        GameQuery(since=START, after=write_cursor(now(), 50))
    ),
    "latest until a day": lambda store, field: store.games.latest(GameQuery(until=now())),
    "latest of versions": lambda store, field: store.games.latest(GameQuery(after=HALF), versions=[1, 2]),
    "latest of a pairing": lambda store, field: store.games.latest(versions=[1], against=[2]),
    "results of a tournament": lambda store, field: store.results.in_planned_order(field.tournament_id),
    "new results of a tournament": lambda store, field: store.results.after_commit(field.tournament_id, 50),
    "results of pairings": lambda store, field: store.results.of_pairings(field.tournament_id, [(1, 2), (2, 1)]),
    "ratings before and after": lambda store, field: store.ratings.before_and_after({(1, "loa"): ("x", "y")}),
    "records": lambda store, field: list(store.results.records(after=80)),
    "records of a tournament": lambda store, field: list(
        store.results.records(GameQuery(tournament=field.tournament_id))
    ),
    "voids": lambda store, field: store.voids.page(PageQuery(after=write_cursor(3))),
    "voids of a game": lambda store, field: store.voids.of("x"),
    "last commit": lambda store, field: store.results.last_commit(),
    "pools": lambda store, field: store.ratings.pools(),
    "leaderboard": lambda store, field: store.ratings.leaderboard("loa", after=write_cursor(20.0, 1, 1, 1)),
    "ratings of versions": lambda store, field: store.ratings.of_versions([1, 2]),
    "best ratings of bots": lambda store, field: store.ratings.best_of_bots([1, 2]),
    "ratings of a user": lambda store, field: store.ratings.best_of_owner(field.user_id),
    "commit at a moment": lambda store, field: store.rating_history.commit_at("loa", now()),
    "game by its beginning": lambda store, field: store.rating_history.game_of("0123abcd"),
    "games begun anew": lambda store, field: store.rating_history.count_redispatched(field.tournament_id),
    "counts of a pool": lambda store, field: store.rating_history.counts("loa", 60),
    "leaderboard of the past": lambda store, field: store.rating_history.leaderboard("loa", 60),
    "settings of tournaments": lambda store, field: store.rating_history.settings({1, 2}),
    "rating line": lambda store, field: store.ratings.changes(1, "loa", after=HALF),
    "rating curves": lambda store, field: store.ratings.curves([1, 2], ["loa"], 50),
    "changes of a game": lambda store, field: store.ratings.of_game("x"),
    "next rated game": lambda store, field: store.queue.first_rated(1),
    "tournaments with games": lambda store, field: store.queue.priorities(),
    "checks before": lambda store, field: store.checks.count_before(3),
    "waits of checks": lambda store, field: store.checks.waits_before(30),
    "due schedules": lambda store, field: store.schedules.due(now()),
    "notices of a user": lambda store, field: store.notices.of(field.user_id, START),
    "notices that were read": lambda store, field: store.notices.read_until(field.user_id),
    "audit": lambda store, field: store.audit.page(AuditQuery(after=write_cursor(3))),
    "audit of a subject": lambda store, field: store.audit.page(AuditQuery(subject="x")),
    "audit of a user": lambda store, field: store.audit.page(AuditQuery(user="ada")),
}
WHOLE = {"pools", "open games"}
"""Queries that count all entries of an index and read no table."""


@contextmanager
def statements(store: Store) -> Iterator[list[tuple[str, Any]]]:
    noted: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool) -> None:
        if statement.lstrip().startswith("SELECT"):
            noted.append((statement, parameters))

    event.listen(store.engine, "before_cursor_execute", note)
    try:
        yield noted
    finally:
        event.remove(store.engine, "before_cursor_execute", note)


def fill(field: Field) -> None:
    games = field.plan(120)
    for game in games[:6]:
        field.store.voids.add(void_of(game), 1)
    field.play(100)
    other = field.add_tournament().id
    assert other is not None
    field.plan(20, other)
    for number in range(10):
        field.store.audit.note("x", f"{number}", field.user_id)


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_queries_of_pages_use_indexes(engine: str, request: pytest.FixtureRequest) -> None:
    if engine == "sqlite":
        store: Store = request.getfixturevalue("sqlite_store")
    else:
        cluster = request.getfixturevalue("cluster")
        cluster.empty()
        store = Store(cluster.url())
    field = Field(store)
    fill(field)
    problems = []
    for name, page in PAGES.items():
        with statements(store) as noted:
            page(store, field)
        assert noted, name
        with store.engine.connect() as connection:
            if engine == "postgresql":
                connection.exec_driver_sql("SET enable_seqscan = off")
            for statement, parameters in noted:
                words = "EXPLAIN QUERY PLAN " if engine == "sqlite" else "EXPLAIN "
                rows = connection.exec_driver_sql(words + statement, parameters).all()
                plan = [str(row[-1]) for row in rows]
                problems += [f"{name}: {line}: {statement}" for line in plan if is_bad(name, line)]
    if engine == "postgresql":
        store.close()
    assert problems == []


def is_bad(name: str, line: str) -> bool:
    """Return whether a line of a plan scans a table, or sorts for a page although an index has the order."""
    if "Seq Scan" in line:
        return True
    is_free = any(one in line for one in ("USING", "CONSTANT", "VALUES CLAUSE", "anon", "(subquery"))
    is_scan = line.startswith("SCAN ") and not is_free
    sorts = "TEMP B-TREE FOR ORDER BY" in line and name in SORTED
    return (is_scan or sorts) and not (name in WHOLE and "COVERING" in line)


SORTED = {
    "users",
    "bots",
    "tournaments",
    "tournaments of a family",
    "tournaments in a state",
    "entries",
    "games of a tournament",
    "planned games",
    "waiting games",
    "latest games",
    "latest of a family",
    "latest of a pool",
    "latest forfeits",
    "latest faults",
    "results of a tournament",
    "records",
    "voids",
    "leaderboard",
    "rating line",
    "audit",
    "audit of a subject",
    "audit of a user",
}
"""Pages of unbounded lists: they may not sort, or a page costs as much as the list."""


def test_number_of_queries_is_independent_of_rows(sqlite_store: Store) -> None:
    field = Field(sqlite_store)
    field.play(10)
    few = {name: count(sqlite_store, field, page) for name, page in PAGES.items()}
    for number in range(20):
        field.versions.append(field.version(f"bot{number}"))
    for days in range(10):
        field.add_tournament(start_time=START + timedelta(days=days))
    field.play(90, first_sequence=11)
    assert {name: count(sqlite_store, field, page) for name, page in PAGES.items()} == few


def count(store: Store, field: Field, page: Page) -> int:
    with statements(store) as found:
        page(store, field)
    return len(found)
