"""Memory of a server over a day of work: requests for all kinds of pages while games are recorded.

The games are recorded by this process, as by a referee of its own; every one has pages that nobody has asked for.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from arena.store import Store, url_in
from tests.tools.bench.figure import Figure
from tests.tools.bench.server import Server, connected
from tests.tools.bench.store import planned, record_of

STEPS = 10
PER_GAME = 10
"""Requests for each game that is recorded."""
BATCH = 20


def run(quick: bool) -> Iterator[Figure]:
    """What the server has in memory after each tenth of the requests, and what the second half added."""
    requests = 10_000 if quick else 100_000
    with tempfile.TemporaryDirectory() as name, closing(Store.in_folder(Path(name))) as store:
        games = planned(store, requests // PER_GAME)
        known: list[str] = []
        rng, used = random.Random(1), []
        with Server(url_in(Path(name))) as server, connected(server.port) as (client,):
            for step in range(STEPS):
                while len(known) < (step + 1) * len(games) // STEPS:
                    part = games[len(known) : len(known) + BATCH]
                    new = [game.id for game in part]
                    store.queue.hand_out(new, "bench")
                    store.results.commit_all([record_of(game) for game in part], "bench")
                    known += new
                    for number in range(PER_GAME * len(part)):
                        path = _address(rng, known, new[number % len(new)])
                        status, _, body = client.get(path)
                        assert status == 200, (path, status, body[:300])
                used.append(server.memory_mb)
                yield Figure("memory", f"server after {(step + 1) * requests // STEPS:,} requests", used[-1], "MB")
            cpu_ms = 1000 * server.tell("cpu") / requests
        yield Figure("memory", "CPU of the server, the mean of these requests", cpu_ms, "ms")
    yield Figure("memory", "added by the second half", used[-1] - used[STEPS // 2 - 1], "MB", goal="flat")


def _address(rng: random.Random, known: list[str], newest: str) -> str:
    """One of the addresses that people and programs ask for."""
    game = rng.choice(known)
    return rng.choice(
        (
            f"/games/{newest}",
            f"/games/{newest}?ply={rng.randrange(60)}",
            f"/api/v1/games/{newest}",
            f"/games/{game}",
            f"/games/{game}.json",
            "/tournaments/1",
            f"/tournaments/1?page={rng.randrange(1, 5)}&sort=-score",
            "/api/v1/tournaments/1/standings",
            "/loa/leaderboard",
            f"/loa/leaderboard?at=2026-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}",
            f"/games?bot=one&since=2026-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}",
            "/bots/one",
            "/bots/one/vs/two",
            "/",
        )
    )
