"""A server for tests: the whole application on its own port, with its event loop in a thread."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import structlog

from arena.app import build, context_of
from arena.config import Settings
from arena.config_file import read_settings
from arena.credentials import digest_of, new_token
from arena.http.rate_limit import Rate, RateLimiter
from arena.http.request_context import WebContext
from arena.http.server import Runner
from arena.store import Store

T = TypeVar("T")
REQUEST_TIMEOUT_S = 60.0
"""Timeout of every request; generous, because tests share the processors."""


@dataclass(frozen=True)
class Reply:
    """A response."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    cookies: Sequence[str] = ()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.body.splitlines() if line]


class Server:
    """The application with a store, on 127.0.0.1."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store = store
        structlog.configure(logger_factory=structlog.ReturnLoggerFactory())  # commands under test own stdout
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()
        self.context, self.runner, self.port = self.call(self._start(store, settings))

    async def _start(self, store: Store, settings: Settings) -> tuple[WebContext, Runner, int]:
        context = context_of(store, settings)
        runner = Runner(build(context), shutdown_timeout=2)
        await runner.setup()
        await runner.listen("127.0.0.1", 0)
        port = runner.addresses[0][1]
        return context, runner, port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def call(self, coroutine: Any) -> Any:
        """Run a coroutine in the server's loop."""
        future: Future[Any] = asyncio.run_coroutine_threadsafe(coroutine, self.loop)
        return future.result(REQUEST_TIMEOUT_S)

    def soon(self, function: Callable[..., T], *arguments: Any) -> None:
        """Schedule a call in the server's loop."""
        self.loop.call_soon_threadsafe(function, *arguments)

    def unlimited(self) -> None:
        """Remove the rate limits."""
        for name in self.context.limiters:
            self.context.limiters[name] = RateLimiter(Rate(1e9, 10**9))

    def close(self) -> None:
        self.call(self.runner.cleanup())
        self.call(_end_tasks())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(REQUEST_TIMEOUT_S)
        self.loop.close()

    # -- asking ------------------------------------------------------------------------------------------------------

    def ask(
        self,
        method: str,
        path: str,
        *,
        token: str | None = None,
        body: Any = None,
        data: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send a request on a new connection. `body` is sent as JSON, `data` unchanged."""
        sent = dict(headers or {})
        if token:
            sent["Authorization"] = f"Bearer {token}"
        if body is not None:
            data = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=REQUEST_TIMEOUT_S)
        try:
            connection.request(method, path, data, sent)
            response = connection.getresponse()
            cookies = response.headers.get_all("Set-Cookie", [])
            return Reply(response.status, dict(response.headers), response.read(), cookies)
        finally:
            connection.close()

    def get(self, path: str, **words: Any) -> Reply:
        return self.ask("GET", path, **words)

    def post(self, path: str, **words: Any) -> Reply:
        return self.ask("POST", path, **words)

    def open(self, path: str, **headers: str) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """Open a stream. Read it line by line, then close the connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=REQUEST_TIMEOUT_S)
        connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        return connection, connection.getresponse()

    # -- people ------------------------------------------------------------------------------------------------------

    def person(self, name: str, role: str = "author", scopes: str | None = None) -> str:
        """Return a token of a user, who is created if needed."""
        from arena.errors import NotFoundError

        try:
            user = self.store.users.find(name)
        except NotFoundError:
            user = self.store.users.add(name, role)
        all_scopes = {"author": "read submit", "organiser": "read submit organise"}
        secret = new_token()
        wanted = scopes or all_scopes.get(role, "read submit organise admin worker")
        assert user.id is not None
        self.store.users.add_token(user.id, "test", digest_of(secret), wanted)
        return secret


def settings_in(folder: Path, **words: Any) -> Settings:
    """Return settings for a test, independent of the environment and without the engine of the analysis board."""
    return read_settings(None, data=folder, max_upload_bytes=64 * 1024, **{"analysis_board_nodes": 0, **words})


async def _end_tasks() -> None:
    """Cancel all other tasks of this loop, as `asyncio.run` does: aiohttp leaves tasks of connections that were lost.

    They would be reported when they are collected as garbage, within a later test.
    """
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
