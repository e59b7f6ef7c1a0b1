"""A server with a stage to look at, and Chromium to look with.

Tests with a browser are skipped where there is none, and fail there under ARENA_FORBID_SKIPS=1.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from arena.store import Store
from tests.arena.api.server import Server, settings_in
from tests.arena.pages.stage import Stage, fill
from tests.bare import is_bare

CHROMIUM = "/usr/bin/chromium"
PATIENCE_MS = 60_000
"""For everything a test waits for: several Chromiums share a processor."""
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass
class Site:
    """A running server and what is on it."""

    server: Server
    stage: Stage
    pages: list[str] = field(default_factory=list)
    private: list[str] = field(default_factory=list)
    fetched: dict[str, tuple[int, str, int]] = field(default_factory=dict)
    """Pages as they were read first: status, text, bytes on the way."""

    @property
    def url(self) -> str:
        return self.server.url


@dataclass
class Witness:
    """What a page did that it must not: console errors, requests to others."""

    url: str
    faults: list[str] = field(default_factory=list)

    def watch(self, page: Any) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.faults.append(f"page error: {error}"))
        page.on("request", self._request)

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"{message.type}: {message.text} at {message.location}")

    def _request(self, request: Any) -> None:
        if not request.url.startswith((self.url, "data:", "about:")):
            self.faults.append(f"a request to {request.url}")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One server for all tests that only look."""
    folder = tmp_path_factory.mktemp("site")
    store = Store.in_folder(folder)
    stage = fill(store)
    server = Server(store, settings_in(folder))
    server.unlimited()
    yield Site(server, stage)
    server.close()
    store.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[Server]:
    """A server of an empty arena, for tests that fill it with their own."""
    folder = tmp_path_factory.mktemp("server")
    shutil.copy(sqlite_template, folder / "arena.sqlite3")
    store = Store.in_folder(folder)
    found = Server(store, settings_in(folder))
    found.unlimited()
    yield found
    found.close()
    store.close()


class Chromium:
    """Chromium, driven by Playwright; started anew when it has crashed.

    Playwright's event loop counts as running as long as Playwright is there, and `asyncio.run` would refuse to work: so
    it counts only while a test looks.
    """

    def __init__(self, playwright: Any) -> None:
        self._playwright = playwright
        self._loop = asyncio.get_running_loop()
        self._browser = self._launch()
        self._shared: Any = None
        self.rest()

    def _launch(self) -> Any:
        return self._playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS), timeout=PATIENCE_MS)

    def wake(self) -> Chromium:
        """Let it be used, until `rest`."""
        asyncio._set_running_loop(self._loop)
        if not self._browser.is_connected():
            self._browser, self._shared = self._launch(), None
        return self

    def rest(self) -> None:
        """Let others have event loops."""
        asyncio._set_running_loop(None)

    def close(self) -> None:
        """End it."""
        self.wake()._browser.close()

    def profile(self, **words: Any) -> Any:
        """A fresh profile, with a process of its own that takes a second to get going."""
        found = self._browser.new_context(reduced_motion="reduce", **words)
        found.set_default_timeout(PATIENCE_MS)
        return found

    def shared(self) -> Any:
        """The profile of whoever needs no other. A page that rests in it keeps its process."""
        if self._shared is None:
            self._shared = self.profile()
            resting = self._shared.new_page()
            resting.route("**", lambda route: route.fulfill(body=""))
            resting.goto("http://127.0.0.1/")
        return self._shared

    def tidy(self, page: Any) -> None:
        """Close a page of the shared profile and forget what it left there; the profile too where that fails."""
        from playwright.sync_api import Error

        context = page.context
        try:
            if page.url.startswith("http"):
                page.evaluate("localStorage.clear()")
            page.close()
            context.clear_cookies()
            context.clear_permissions()
            context.set_offline(False)
        except Error:
            self._shared = None
            context.close()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    """One for all tests of this session (and worker)."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if is_bare() or not Path(CHROMIUM).exists():
        pytest.skip(f"no Chromium at {CHROMIUM}; install the package chromium")
    with sync_api.sync_playwright() as playwright:
        sync_api.expect.set_options(timeout=PATIENCE_MS)
        found = Chromium(playwright)
        yield found
        found.close()


@pytest.fixture
def browser(chromium: Chromium) -> Iterator[Chromium]:
    """The browser, while a test looks."""
    try:
        yield chromium.wake()
    finally:
        chromium.rest()


@contextmanager
def window(
    browser: Chromium, width: int = 1280, height: int = 900, *, is_apart: bool = False, **words: Any
) -> Iterator[Any]:
    """A page: in a fresh profile with these words, or to be apart; otherwise in the shared one, which is empty."""
    is_fresh = is_apart or bool(words)
    context = browser.profile(**words) if is_fresh else browser.shared()
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": height})
    try:
        yield page
    finally:
        if is_fresh:
            context.close()
        else:
            browser.tidy(page)


@pytest.fixture
def witness(site: Site) -> Iterator[Witness]:
    """Sees to it that no page complains and none asks another host."""
    found = Witness(site.url)
    yield found
    assert not found.faults


@pytest.fixture
def page(browser: Chromium, witness: Witness) -> Iterator[Any]:
    """A large window that the witness watches."""
    with window(browser) as found:
        witness.watch(found)
        yield found
