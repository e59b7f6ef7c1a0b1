"""Pages and documents over a database the size of a league, beside an empty aiohttp handler in the same process.

Both are asked in turn by the same client, one request each, so that noise falls on both alike.
"""

from __future__ import annotations

import sqlite3
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from urllib.parse import quote

from tests.tools.bench.figure import Figure
from tests.tools.bench.league import CROWD, League, open_league
from tests.tools.bench.server import Client, Server, connected

EMPTY = "empty aiohttp handler"
BOUND = 3.0
"""How much longer than the empty handler a kept answer may take, at the 99th percentile."""


COLD_GOALS = {
    "tournament": "< 300",
    "leaderboard": "< 150",
    "leaderboard of all versions": "< 150",
    "leaderboard of a past day": "< 100",
}
"""Milliseconds of processor time for a page that nobody has asked for before."""


def quantile(values: list[float], share: float) -> float:
    """The value below which that share lies."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def addresses(league: League) -> dict[str, str]:
    """What is asked for: name -> address."""
    with closing(sqlite3.connect(league.path)) as base:
        tournament, family = base.execute("SELECT id, family FROM tournaments ORDER BY id LIMIT 1").fetchone()
        query = "SELECT id FROM games WHERE tournament_id = ? ORDER BY sequence LIMIT 1 OFFSET 7"
        (game,) = base.execute(query, (tournament,)).fetchone()
    return {
        "leaderboard": f"/{family}/leaderboard",
        "leaderboard JSON": f"/api/v1/leaderboards/{family}?limit=200",
        "tournament": f"/tournaments/{tournament}",
        "tournament JSON": f"/api/v1/tournaments/{tournament}",
        "standings JSON": f"/api/v1/tournaments/{tournament}/standings",
        "game": f"/games/{game}",
        "game JSON": f"/api/v1/games/{game}",
    }


def cold_only(league: League) -> dict[str, str]:
    """Further addresses whose first answer is measured."""
    with closing(sqlite3.connect(league.path)) as base:
        bots = base.execute("SELECT name FROM bots ORDER BY id LIMIT 2").fetchall()
    bot, rival = (name for (name,) in bots)
    return {
        "front page": "/",
        "leaderboard of all versions": f"/loa/leaderboard?pool={quote(CROWD)}",
        "leaderboard of a past day": "/loa/leaderboard?at=2026-01-09",
        "family": "/loa",
        "tournaments": "/tournaments",
        "games": "/games",
        "forfeits of a family": "/games?family=loa&termination_class=forfeit",
        "bots": "/bots",
        "bot": f"/bots/{bot}",
        "head to head": f"/bots/{bot}/vs/{rival}",
        "games JSON": "/api/v1/games?limit=200",
        "bots JSON": "/api/v1/bots?limit=200",
    }


def run(quick: bool) -> Iterator[Figure]:
    """Figures of the pages."""
    begin = time.perf_counter()
    league = open_league(10 if quick else 100)
    size = f"{league.versions:,} versions, {league.games:,} games"
    yield Figure("pages", f"database of {size}, made or found", time.perf_counter() - begin, "s")
    for name, goal in (("tournament", "< 300"), ("leaderboard", "< 200")):
        first = [_first(league, name) for _ in range(1 if quick else 5)]
        yield Figure("pages", f"{name}, first page of a process (CPU)", statistics.median(first), "ms", goal=goal)
    with Server(league.url) as server, connected(server.port, server.bare) as (client, bare):
        for name, path in addresses(league).items():
            yield from _kept(name, path, client, bare, 300 if quick else 2000)
        yield from _while_results_come(league, client, bare, 3 if quick else 10)
        yield from _cold(league, server, client, 3 if quick else 9)
        yield _memory(league, server, client, 5000 if quick else 100_000)


def _first(league: League, name: str) -> float:
    """The CPU, in milliseconds, of the first page that a new process makes."""
    with Server(league.url) as server, connected(server.port) as (client,):
        before = server.tell("cpu")
        _ms(client, addresses(league)[name])
        return 1000 * (server.tell("cpu") - before)


def _kept(name: str, path: str, client: Client, bare: Client, count: int) -> Iterator[Figure]:
    status, headers, body = client.get(path)
    assert status == 200, (path, status, body[:300])
    etag = headers.get("etag", "")
    for kind, known in (("kept", ""), ("304", etag)):
        if kind == "304" and not etag:
            continue
        mine, empty = [], []
        for _ in range(count):
            mine.append(_ms(client, path, known))
            empty.append(_ms(bare, "/"))
        for share in (0.5, 0.99):
            base = quantile(empty, share)
            goal = f"< {BOUND:g} x" if share > 0.9 else ""
            label = f"{name}, {kind}, p{100 * share:.0f}"
            yield Figure("pages", label, quantile(mine, share), "ms", f"{EMPTY} p{100 * share:.0f}", base, goal)


def _cold(league: League, server: Server, client: Client, count: int) -> Iterator[Figure]:
    """CPU of answers of a server that has made none before."""
    for path in addresses(league).values():  # what the last results had made anew behind readers' backs is done then
        _ms(client, path)
    for name, path in {**addresses(league), **cold_only(league)}.items():
        spent = []
        for _ in range(count):
            server.tell("cold")
            before = server.tell("cpu")
            _ms(client, path)
            spent.append(1000 * (server.tell("cpu") - before))
        yield Figure("pages", f"{name}, cold (CPU)", statistics.median(spent), "ms", goal=COLD_GOALS.get(name, ""))


def _while_results_come(league: League, client: Client, bare: Client, seconds: float) -> Iterator[Figure]:
    """Kept pages while something is committed twenty times a second, such that every table has to be made anew."""
    paths = addresses(league)
    stop = threading.Event()

    def commit() -> None:
        with closing(sqlite3.connect(league.path, timeout=30)) as base:
            base.execute("INSERT OR IGNORE INTO counters (name, value) VALUES ('undone', 0)")
            while not stop.wait(0.05):
                base.execute("UPDATE counters SET value = value + 1 WHERE name IN ('commit', 'undone')")
                base.commit()

    committing = threading.Thread(target=commit)
    committing.start()
    try:
        for name in ("leaderboard", "tournament"):
            _ms(client, paths[name])
            mine, empty, until = [], [], time.monotonic() + seconds
            while time.monotonic() < until:
                mine.append(_ms(client, paths[name]))
                empty.append(_ms(bare, "/"))
            label = f"{name}, at 20 results a second, p99"
            yield Figure("pages", label, quantile(mine, 0.99), "ms", EMPTY, quantile(empty, 0.99), f"< {BOUND:g} x")
    finally:
        stop.set()
        committing.join()


def _memory(league: League, server: Server, client: Client, count: int) -> Figure:
    """What the second half of so many requests adds to the server's memory; one in fifty is about another game."""
    with closing(sqlite3.connect(league.path)) as base:
        games = [game for (game,) in base.execute("SELECT id FROM games LIMIT ?", (count // 50,))]
    paths = list(addresses(league).values())
    half = 0.0
    for number in range(count):
        if number == count // 2:
            half = server.memory_mb
        _ms(client, paths[number % len(paths)] if number % 50 else f"/games/{games[number // 50]}")
    return Figure("pages", f"memory, {count // 2:,} requests more", server.memory_mb - half, "MB", goal="flat")


def _ms(client: Client, path: str, etag: str = "") -> float:
    begin = time.perf_counter()
    status, _, body = client.get(path, etag)
    seconds = time.perf_counter() - begin
    assert status in (200, 304), (path, status, body[:300])
    return 1000 * seconds
