"""Runs the demo: compiles, plays every family with the sample bots, prints ratings and results, serves pages."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import sys
import threading
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from arena import feature
from arena.app import build, context_of
from arena.cli.server.demo_compiling import STEPS, Compiling
from arena.cli.server.referee import act, unable_to_serve
from arena.cli.terminal import output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import given_words
from arena.cli.terminal.game_view import show_result
from arena.cli.terminal.interrupt import heard
from arena.collections import following
from arena.coordinator import cron
from arena.coordinator.executors import publisher
from arena.documents.rating import LeaderboardLine
from arena.documents.table import Column, text_column
from arena.documents.tournament import TournamentItem
from arena.events.bus import Bus
from arena.http.request_context import Preparation, WebContext
from arena.http.server import Runner
from arena.services import Arena
from arena.services.archive import read_text, store_collection
from arena.store import Store
from arena.store.base.tables.bots import Version
from arena.tournaments import create
from arena.tournaments.standing import standing
from arena.tournaments.stored_tournament import StoredTournament
from referee.bot.argument import SAMPLES
from referee.game.spec import BotLimits, BotSpec
from referee.machine.pool import SlotPool
from referee.play.sandbox_choice import choose
from referee.rules import families, load

if TYPE_CHECKING:
    from arena.cli.server.demo import DemoArguments
    from arena.config import Settings

PREFIX = "Demo: "
"""How names of the demo's tournaments begin."""
FIRST_GAMES = ", first games"
"""How names of the tournaments end that are played while stronger bots are compiled."""

POLL_INTERVAL_S = 0.3
"""How often the demo looks for results."""
NICENESS = 5
"""Niceness of the games: compilers of the families that are still awaited, and pages, come first."""
CLOSE_TIMEOUT_S = 2
"""How long answers under way may take at the end."""
MAX_PLIES = 200
"""The demo draws games longer than that, so that no family keeps a visitor waiting."""
GAMES = Path(__file__).parent / "demo_games"
"""A text of games for each family: a collection for the archive."""
COLLECTION = "champion against alphabeta"
CUP = "Sunday cup"


def play_and_show(names: Sequence[str], arguments: DemoArguments) -> int:
    """Compile and play these families, print the results, serve pages."""
    from arena import log
    from arena.config_file import read_settings

    # It is embedded, whatever the settings of the environment say.
    embedded = {"database": "", "mqtt": "", "executor": f"local:{arguments.concurrency}", "referee": True}
    settings = read_settings(data=arguments.data).model_copy(update={**embedded, "bind": arguments.bind})
    log.configure(settings.log_format, "warning")
    store = Store.in_folder(arguments.data)
    try:
        return asyncio.run(_run(settings, store, names, arguments))
    finally:
        store.close()


async def _run(settings: Settings, store: Store, names: Sequence[str], arguments: DemoArguments) -> int:
    """Play the games and print the results; without `--once`, serve pages from the start, and play on until Ctrl-C."""
    bus = Bus()
    context = context_of(store, settings, bus)
    context.preparation = Preparation(len(names))
    stop = context.stopping
    async with contextlib.AsyncExitStack() as stack:
        address = ""
        if not arguments.once:
            address = await stack.enter_async_context(_pages(context, arguments.bind, arguments.port))
        versions = await asyncio.to_thread(_prepare, store, names[0])
        sample = versions[0].bot_file.spec(names[0], sys.executable)
        with ThreadPoolExecutor(1) as thread:  # of its own, as it gets a lower priority
            pool = await asyncio.get_running_loop().run_in_executor(thread, _slots, sample, context, arguments)
        stack.push_async_callback(asyncio.to_thread, pool.shutdown, cancel_futures=True)
        interrupts = stack.enter_context(heard(stop))
        demo = Demo(context, names, versions, arguments, address)
        playing = asyncio.create_task(demo.run())
        playing.add_done_callback(lambda _: stop.set())
        try:
            await act(
                settings,
                store,
                bus,
                context.metrics,
                interrupts,
                spool=context.arena.spool,
                opening=_opened(pool),
                open_door=context.host,
            )
        finally:
            stop.set()
            await asyncio.wait([playing])
        playing.result()
        if not demo.is_complete:
            await asyncio.to_thread(_tell, store, demo.tournaments)
            output.note(
                f"the demo has ended early; its games are kept in {arguments.data}",
                f"to play the others start it again: {shlex.join(['arena', 'demo', *given_words(arguments)])}",
            )
            return Exit.INTERRUPTED
        output.note(f"the demo has ended; its games are kept in {arguments.data}")
        return Exit.DONE


