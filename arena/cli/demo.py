"""`arena demo`: the main job on embedded defaults: sample bots play every family, are rated, and shown on pages."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from arena.cli import choice, output
from arena.cli.choice import refuse_concurrency
from arena.cli.compiling import Compiling
from arena.cli.exit import CommandError, Exit
from arena.cli.interrupt import heard
from arena.cli.results import report
from arena.coordinator.coordinator import Coordinator
from arena.coordinator.executors import publisher
from arena.events.bus import Bus, EventBus
from arena.store import Store
from arena.store.models import Tournament, Version
from arena.tournaments import create
from referee.bot_argument import SAMPLES
from referee.pool import SlotPool
from referee.ratings.pairings import pairings
from referee.ratings.standings import standings
from referee.rules import families, load
from referee.sample_warmup import USUAL
from referee.sandbox_choice import choose
from referee.spec import BotSpec, Limits, read_time_control

if TYPE_CHECKING:
    from arena.config import Settings

LOOK_S = 0.3
"""How often the demo looks for results."""
CLOSE_S = 2
"""How long answers under way may take at the end."""
MAX_PLIES = 200
"""The demo draws games longer than that, so that no family keeps a visitor waiting."""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--once", action="store_true", help="serve no pages, and exit after the games")
    parser.add_argument("--games", type=int, default=2, metavar="N", help="games per pairing (default 2)")
    parser.add_argument("--tc", default="0.5+0.02", metavar="TC", help="time control (default 0.5+0.02)")
    parser.add_argument(
        "--family", action="append", metavar="F", type=choice.family, help="only this family; may be repeated"
    )
    parser.add_argument("--concurrency", type=int, default=os.cpu_count() or 1, metavar="C", help="games at once")
    parser.add_argument("--data", type=Path, default=Path("data"), metavar="DIR", help="data folder (default ./data)")
    parser.add_argument("--bind", default="127.0.0.1", metavar="HOST", help="address of the pages")
    parser.add_argument("--port", type=int, default=8000, metavar="PORT", help="port of the pages (default 8000)")


def run(arguments: argparse.Namespace) -> int:
    """Compile and play, print, serve."""
    from arena import log
    from arena.config import read_settings

    if arguments.games < 1 or arguments.concurrency < 1:
        raise CommandError("--games and --concurrency must be at least 1")
    refuse_concurrency(arguments.concurrency)
    names = arguments.family or list(families())
    for name in names:
        load(name)
    read_time_control(arguments.tc)
    settings = read_settings(data=arguments.data)
    log.configure(settings.log_format, "warning")
    store = Store.in_folder(arguments.data)  # embedded, whatever the settings say
    try:
        return asyncio.run(_run(settings, store, list(dict.fromkeys(names)), _samples(store), arguments))
    finally:
        store.close()


async def _run(
    settings: Settings, store: Store, names: list[str], versions: list[Version], arguments: argparse.Namespace
) -> int:
    """Play and show; unless it is to exit afterwards, the pages are there from the start."""
    bus = Bus()
    async with contextlib.AsyncExitStack() as stack:
        if not arguments.once:
            await stack.enter_async_context(_pages(store, settings, bus, arguments.bind, arguments.port))
        progress = _Progress(store, len(names) * arguments.games * len(pairings(len(versions), "round-robin")))
        is_complete = await _play(
            settings, store, bus, names, versions=versions, progress=progress, arguments=arguments
        )
        await asyncio.to_thread(_tell, store, progress.tournaments)
        if not is_complete:
            output.note("interrupted: what is left is played when the arena runs again on this data folder")
            return Exit.INTERRUPTED
        if not arguments.once:
            output.note(f"all games are played; the pages stay at {_address(arguments.bind, arguments.port)}")
            await _until_told()
        return Exit.DONE


def _tell(store: Store, tournaments: list[int]) -> None:
    """A table per family, and whether the ratings follow from the games. Raises CommandError."""
    for number in tournaments:
        _show(store, store.tournaments.get(number).family, number)
    output.text("rating = mu - 3 sigma (TrueSkill), of all games so far; the rest of this demo")
    if wrong := store.ratings.check():
        raise CommandError(f"the stored ratings do not follow from the games: {wrong[0]}", Exit.FAILED)


def _samples(store: Store) -> list[Version]:
    """The sample bots of the arena, made if need be."""
    variants = {name: tuple(variant.name for variant in load(name).variants) for name in families()}
    return list(store.samples.ensure({name: SAMPLES[name] for name in USUAL}, variants).values())


def _create(store: Store, versions: list[Version], family: str, name: str, arguments: argparse.Namespace) -> Tournament:
    """A tournament of the sample bots, to be played at once."""
    by, at = store.samples.owner_id(), datetime.now(UTC)
    assert by is not None
    document = {
        "name": name,
        "family": family,
        "games": arguments.games,
        "time": arguments.tc,
        "seed": 1,
        "entries": {"bots": [version.name for version in versions]},
        "rulings": {"max_plies": MAX_PLIES},
        "limits": {"margin_ms": 50},
    }
    return create(store, document, by, at)


async def _play(
    settings: Settings,
    store: Store,
    bus: EventBus,
    names: list[str],
    *,
    versions: list[Version],
    progress: _Progress,
    arguments: argparse.Namespace,
) -> bool:
    """Let the coordinator play a tournament of each family from when it is compiled; whether it came to their ends."""
    spec = BotSpec("", (sys.executable, *versions[0].command[1:-1], names[0]))
    sandbox, notes = choose("auto", [spec], Limits())
    output.note(*notes, f"bots run in sandbox {sandbox.name}, {arguments.concurrency} games at once")
    spare, tell = len(USUAL) - 2, publisher(bus)
    pool = SlotPool(arguments.concurrency, sandbox=sandbox.name, spare=spare, on_event=tell, is_own=True)
    coordinator = Coordinator(settings, store, bus, pool)
    stop = asyncio.Event()
    event = f"demo {datetime.now(UTC):%Y-%m-%d %H:%M:%S}"

    async def begin(family: str) -> None:
        made = await asyncio.to_thread(_create, store, versions, family, f"{event}, {family}", arguments)
        progress.add(made.id or 0)
        coordinator.order(made.id)

    try:
        with heard(stop, coordinator.abort):
            task = asyncio.create_task(coordinator.run(stop))
            output.note("each family is compiled (once, then cached) and played as soon as it is ready")
            compiling = asyncio.create_task(Compiling(names, begin).run(stop))
            while not task.done():
                is_compiled = compiling.done()
                if await asyncio.to_thread(progress.look) and is_compiled:
                    break
                await asyncio.wait([task], timeout=LOOK_S)
            stop.set()
            await asyncio.wait([task, compiling])
            task.result()
            compiling.result()
        return await asyncio.to_thread(progress.look) and len(progress.tournaments) == len(names)
    finally:
        await asyncio.to_thread(pool.shutdown, cancel_futures=True)


class _Progress:
    """Prints a line per result as the database has it; `total` games there are in the end."""

    def __init__(self, store: Store, total: int) -> None:
        self._store, self._total = store, total
        self._seen: dict[int, int] = {}
        self._done = 0

    @property
    def tournaments(self) -> list[int]:
        """Those that have begun."""
        return list(self._seen)

    def add(self, tournament_id: int) -> None:
        """A tournament begins."""
        self._seen[tournament_id] = 0

    def look(self) -> bool:
        """Print what is new; whether all tournaments that began are over."""
        states = [self._store.tournaments.get(number) for number in self.tournaments]
        for tournament in states:
            number = tournament.id or 0
            for line in self._store.results.committed(number, self._seen[number], 500):
                self._seen[number] = line.committed or 0
                self._done += 1
                report(self._store.games.record(line.id), self._done, self._total, wants_logs=False)
        return all(tournament.state in ("finished", "cancelled") for tournament in states)


def _show(store: Store, family: str, tournament_id: int) -> None:
    """Who is where, by rating, and what they scored in this tournament: one small table."""
    results = store.results.of(tournament_id=tournament_id)
    names = list(dict.fromkeys(name for result in results for name in (result.first, result.second)))
    scored = {standing.name: standing for standing in standings(results, names)}
    lines = [line for line in store.ratings.leaderboard(family, limit=100).items if line.name in scored]
    title = load(family).title
    output.table(
        ("#", title, "rating", "±2σ", "points", "games", "W", "D", "L"),
        [
            (
                str(line.place),
                line.name,
                f"{line.conservative:.2f}",
                f"{2 * line.sigma:.2f}",
                f"{scored[line.name].points:g}",
                *(str(getattr(scored[line.name], count)) for count in ("games", "wins", "draws", "losses")),
            )
            for line in lines
        ],
        numbers=("#", "rating", "±2σ", "points", "games", "W", "D", "L"),
    )


def _address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


@contextlib.asynccontextmanager
async def _pages(store: Store, settings: Settings, bus: EventBus, host: str, port: int) -> AsyncIterator[None]:
    """The pages over the same bus as the games: what is played is seen. Raises CommandError."""
    from aiohttp import web

    from arena.app import build, context_of
    from arena.http.wire import Runner

    runner = Runner(build(context_of(store, settings, bus)), shutdown_timeout=CLOSE_S)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            reason = error.strerror or str(error)
            raise CommandError(f"cannot serve on {host}:{port}: {reason}; take another --port", Exit.FAILED) from None
        output.note(f"watch at {_address(host, runner.addresses[0][1])} (Ctrl-C ends)")
        yield
    finally:
        await runner.cleanup()


async def _until_told() -> None:
    """Wait for Ctrl-C or SIGTERM."""
    stop = asyncio.Event()
    with heard(stop):
        await stop.wait()
