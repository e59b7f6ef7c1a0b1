"""Runs the demo: compiles, plays every family with the sample bots, prints ratings and results, serves pages."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from arena.cli.server.referee import announced, unable_to_serve
from arena.cli.terminal import output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.game_view import show_result
from arena.cli.terminal.interrupt import heard
from arena.cluster.spool import Spool
from arena.collections import following
from arena.coordinator.assembly import Collaborators, assemble
from arena.coordinator.executors import publisher
from arena.documents.rating import LeaderboardLine
from arena.documents.table import Column, text_column
from arena.documents.tournament import TournamentItem
from arena.events.bus import Bus, EventBus
from arena.http.request_context import Preparation
from arena.store import Store
from arena.store.base.models import Version
from arena.tournaments import create
from arena.tournaments.participants import StoredTournament
from arena.tournaments.standing import standing
from referee.bot.argument import SAMPLES
from referee.game.spec import BotLimits
from referee.machine.pool import SlotPool
from referee.machine.sample_warmup import USUAL, have_all_warm
from referee.machine.warmup import Warmed, warm
from referee.play.sandbox_choice import choose
from referee.rules import families, load

if TYPE_CHECKING:
    from arena.cli.server.demo import DemoArguments
    from arena.config import Settings


class Compiling:
    """The compilation of the kernels of families: as many families at once as there are processors."""

    def __init__(
        self, names: Sequence[str], begin: Callable[[str], Awaitable[None]], preparation: Preparation | None = None
    ) -> None:
        self._names, self._begin = names, begin
        self._stopped, self._stop = os.pipe()
        self._preparation = preparation or Preparation(len(names))

    async def run(self, stop: asyncio.Event) -> None:
        """Call `begin` with each family as soon as it is compiled; end early if `stop` is set. Raises CommandError."""
        jobs = min(len(os.sched_getaffinity(0)), len(self._names))
        pool = ThreadPoolExecutor(jobs, "compiling")
        group = asyncio.gather(*(self._one(pool, name) for name in self._names))
        stopping = asyncio.create_task(stop.wait())
        try:
            either: list[asyncio.Future[Any]] = [group, stopping]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if group.done():
                group.result()
        finally:
            os.write(self._stop, b"\0")
            group.cancel()
            stopping.cancel()
            await asyncio.gather(group, stopping, return_exceptions=True)
            await asyncio.to_thread(pool.shutdown, cancel_futures=True)
            for end in (self._stopped, self._stop):
                os.close(end)

    async def _one(self, pool: ThreadPoolExecutor, name: str) -> None:
        problem, warmed, seconds = await asyncio.get_running_loop().run_in_executor(pool, self._make_ready, name)
        if problem:
            raise CommandError(f"the sample bots of {name} cannot be compiled: {problem[-400:]}", Exit.FAILED)
        self._preparation.ready += 1
        output.note(f"{name:<10} ready in {seconds:.1f} s, {warmed.compiled + warmed.cached} kernels")
        await self._begin(name)

    def _make_ready(self, name: str) -> tuple[str, Warmed, float]:
        """Compile a family; return the problem (empty if none), the numbers of kernels, and the seconds it took."""
        began = time.perf_counter()
        self._preparation.now[name] = ""
        problem = have_all_warm(name, self._stopped, partial(self._tell, name))
        warmed = warm(name)
        self._preparation.now.pop(name, None)
        return problem, warmed, time.perf_counter() - began

    def _tell(self, name: str, progress: str) -> None:
        """Print a line for each bot; show the functions being compiled as progress."""
        bot, _, function = progress.partition(" ")
        if not function:
            output.note(f"{name:<10} compiling what {bot} calls ...")
            return
        self._preparation.now[name] = function
        under_way = sorted(self._preparation.now.items())
        output.progress("compiling  " + ", ".join(f"{family} {now}" for family, now in under_way if now))


POLL_INTERVAL_S = 0.3
"""How often the demo looks for results."""
CLOSE_TIMEOUT_S = 2
"""How long answers under way may take at the end."""
MAX_PLIES = 200
"""The demo draws games longer than that, so that no family keeps a visitor waiting."""


def play_and_show(names: Sequence[str], arguments: DemoArguments) -> int:
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
    settings: Settings, store: Store, names: Sequence[str], versions: list[Version], arguments: DemoArguments
) -> int:
    """Play the games and print the results; without `--once`, serve pages from the start."""
    bus = Bus()
    async with contextlib.AsyncExitStack() as stack:
        address, preparation = "", Preparation(len(names))
        if not arguments.once:
            pages = _pages(store, settings, bus, arguments.bind, arguments.port, preparation=preparation)
            address = await stack.enter_async_context(pages)
        progress = _Progress(store, len(names) * arguments.games * math.comb(len(versions), 2))
        is_complete = await _play(
            settings,
            store,
            bus,
            names,
            versions=versions,
            progress=progress,
            arguments=arguments,
            preparation=preparation,
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


def _create(store: Store, versions: list[Version], family: str, name: str, arguments: DemoArguments) -> TournamentItem:
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
    arguments: DemoArguments,
    preparation: Preparation,
) -> bool:
    """Play a tournament of each family as soon as it is compiled; return whether all were finished."""
    spec = versions[0].bot_file.spec(names[0], sys.executable)
    sandbox, notes = choose("auto", [spec], BotLimits())
    output.note(*notes, f"bots run in sandbox {sandbox.name}, {arguments.concurrency} games at once")
    spare, spool = len(USUAL) - 2, Spool(settings.spool_folder)
    tell = publisher(bus, spool)
    pool = SlotPool(arguments.concurrency, sandbox=sandbox.name, spare=spare, on_event=tell, is_own=True)
    coordinator = assemble(settings, store, bus, pool, Collaborators(spool=spool))
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
                compiling = asyncio.create_task(Compiling(names, begin, preparation).run(stop))
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
                show_result(self._store.games.record(line.id), f"{self._done}/{self._total}", wants_logs=False)
        return all(tournament.state in ("finished", "cancelled") for tournament in states)


def _show(store: Store, family: str, tournament_id: int) -> None:
    """Print the ratings and results of a tournament."""
    scored = {line.name: line for line in standing(StoredTournament.read(store, tournament_id)).lines if line.games}
    lines = [line for line in store.ratings.leaderboard(family, limit=100).items if line.name in scored]
    title = load(family).title
    columns: tuple[Column[LeaderboardLine], ...] = (
        Column("place", "#", lambda line: line.place),
        text_column("name", title, lambda line: line.name),
        Column("rating", "rating", lambda line: line.conservative),
        Column("margin", "±2σ", lambda line: 2 * line.sigma),
        Column("points", "points", lambda line: scored[line.name].points, "points"),
        Column("games", "games", lambda line: scored[line.name].games),
        Column("wins", "W", lambda line: scored[line.name].wins),
        Column("draws", "D", lambda line: scored[line.name].draws),
        Column("losses", "L", lambda line: scored[line.name].losses),
    )
    output.table(columns, lines)


def _address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


@contextlib.asynccontextmanager
async def _pages(
    store: Store, settings: Settings, bus: EventBus, host: str, port: int, *, preparation: Preparation | None = None
) -> AsyncIterator[str]:
    """Serve pages that show the games live, by events of `bus`; yield their address. Raises CommandError."""
    from arena.app import build, context_of
    from arena.http.server import Runner

    context = context_of(store, settings, bus)
    context.preparation = preparation
    runner = Runner(build(context), shutdown_timeout=CLOSE_TIMEOUT_S)
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
