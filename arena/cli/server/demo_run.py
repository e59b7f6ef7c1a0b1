"""Plays the tournaments of `arena demo` and shows them: coordinator and pages in one process, with an SQLite file."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from arena.cli.server.compiling import Compiling
from arena.cli.server.coordinator_run import announced, unable_to_serve
from arena.cli.terminal import output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.game_view import show_result
from arena.cli.terminal.interrupt import heard
from arena.cluster.spool import Spool
from arena.collections import following
from arena.coordinator.coordinator import Coordinator
from arena.coordinator.executors import publisher
from arena.documents.tournament import TournamentItem
from arena.events.bus import Bus, EventBus
from arena.store import Store
from arena.store.base.models import Version
from arena.tournaments import create
from referee.bot.argument import SAMPLES
from referee.game.spec import BotLimits, BotSpec
from referee.machine.pool import SlotPool
from referee.machine.sample_warmup import USUAL
from referee.play.sandbox_choice import choose
from referee.ratings.pairings import pairings
from referee.ratings.standings import standings
from referee.rules import families, load

if TYPE_CHECKING:
    from arena.config import Settings

POLL_INTERVAL_S = 0.3
"""How often the demo looks for results."""
CLOSE_TIMEOUT_S = 2
"""How long answers under way may take at the end."""
MAX_PLIES = 200
"""The demo draws games longer than that, so that no family keeps a visitor waiting."""


def play_and_show(names: Sequence[str], arguments: argparse.Namespace) -> int:
    """Compile and play these families, print the results, serve pages."""
    from arena import log
    from arena.config import read_settings

    settings = read_settings(data=arguments.data)
    log.configure(settings.log_format, "warning")
    store = Store.in_folder(arguments.data)  # embedded, whatever the settings say
    try:
        return asyncio.run(_run(settings, store, names, _samples(store), arguments))
    finally:
        store.close()


async def _run(
    settings: Settings, store: Store, names: Sequence[str], versions: list[Version], arguments: argparse.Namespace
) -> int:
    """Play the games and print the results; without `--once`, serve pages from the start."""
    bus = Bus()
    async with contextlib.AsyncExitStack() as stack:
        address = ""
        if not arguments.once:
            address = await stack.enter_async_context(_pages(store, settings, bus, arguments.bind, arguments.port))
        progress = _Progress(store, len(names) * arguments.games * len(pairings(len(versions), "round-robin")))
        is_complete = await _play(
            settings, store, bus, names, versions=versions, progress=progress, arguments=arguments
        )
        await asyncio.to_thread(_tell, store, progress.tournaments)
        data = arguments.data
        if not is_complete:
            output.note(
                f"the demo has ended early; its games are kept in {data}",
                f"to play the others start `arena serve --data {data}`",
            )
            return Exit.INTERRUPTED
        if not arguments.once:
            output.note(
                f"all games are played; the pages stay at {address} until Ctrl-C",
                f"this process plays no more games; to continue, end it and run `arena serve --data {data}`",
            )
            await _until_told()
        output.note(f"the demo has ended; its games are kept in {data}")
        return Exit.DONE


def _tell(store: Store, tournaments: list[int]) -> None:
    """Print a table for each tournament. Raises CommandError if the stored ratings do not follow from the games."""
    for number in tournaments:
        _show(store, store.tournaments.get(number).family, number)
    output.text("rating = mu - 3 sigma (TrueSkill), of all games so far; the rest of this demo")
    if wrong := store.ratings.check():
        raise CommandError(f"the stored ratings do not follow from the games: {wrong[0]}", Exit.FAILED)


def _samples(store: Store) -> list[Version]:
    """Return the sample bots of the arena, created if needed."""
    variants = {name: tuple(variant.name for variant in load(name).variants) for name in families()}
    return list(store.samples.ensure({name: SAMPLES[name] for name in USUAL}, variants).values())


def _create(
    store: Store, versions: list[Version], family: str, name: str, arguments: argparse.Namespace
) -> TournamentItem:
    """Create a tournament of the sample bots; it starts at once."""
    by, at = store.samples.owner_id(), datetime.now(UTC)
    assert by is not None
    document = {
        "name": name,
        "family": family,
        "games": arguments.games,
        "time_control": arguments.tc,
        "seed": 1,
        "entries": {"bots": [version.name for version in versions]},
        "adjudication": {"max_plies": MAX_PLIES},
        "limits": {"margin_ms": 50},
    }
    return create(store, document, by, at)


async def _play(
    settings: Settings,
    store: Store,
    bus: EventBus,
    names: Sequence[str],
    *,
    versions: list[Version],
    progress: _Progress,
    arguments: argparse.Namespace,
) -> bool:
    """Play a tournament of each family as soon as it is compiled; return whether all were finished."""
    spec = BotSpec("", (sys.executable, *versions[0].command[1:-1], names[0]))
    sandbox, notes = choose("auto", [spec], BotLimits())
    output.note(*notes, f"bots run in sandbox {sandbox.name}, {arguments.concurrency} games at once")
    spare, spool = len(USUAL) - 2, Spool(settings.spool_folder)
    tell = publisher(bus, spool)
    pool = SlotPool(arguments.concurrency, sandbox=sandbox.name, spare=spare, on_event=tell, is_own=True)
    coordinator = Coordinator(settings, store, bus, pool, spool=spool)
    stop = asyncio.Event()
    event = f"demo {datetime.now(UTC):%Y-%m-%d %H:%M:%S}"

    async def begin(family: str) -> None:
        made = await asyncio.to_thread(_create, store, versions, family, f"{event}, {family}", arguments)
        progress.add(made.id or 0)
        coordinator.order(made.id)

    try:
        with heard(stop, coordinator.abort):
            async with announced(store, bus, coordinator, str(arguments.data)):
                task = asyncio.create_task(coordinator.run(stop))
                output.note("each family is compiled (once, then cached) and played as soon as it is ready")
                compiling = asyncio.create_task(Compiling(names, begin).run(stop))
                while not task.done():
                    is_compiled = compiling.done()
                    if await asyncio.to_thread(progress.look) and is_compiled:
                        # The coordinator updates the archive only at intervals: the last games would be missing.
                        await asyncio.to_thread(following.follow, store, stop.is_set)
                        break
                    await asyncio.wait([task], timeout=POLL_INTERVAL_S)
                stop.set()
                await asyncio.wait([task, compiling])
            task.result()
            compiling.result()
        return await asyncio.to_thread(progress.look) and len(progress.tournaments) == len(names)
    finally:
        await asyncio.to_thread(pool.shutdown, cancel_futures=True)


class _Progress:
    """Prints a line for each recorded result of `total` games."""

    def __init__(self, store: Store, total: int) -> None:
        self._store, self._total = store, total
        self._seen: dict[int, int] = {}
        self._done = 0

    @property
    def tournaments(self) -> list[int]:
        """Tournaments that have started."""
        return list(self._seen)

    def add(self, tournament_id: int) -> None:
        """Add a tournament that starts."""
        self._seen[tournament_id] = 0

    def look(self) -> bool:
        """Print the new results; return whether all started tournaments are over."""
        states = [self._store.tournaments.get(number) for number in self.tournaments]
        for tournament in states:
            number = tournament.id or 0
            for line in self._store.results.committed(number, self._seen[number], 500):
                self._seen[number] = line.commit_number or 0
                self._done += 1
                show_result(self._store.games.record(line.id), self._done, self._total, wants_logs=False)
        return all(tournament.state in ("finished", "cancelled") for tournament in states)


def _show(store: Store, family: str, tournament_id: int) -> None:
    """Print the ratings and results of a tournament."""
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
                f"{line.conservative:z.2f}",
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
async def _pages(store: Store, settings: Settings, bus: EventBus, host: str, port: int) -> AsyncIterator[str]:
    """Serve pages that show the games live, by events of `bus`; yield their address. Raises CommandError."""
    from arena.app import build, context_of
    from arena.http.server import Runner

    runner = Runner(build(context_of(store, settings, bus)), shutdown_timeout=CLOSE_TIMEOUT_S)
    await runner.setup()
    try:
        try:
            await runner.listen(host, port)
        except OSError as error:
            advice = 'choose another --port, 0 for a free one (make demo ARGS="--port 0"), or another --bind'
            raise unable_to_serve(host, port, error, advice) from None
        address = _address(host, runner.addresses[0][1])
        output.note(f"watch at {address} (Ctrl-C ends)")
        yield address
    finally:
        await runner.cleanup()


async def _until_told() -> None:
    """Wait for Ctrl-C or SIGTERM."""
    stop = asyncio.Event()
    with heard(stop):
        await stop.wait()