async def _opened(pool: SlotPool) -> SlotPool:
    return pool


def _slots(sample: BotSpec, context: WebContext, arguments: DemoArguments) -> SlotPool:
    """Open slots on this machine, in the strongest sandbox in which a sample starts."""
    sandbox, notes = choose("auto", [sample], BotLimits())
    count = arguments.concurrency
    output.note(*notes, f"bots run in sandbox {sandbox.name}, {count} games at once")
    tell = publisher(context.arena.bus, context.arena.spool)
    # The threads of the pool, its slots and their bots inherit it: Linux has a niceness for each thread.
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
    return SlotPool(count, sandbox=sandbox.name, spare=len(SAMPLES) - 2, on_event=tell, is_own=True)


class Demo:
    """The tournaments of a demo, two for each family: made when their bots are compiled, shown as they are played."""

    def __init__(
        self,
        context: WebContext,
        names: Sequence[str],
        versions: Sequence[Version],
        arguments: DemoArguments,
        address: str,
    ) -> None:
        self.is_complete = False
        """True once every game of all tournaments is over."""
        self._arena, self._stop = context.arena, context.stopping
        self._store = context.arena.store
        self._names, self._versions, self._arguments, self._address = names, versions, arguments, address
        self._compiling = Compiling(names, self._begin, context.preparation)
        self._progress = _Progress(self._store)

    @property
    def tournaments(self) -> list[int]:
        """Numbers of the tournaments that have started."""
        return self._progress.tournaments

    async def run(self) -> None:
        """Make and show the tournaments until all are over; without `--once`, then wait for the order to stop.

        Raises CommandError.
        """
        output.note("each family is compiled (once, then cached) and played as soon as it is ready")
        compiling = asyncio.create_task(self._compiling.run(self._stop))
        while not self._stop.is_set():
            if compiling.done():
                compiling.result()
            # Looked at after the last family has begun, or its tournament would be missing.
            is_compiled = compiling.done()
            if await asyncio.to_thread(self._progress.look) and is_compiled:
                self.is_complete = True
                break
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), POLL_INTERVAL_S)
        await asyncio.wait([compiling])
        if not self.is_complete:
            await asyncio.to_thread(self._progress.look)
            return
        # The coordinator updates the archive only at intervals: the last games would be missing.
        await asyncio.to_thread(following.follow, self._store, self._stop.is_set)
        await asyncio.to_thread(_tell, self._store, self.tournaments)
        if not self._arguments.once:
            self._advise()
            await self._stop.wait()

    async def _begin(self, family: str, bots: Sequence[str]) -> None:
        is_whole = bots is STEPS[-1]
        if is_whole:
            await asyncio.to_thread(_furnish, self._arena, family)
        tournament = await asyncio.to_thread(self._tournament_of, family, is_whole)
        self._progress.add(tournament, await asyncio.to_thread(self._store.results.last_commit_of, tournament.id))
        self._arena.wake()

    def _tournament_of(self, family: str, is_whole: bool) -> TournamentItem:
        """Return the tournament of a demo that ended early, or a new one, which starts at once.

        It is of all sample bots, or of the first two only.
        """
        name = f"{PREFIX}{load(family).title}{'' if is_whole else FIRST_GAMES}"
        for tournament in self._store.tournaments.in_states("scheduled", "running", "draining"):
            if tournament.name == name:
                return tournament
        document = {
            "name": name,
            "family": family,
            "games": self._arguments.games,
            "time_control": self._arguments.tc,
            "seed": 1,
            "entries": {"bots": [version.name for version in self._versions[: None if is_whole else len(STEPS[0])]]},
            "adjudication": {"max_plies": MAX_PLIES},
            "limits": {"margin_ms": 50},
        }
        return create(self._store, document, self._store.samples.ensure_owner(), datetime.now(UTC))

    def _advise(self) -> None:
        """Tell that all games are played, and what to try next."""
        address = self._address
        serve = shlex.join(["arena", "serve", *given_words(self._arguments, "data", "bind", "port")])
        output.note(
            f"all games are played; this process plays what is asked for until Ctrl-C; pages: {address}",
            f"play against a bot:    {address}/play",
            f"write a bot:           arena new-bot python {self._names[0]} mybot",
            f"read on:               {address}/docs/",
            f"to continue later:     {serve}",
        )


