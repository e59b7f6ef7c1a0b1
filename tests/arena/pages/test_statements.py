"""The number of database statements of the most visited pages: few, and independent of the number of rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy import event

from arena import tournaments
from arena.clock import now
from arena.collections.following import follow
from arena.config import Settings
from arena.coordinator.assembly import Collaborators, assemble
from arena.coordinator.leadership import LEASE
from arena.coordinator.maintenance import Maintenance
from arena.events.bus import Bus
from arena.store import Store
from arena.store.archive.archived_game import ArchivedGame
from arena.store.base.tables.archive import StoredImport
from arena.store.base.tables.tournaments import Schedule
from referee.bot.file import BotFile
from referee.rules import load
from referee.rules.rules import GameText
from tests.arena.api.server import Server, settings_in
from tests.arena.coordinator.stage import Dice, on_sqlite
from tests.arena.pages.stage import START, Stage, begin, fill, random_moves
from tests.arena.pages.test_organise import logged_in
from tests.with_features import is_on

FORMATS: dict[str, dict[str, Any]] = {
    "round-robin": {"games": 2},
    "gauntlet": {"games": 2},
    "swiss": {"rounds": 3},
    "knockout": {"knockout": {"tiebreak_pairs": 1, "third_place": True}},
    "ladder": {"ladder": {"games": 20, "max_games_per_bot": 0}},
    "race": {"race": {"games": 20}},
    "sprt": {"sprt": {"games": 20}},
}
PAGES = {
    "/": 26,
    "/games": 19,
    "/games/{game}": 18,
    "/play": 12,
    "/tournaments": 13,
    "/tournaments/{round-robin}": 23,
    "/tournaments/{gauntlet}": 23,
    "/tournaments/{swiss}": 24,
    "/tournaments/{knockout}": 24,
    "/tournaments/{ladder}": 26,
    "/tournaments/{race}": 25,
    "/tournaments/{sprt}": 23,
    "/loa/leaderboard": 16,
    "/rankings": 15,
    "/bots": 13,
    "/bots/ada": 26,
    "/bots/ada/vs/bob": 17,
    "/users/zoe": 23,
    "/loa": 17,
    "/loa/explorer": 19,
    "/loa/compare": 12,
    **({"/problems": 15, "/loa/problems": 16, "/problems/1": 14} if is_on("problems") else {}),
    "/archive": 17,
    "/archive?player=Tour": 18,
    "/archive/1": 15,
    "/schedules/{schedule}": 11,
    "/account": 27,
    "/submit": 9,
    "/submissions/{submission}": 12,
    "/workers": 15,
    "/errors": 11,
}
"""The most statements of each page for a logged-in user; about nine are for the frame of the page: the session and the
unread notices.
"""
BOT: dict[str, Any] = {
    "file": BotFile(("./bot",), families=("loa",)),
    "bundle": "ab" * 32,
    "state": "active",
    "variants": {"loa": ["standard"]},
}


@dataclass
class Growing:
    """An arena that grows: more people, bots, tournaments, games, problems and imports with every step."""

    stage: Stage
    settings: Settings
    people: int = 0

    def grow(self, count: int) -> None:
        """Add so many of each, and a tournament of each format that all of the new bots have played."""
        store = self.stage.store
        names = [self._person() for _ in range(count)]
        ada = store.bots.find("ada").id
        for _ in range(count):  # a bot with many versions, rated in the round robin
            names.append(store.versions.add(ada, **BOT).name)
        for format, document in FORMATS.items():
            bots = names[:2] if format == "sprt" else names
            self._play({"name": f"{format} {self.people}", "format": format, "entries": {"bots": bots}, **document})
        for number in range(count):
            if is_on("problems"):
                from tests.arena.features.problems.stage import set_problem

                set_problem(store, 1, f"more {number + self.people}", title=f"Problem {number}")
            self._archive(self.people + number)
            begin(self.stage, "loa", f"live {self.people} {number}")
            store.schedules.add(
                Schedule(
                    name=f"weekly {self.people} {number}",
                    cron="0 20 * * 5",
                    timezone="Europe/Paris",
                    catch_up="once",
                    template={"name": "weekly", "family": "loa"},
                    next_fire=START,
                    created_by=store.users.find("zoe").id or 0,
                )
            )
            store.audit.note("x", f"{number}", store.users.find("zoe").id)
        follow(store)

    def _person(self) -> str:
        """Add a user with a bot, a failed version of a bot of zoe, and what zoe follows of them; return the bot."""
        store, self.people = self.stage.store, self.people + 1
        zoe = store.users.find("zoe").id or 0
        user = store.users.add(f"user{self.people}")
        bot = store.bots.add(f"bot{self.people}", user.id or 0)
        store.versions.add(bot.id or 0, **BOT)
        mine = store.bots.add(f"mine{self.people}", zoe)
        failed = store.versions.add(
            mine.id or 0, BotFile(("./bot",), families=("loa",)), bundle="cd" * 32, size_bytes=9
        )
        store.checks.claim()
        store.checks.conclude(failed.id or 0, report={}, variants={}, capabilities={}, log="", problem="it fell")
        store.follows.add(zoe, "bot", bot.id or 0)
        return bot.name

    def _play(self, document: dict[str, Any]) -> None:
        store = self.stage.store
        zoe = store.users.find("zoe").id or 0
        row = tournaments.create(store, {"family": "loa", "openings": "none", **document}, zoe, now())
        given = Collaborators(maintenance=Maintenance(store, []))
        coordinator = assemble(self.settings, store, Bus(), Dice(), given)
        assert store.leases.take(LEASE, coordinator.leadership.name, 3600, seen=store.leases.get(LEASE))
        coordinator.order(row.id)
        while store.tournaments.get(row.id or 0).state not in ("finished", "cancelled"):
            coordinator.turn()
        store.leases.release(LEASE, coordinator.leadership.name)

    def _archive(self, number: int) -> None:
        store, rules = self.stage.store, load("loa").settle()
        row = StoredImport(source=f"import {number}", family="loa", variant="standard", lines=1, created_by=1)
        store.imports.fail(store.imports.add(row, "?"), "it failed")
        moves = tuple(random_moves(rules, 10, seed=number))
        game = ArchivedGame(
            id=f"{number:016x}",
            family="loa",
            variant="standard",
            options={},
            position=rules.write(rules.read()),
            moves=moves,
            first=f"Tour {number}",
            second="Lutu",
            winner="first",
            termination="resigned",
            number=str(number),
            source="more",
            format=rules.rules.formats[0].name,
            text=rules.rules.formats[0].write(GameText(moves), rules),
            tags={"Date": "2003-07"},
        )
        store.archive.add([game])


@contextmanager
def counted(store: Store) -> Iterator[list[str]]:
    """Collect the statements that requests execute, with their values, without those of tasks of the server."""
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
        if statement != "BEGIN" and "request" in structlog.contextvars.get_contextvars():
            statements.append(f"{statement} {values}")

    event.listen(store.engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(store.engine, "before_cursor_execute", note)


def address(pattern: str, stage: Stage) -> str:
    """Return the address of a page in this arena; of a format, that of its latest tournament."""
    latest = {}
    for format in FORMATS:
        ids = [line.id for line in stage.store.tournaments.page().items if line.name.startswith(f"{format} ")]
        latest[format] = max(ids, default=0)
    return pattern.format(game=stage.finished["loa"], schedule=stage.schedule, submission=stage.submission, **latest)


def measured(stage: Stage, folder: Path) -> dict[str, list[str]]:
    """Return the statements of each page, visited one after the other on a new server, whose caches are empty."""
    server, statements = Server(stage.store, settings_in(folder)), {}
    server.unlimited()
    cookie = logged_in(server, "zoe")
    for pattern in PAGES:
        with counted(stage.store) as executed:
            reply = server.get(address(pattern, stage), headers={"Cookie": cookie})
        assert reply.status == 200, (pattern, reply.status)
        statements[pattern] = executed
    server.close()
    return statements


@on_sqlite
def test_pages_need_few_statements_and_no_more_with_more_rows(store: Store, tmp_path: Path) -> None:
    growing = Growing(fill(store, plies=20, has_odd_names=False), settings_in(tmp_path))
    growing.grow(4)
    small = measured(growing.stage, tmp_path)
    growing.grow(6)
    large = measured(growing.stage, tmp_path)
    grown = {page: (len(small[page]), len(large[page])) for page in PAGES if len(small[page]) < len(large[page])}
    assert not grown, "more statements of these pages in a larger arena"
    repeated = {
        page: sorted({statement for statement in read if read.count(statement) > 1})
        for page, read in large.items()
        if len(set(read)) < len(read)
    }
    assert not repeated, "statements that these pages execute twice"
    more = {page: len(statements) for page, statements in large.items() if len(statements) > PAGES[page]}
    assert not more, "more statements than these pages need; if they need them, raise their numbers in PAGES"
