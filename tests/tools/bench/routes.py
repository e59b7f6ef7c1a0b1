"""Every GET route over a league of a million games: processor time, and `/healthz` while twenty ask for it at once.

    python -m tests.tools.bench --only routes [--quick]

Routes are read from the application, so a new one is measured from its first day. Those that need a session, or what a
league does not have, answer 4xx and are left out.
"""

from __future__ import annotations

import re
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from arena.app import build, context_of
from arena.config_file import read_settings
from arena.events.bus import Bus
from arena.store import Store
from tests.tools.bench.figure import Figure
from tests.tools.bench.league import CROWD, League, open_league
from tests.tools.bench.server import Client, Server, connected

ENTRIES = 200
AT_ONCE = 20
CPU_MS, HEALTH_MS = 50, 300
NOT_ASKED = re.compile(r"stream|connect|/static/|/docs|healthz|readyz|metrics|feed/live")
"""Answers without an end, and files."""
MORE = (
    f"/loa/leaderboard?pool={CROWD}",
    f"/loa/leaderboard?pool={CROWD}&at=2026-01-20",
    f"/loa/leaderboard?pool={CROWD}&at=2026-01-20&state=all",
    f"/api/v1/leaderboards/loa?pool={CROWD}&at=2026-01-20",
    "/loa/leaderboard?at=2026-01-20",
    "/games?termination_class=forfeit",
    "/api/v1/games?limit=500",
)


def addresses(league: League) -> list[str]:
    """Return an address of each GET route, and some with filters."""
    with tempfile.TemporaryDirectory() as folder, closing(Store(league.url)) as store:
        app = build(context_of(store, read_settings(None, data=Path(folder)), Bus()))
        patterns = [
            route.resource.canonical for route in app.router.routes() if route.method == "GET" and route.resource
        ]
    with closing(sqlite3.connect(league.path)) as base:
        tournament, family = base.execute("SELECT id, family FROM tournaments WHERE family = 'loa'").fetchone()
        query = "SELECT id FROM games WHERE tournament_id = ? ORDER BY sequence LIMIT 1 OFFSET 7"
        (game,) = base.execute(query, (tournament,)).fetchone()
        bots = base.execute(
            "SELECT DISTINCT b.name FROM entries e JOIN versions v ON v.id = e.version_id"
            " JOIN bots b ON b.id = v.bot_id WHERE e.tournament_id = ? LIMIT 2",
            (tournament,),
        ).fetchall()
    values = {
        "family": family,
        "tournament": tournament,
        "game": game,
        "bot": bots[0][0],
        "other": bots[1][0],
        "user": "owner",
        "language": "python",
        "path": "loa",
        "start": "fairest",
        "side": "first",
    }
    paths = [
        re.sub(r"\{(\w+)\}", lambda name: str(values.get(name[1], 1)), pattern)
        for pattern in dict.fromkeys(patterns)
        if not NOT_ASKED.search(pattern)
    ]
    return [*dict.fromkeys(paths), *MORE]


def run(quick: bool) -> Iterator[Figure]:
    """Figures of all routes, those that take longest first."""
    league = open_league(5 if quick else 25, ENTRIES)
    first: dict[str, float] = {}
    again: dict[str, float] = {}
    with Server(league.url) as server, connected(server.port) as (client,):
        paths = [path for path in addresses(league) if client.get(path)[0] == 200]
        for path in paths:
            first[path] = spent_ms(server, client, path, "cold")
            again[path] = statistics.median(spent_ms(server, client, path, "stale") for _ in range(3))
        for path, milliseconds in sorted(again.items(), key=lambda item: -item[1]):
            yield Figure("routes", f"{path} (CPU)", milliseconds, "ms", "first answer", first[path], f"< {CPU_MS}")
        worst = {path: health_during(server, path) for path in paths}
        for path, milliseconds in sorted(worst.items(), key=lambda item: -item[1])[:20]:
            name = f"/healthz while {AT_ONCE} ask for {path}"
            yield Figure("routes", name, milliseconds, "ms", goal=f"< {HEALTH_MS}")


def spent_ms(server: Server, client: Client, path: str, state: str) -> float:
    """Return the processor time of an answer in milliseconds, once caches are `cold` or `stale`."""
    server.tell(state)
    before = server.tell("cpu")
    client.get(path)
    return 1000 * (server.tell("cpu") - before)


def health_during(server: Server, path: str) -> float:
    """Return the longest time that `/healthz` took while many asked for a path at once, in milliseconds."""
    server.tell("cold")

    def ask(client: Client) -> None:
        client.get(path)

    with connected(*[server.port] * (AT_ONCE + 1)) as (health, *clients):
        threads = [threading.Thread(target=ask, args=(client,)) for client in clients]
        for thread in threads:
            thread.start()
        worst = 0.0
        while True:
            is_last = not any(thread.is_alive() for thread in threads)
            begin = time.perf_counter()
            health.get("/healthz")
            worst = max(worst, time.perf_counter() - begin)
            if is_last:
                return 1000 * worst
            time.sleep(0.01)
