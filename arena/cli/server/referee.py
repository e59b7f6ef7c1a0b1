"""`arena referee`: schedule, play and record games as `arena serve` does, but without pages."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import TYPE_CHECKING

from arena.cli.server.coordinator_run import act, add_service, place_of
from arena.cli.terminal import output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.interrupt import heard

if TYPE_CHECKING:
    from arena.config import Settings
    from arena.coordinator.lobby import Lobby
    from arena.events.bus import EventBus
    from arena.metrics import Metrics
    from arena.store import Store


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_service(parser)
    parser.add_argument(
        "--sandbox",
        choices=("auto", "bwrap", "landlock", "rlimits", "none"),
        help="sandbox of the bots: auto, bwrap, landlock, rlimits or none (default auto)",
    )
    parser.add_argument(
        "--metrics", metavar="[HOST:]PORT", help="serve Prometheus metrics at this address (default: none)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run as the active referee or on standby until SIGTERM or Ctrl-C; a second signal aborts running games."""
    from arena.cli.source.database import open_store
    from arena.config import read_settings
    from arena.log import configure

    settings = read_settings(
        arguments.config,
        data=arguments.data,
        database=arguments.database,
        mqtt=arguments.mqtt,
        executor=arguments.executor,
        sandbox=arguments.sandbox,
        metrics=arguments.metrics,
        referee=True,
    )
    configure(settings.log_format, settings.log_level)
    store = open_store(settings)
    try:
        asyncio.run(_run(settings, store))
    finally:
        store.close()
    output.note(f"the referee has ended; games and ratings are kept in {place_of(settings)}")
    return Exit.DONE


async def _run(settings: Settings, store: Store) -> None:
    from arena.cluster.spool import Spool
    from arena.events.factory import open_bus
    from arena.metrics import Metrics

    metrics = Metrics()
    metrics.damaged.set_function(lambda: _is_damaged(store))
    with _offered(settings, metrics):
        async with open_bus(settings, metrics, has_pages=False) as bus:
            with heard(asyncio.Event()) as interrupts:
                door = partial(_door, settings, store, bus, metrics)
                await act(settings, store, bus, metrics, interrupts, spool=Spool(settings.spool_folder), open_door=door)


def _is_damaged(store: Store) -> bool:
    """Return whether the database is known to be damaged; False if it is unavailable."""
    from arena.errors import StoreError

    try:
        return bool(store.health.damage)
    except StoreError:
        return False


@contextlib.asynccontextmanager
async def _door(settings: Settings, store: Store, bus: EventBus, metrics: Metrics, lobby: Lobby) -> AsyncIterator[None]:
    """Admit remote bots through the web processes, if that is configured."""
    from arena.app import build_door, context_of
    from arena.http.server import Runner

    if settings.remote_address is None:
        yield
        return
    context = context_of(store, settings, bus, metrics)
    runner = Runner(build_door(context), shutdown_timeout=1)
    await runner.setup()
    host, port = settings.remote_address
    try:
        async with context.host(lobby):
            try:
                await runner.listen(host, port)
            except OSError as error:
                reason = error.strerror or error
                raise CommandError(
                    f"cannot accept remote bots on {host}:{port}: {reason}; set another remote_bind"
                ) from None
            yield
    finally:
        await runner.cleanup()


@contextlib.contextmanager
def _offered(settings: Settings, metrics: Metrics) -> Iterator[None]:
    """Serve metrics over HTTP, if that is configured."""
    from arena.metrics import offered

    if settings.metrics_address is None:
        yield
        return
    host, port = settings.metrics_address
    with contextlib.ExitStack() as stack:
        try:
            port = stack.enter_context(offered(metrics.registry, host, port))
        except OSError as error:
            raise CommandError(
                f"cannot serve metrics on {host}:{port}: {error.strerror or error}; choose another --metrics"
            ) from None
        output.note(f"metrics: http://{host}:{port}/metrics")
        yield
