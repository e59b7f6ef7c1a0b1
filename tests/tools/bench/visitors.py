"""Visitors of the embedded default: how long pages take while games are played in the same arena, and without games."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp

from tests.tools.bench.figure import Figure
from tests.tools.bench.pages import quantile

VISITORS = 10
PAUSE_S = (0.5, 1.5)
"""How long a visitor reads a page."""
TIMEOUT_S = 300.0
GAMES = 50
"""Games per pairing of the demo: it must outlast the measurement."""
PAGES = (
    "/",
    "/games",
    "/tournaments",
    "/tournaments/1",
    "/tournaments/2",
    "/loa/leaderboard",
    "/tablut/leaderboard",
    "/bots",
    "/loa",
    "/rankings",
    "/api/v1/games?limit=20",
    "/api/v1/tournaments/1/standings",
)


def run(quick: bool) -> Iterator[Figure]:
    """Figures of pages while the demo plays, and of the same pages afterwards."""
    seconds = 20.0 if quick else 40.0
    with tempfile.TemporaryDirectory() as folder:
        data = ("--data", folder, "--port", "0")
        playing = _figures(seconds, "demo", "--games", str(GAMES), *data)
        at_rest = _figures(seconds, "serve", "--no-referee", *data)
    yield Figure("visitors", f"pages asked for by {VISITORS} visitors", len(playing), "")
    for share, goal in ((0.5, ""), (0.95, "< 500"), (0.99, "")):
        name, base = f"page while games are played, p{100 * share:.0f}", quantile(at_rest, share)
        yield Figure("visitors", name, quantile(playing, share), "ms", "without games", base, goal)


def _figures(seconds: float, *words: str) -> list[float]:
    """Return how many milliseconds each page took of an arena started with this command."""
    with _arena(*words) as url:
        return asyncio.run(_visit(url, seconds))


@contextmanager
def _arena(*words: str) -> Iterator[str]:
    line = [sys.executable, "-m", "arena", *words]
    environment = {**os.environ, "ARENA_ALLOW_WEAK_SANDBOX": "1", "ARENA_PAGES_PER_MINUTE": "100000"}
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    try:
        assert process.stdout is not None
        url = next(word for line in process.stdout for word in line.split() if word.startswith("http://127"))
        threading.Thread(target=process.stdout.read, daemon=True).start()
        yield url.rstrip("/.,;")
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


async def _visit(url: str, seconds: float) -> list[float]:
    durations_ms: list[float] = []
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(TIMEOUT_S)) as session:
        for path in PAGES:  # what is compiled for the first page is not measured
            await _ms(session, url + path)
        until = time.monotonic() + seconds
        await asyncio.gather(
            *(_reader(session, url, random.Random(number), until, durations_ms) for number in range(VISITORS))
        )
    return durations_ms


async def _reader(
    session: aiohttp.ClientSession, url: str, rng: random.Random, until: float, found: list[float]
) -> None:
    while time.monotonic() < until:
        found.append(await _ms(session, url + rng.choice(PAGES)))
        await asyncio.sleep(rng.uniform(*PAUSE_S))


async def _ms(session: aiohttp.ClientSession, address: str) -> float:
    begin = time.perf_counter()
    async with session.get(address) as answer:
        await answer.read()
        assert answer.status in (200, 404), (address, answer.status)
    return 1000 * (time.perf_counter() - begin)
