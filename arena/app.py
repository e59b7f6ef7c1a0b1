"""The web application: the JSON interface, the pages and their middleware, over one context."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import AsyncIterator
from contextlib import suppress

from aiohttp import web

from arena.api import connection, handle, openapi, routes
from arena.config import Settings
from arena.config_file import read_settings
from arena.errors import StoreError
from arena.events.bus import Bus, EventBus
from arena.events.live import Live
from arena.http import health
from arena.http.kept_files import KEPT_FILES, KeptFiles
from arena.http.middleware import add_headers, middleware
from arena.http.request_context import CONTEXT, WebContext
from arena.http.server import headers_middleware
from arena.metrics import Metrics
from arena.pages import session, site
from arena.pages.routes import problem
from arena.services import leaderboard
from arena.services.arena import Arena
from arena.store import Store

SWITCH_S = 0.001
"""How long a thread computes while another one waits."""


def context_of(
    store: Store, settings: Settings | None = None, bus: EventBus | None = None, metrics: Metrics | None = None
) -> WebContext:
    """Build the context of one web process. Without a bus it has no live view of running games."""
    settings = settings or read_settings()
    bus = bus or Bus()
    arena = Arena(store, settings, bus)
    _ = arena.bundles  # fail at the start if bundles cannot be stored
    return WebContext(arena, Live(bus), metrics or Metrics())


def build(context: WebContext) -> web.Application:
    app = web.Application(
        middlewares=[headers_middleware, middleware(problem.page)], client_max_size=session.FORM_BYTES
    )
    app[CONTEXT], app[KEPT_FILES] = context, KeptFiles()
    app.on_cleanup.append(app[KEPT_FILES].close)
    disabled = context.settings.disabled_features
    table = routes.table(disabled)
    handle.mount(app, table, routes.pages(disabled))
    app.router.add_get(connection.PATH, connection.connect, allow_head=False)
    app.add_routes([*health.routes, *session.routes])
    openapi.mount(app, table)
    site.setup(app, disabled)  # last: /{family} matches every other address of one segment
    app.on_response_prepare.append(add_headers)
    app.cleanup_ctx.append(_listening)
    app.on_shutdown.append(_close_streams)
    return app


def prepare(app: web.Application) -> None:
    """Prepare pages and leaderboards, so that the first visitor does not wait, and this process for many visitors."""
    site.warm_up(app)
    with suppress(StoreError):  # the first request reads it, or reports the error
        leaderboard.read_ahead(app[CONTEXT].arena)
    gc.collect()
    gc.freeze()  # what is loaded by now stays: no collection has to look through it
    # While threads compute, the event loop waits for each of them in turn (5 ms by default), several times a request.
    sys.setswitchinterval(SWITCH_S)


def build_door(context: WebContext) -> web.Application:
    """Build an application that only accepts remote bots, for a coordinator without pages."""
    app = web.Application(middlewares=[headers_middleware, middleware(problem.page)])
    app[CONTEXT] = context
    app.router.add_get(connection.PATH, connection.connect, allow_head=False)
    app.on_response_prepare.append(add_headers)
    app.on_shutdown.append(_close_streams)
    return app


async def _listening(app: web.Application) -> AsyncIterator[None]:
    task = asyncio.create_task(app[CONTEXT].live.run())
    yield
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    await asyncio.to_thread(app[CONTEXT].arena.board_engine.close)


async def _close_streams(app: web.Application) -> None:
    app[CONTEXT].closing.set()