def _prepare(store: Store, family: str) -> list[Version]:
    """Add the sample bots and the champion's levels, and to a new arena a weekly cup. Return the players."""
    variants = {name: tuple(variant.name for variant in load(name).variants) for name in families()}
    made = store.samples.ensure_all(variants)
    owner = store.samples.ensure_owner()
    if not store.schedules.all():
        document = {
            "name": f"{CUP} {{date}}",
            "family": family,
            "format": "knockout",
            "games": 2,
            "time_control": "1+0.05",
            "entries": {"newest": True},
            "schedule": {"cron": "0 18 * * SUN", "timezone": "UTC"},
        }
        cron.create(store, document, owner, datetime.now(UTC))
    return [made[name] for name in SAMPLES if name in made]


def _furnish(arena: Arena, family: str) -> None:
    """Add a collection of games, and what the features bring. Nothing is added twice."""
    for furnish in feature.loaded(feature.enabled(arena.settings.disabled_features, "furnish"), "furnish"):
        furnish(arena, [family])
    file = GAMES / f"{family}.txt"
    if file.exists():  # a family that a package adds has none
        rules = load(family)
        text = file.read_text(encoding="utf-8")
        store_collection(arena, read_text(text, rules.settle(rules.variants[0].name), None), COLLECTION)


def _tell(store: Store, tournaments: list[int]) -> None:
    """Print a table for each tournament. Raises CommandError if the stored ratings do not follow from the games."""
    for tournament in map(store.tournaments.get, tournaments):
        if not tournament.name.endswith(FIRST_GAMES):
            _show(store, tournament.family, tournament.id)
    output.text("rating = mu - 3 sigma (TrueSkill), of all games so far; the rest of this demo")
    if wrong := store.ratings.check():
        raise CommandError(f"the stored ratings do not follow from the games: {wrong[0]}", Exit.FAILED)


class _Progress:
    """Prints a line for each recorded result."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen: dict[int, int] = {}
        self._shown: dict[int, int] = {}

    @property
    def tournaments(self) -> list[int]:
        """Tournaments that have started."""
        return list(self._seen)

    def add(self, tournament: TournamentItem, last_commit: int) -> None:
        """Add a tournament whose results after that commit are to be shown."""
        self._seen[tournament.id], self._shown[tournament.id] = last_commit, tournament.finished_games

    def look(self) -> bool:
        """Print the new results; return whether all started tournaments are over."""
        states = [self._store.tournaments.get(number) for number in self.tournaments]
        for tournament in states:
            number = tournament.id
            for line in self._store.results.committed(number, self._seen[number], 500):
                self._seen[number] = line.commit_number or 0
                self._shown[number] += 1
                count = f"{tournament.family} {self._shown[number]}/{tournament.planned_games}"
                show_result(self._store.games.record(line.id), count, wants_logs=False)
        return all(tournament.state in ("finished", "cancelled") for tournament in states)


def _show(store: Store, family: str, tournament_id: int) -> None:
    """Print the ratings and results of a tournament."""
    scored = {line.name: line for line in standing(StoredTournament.get(store, tournament_id)).lines if line.games}
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
async def _pages(context: WebContext, host: str, port: int) -> AsyncIterator[str]:
    """Serve pages that show the games live; yield their address. Raises CommandError."""
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
