"""`arena serve`: the web server and, without `--no-referee`, the referee, as tasks of one event loop.

The first Ctrl-C (or SIGTERM) shuts down cleanly: it refuses new requests, closes streams, and finishes or requeues
running games. The second one does not wait for them.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.cli.server.referee import (
    ServiceArguments,
    act,
    opened_executor,
    place_of,
    player_of,
    try_sandbox,
    unable_to_serve,
)
from arena.cli.source.database import open_store, options_of
from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError
from arena.cli.terminal.fields import option
from arena.cli.terminal.interrupt import heard

if TYPE_CHECKING:
    from aiohttp import web

    from arena.config import Settings
    from arena.events.bus import EventBus
    from arena.http.server import Runner
    from arena.metrics import Metrics
    from arena.store import Store

THREADS = 16
"""Threads for what blocks (the store, passwords, bundles): more would only wait for the database."""
SCHEMA_S = 5.0
"""How often pages look whether the database was upgraded under them: an old program has no business in a new schema."""
CLOSE_TIMEOUT_S = 10
"""How long answers under way may take to finish."""


@dataclass(frozen=True, kw_only=True)
class ServeArguments(ServiceArguments):
    """Arguments of `arena serve`, which override the environment and `arena.toml`."""

    bind: str | None = option("address to listen on (default 127.0.0.1)", metavar="HOST")
    port: int | None = option("port to listen on (default 8000, 0 = a free one)", metavar="PORT", type=argument.port)
    no_referee: bool = option("serve pages and interface only; play and record nothing", default=False)


def run(arguments: ServeArguments) -> None:
    """Open everything, serve until a signal comes, close everything."""
    from arena import log
    from arena.submission.bundle_store import BundleError

    settings = arguments.read(bind=arguments.bind, port=arguments.port, referee=False if arguments.no_referee else None)
    log.configure(settings.log_format, settings.log_level)
    try_sandbox(settings)
    store = open_store(settings)
    try:
        asyncio.run(_serve(settings, store))
    except BundleError as error:
        raise CommandError(str(error)) from None
    finally:
        store.close()


async def _serve(settings: Settings, store: Store) -> None:
    from arena.events.factory import open_bus
    from arena.metrics import Metrics

    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, "blocking"))
    metrics = Metrics()
    async with open_bus(settings, metrics) as bus:
        await _with_bus(settings, store, bus, metrics)


async def _with_bus(settings: Settings, store: Store, bus: EventBus, metrics: Metrics) -> None:
    from arena.app import build, context_of
    from arena.http.server import Runner

    context = context_of(store, settings, bus, metrics)
    async with contextlib.AsyncExitStack() as stack:
        if settings.referee:  # before the pages are built, so that slots start meanwhile
            opening = await stack.enter_async_context(opened_executor(settings, bus, context.arena.spool))
            await asyncio.sleep(0)  # lets the task begin
        app = build(context)
        runner = Runner(app, shutdown_timeout=CLOSE_TIMEOUT_S)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        with heard(context.stopping) as interrupts:
            await _listen(runner, settings)
            settled = asyncio.Event()
            reading = asyncio.create_task(_read_ahead(app, settled))
            stack.push_async_callback(asyncio.wait, [reading])
            stack.callback(settled.set)
            output.note("first Ctrl-C ends in good order, the second at once")
            if settings.referee:
                spool, door = context.arena.spool, context.host
                await act(
                    settings,
                    store,
                    bus,
                    metrics,
                    interrupts,
                    spool=spool,
                    opening=opening,
                    open_door=door,
                    settled=settled,
                )
            else:
                settled.set()
                player = await asyncio.to_thread(player_of, store)
                advice = "" if player else f": start `arena referee{options_of(settings)}` for that"
                output.note(f"pages only; {player or 'nothing'} plays the games of {place_of(settings)}{advice}")
                await _until(context.stopping, store)
    output.note(f"the server has ended; games and ratings are kept in {place_of(settings)}")


async def _read_ahead(app: web.Application, settled: asyncio.Event) -> None:
    """Prepare pages once the coordinator has settled: both at once would delay the first game by seconds."""
    from arena.app import prepare

    await settled.wait()
    await asyncio.to_thread(prepare, app)


async def _until(stop: asyncio.Event, store: Store) -> None:
    """Wait until `stop` is set. Raises SchemaError if the database is upgraded meanwhile."""
    from arena.errors import StoreUnavailableError

    while not stop.is_set():
        with contextlib.suppress(StoreUnavailableError):
            await asyncio.to_thread(store.require)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), SCHEMA_S)


async def _listen(runner: Runner, settings: Settings) -> None:
    try:
        await runner.listen(settings.bind, settings.port)
    except OSError as error:
        advice = "choose another --port, 0 for a free one, or another --bind"
        raise unable_to_serve(settings.bind, settings.port, error, advice) from None
    for host, port, *_ in runner.addresses:
        output.text(f"http://{f'[{host}]' if ':' in host else host}:{port}")
    sys.stdout.flush()  # the parent process may be waiting for the address
