"""Fixtures: a server with content on every page, and Chromium to visit it.

Browser tests are skipped without Chromium, and fail instead under ARENA_FORBID_SKIPS=1.
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
from tests.arena.pages.stage import Stage, restore
from tests.bare import is_bare

CHROMIUM = "/usr/bin/chromium"
BROWSER_TIMEOUT_MS = 60_000
"""Timeout of everything a test waits for: several Chromiums share a processor."""
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
    """A running server and its content."""

    server: Server
    stage: Stage
    pages: list[str] = field(default_factory=list)
    private: list[str] = field(default_factory=list)
    fetched: dict[str, tuple[int, str, int]] = field(default_factory=dict)
    """Pages at their first read: status, text, bytes transferred."""

    @property
    def url(self) -> str:
        return self.server.url


@dataclass
class Witness:
    """Violations of a page: console errors, requests to other hosts."""

    url: str
    faults: list[str] = field(default_factory=list)

    def watch(self, page: Any) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.faults.append(f"page error: {error}"))
        page.on("request", self._request)

    def _console(self, message: Any) -> None:
        # A busy browser shows the page before the font has come, and warns that it was loaded for nothing.
        if message.type in ("error", "warning") and "was preloaded using link preload" not in message.text:
            self.faults.append(f"{message.type}: {message.text} at {message.location}")

    def _request(self, request: Any) -> None:
        if not request.url.startswith((self.url, "data:", "about:")):
            self.faults.append(f"a request to {request.url}")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, filled_template: Path) -> Iterator[Site]:
    """One server for all read-only tests."""
    folder = tmp_path_factory.mktemp("site")
    stage = restore(filled_template, folder)
    server = Server(stage.store, settings_in(folder))
    server.unlimited()
    yield Site(server, stage)
    server.close()
    stage.store.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[Server]:
    """A server of an empty arena, for tests that fill it themselves."""
    folder = tmp_path_factory.mktemp("server")
    shutil.copy(sqlite_template, folder / "arena.sqlite3")
    store = Store.in_folder(folder)
    opened = Server(store, settings_in(folder))
    opened.unlimited()
    yield opened
    opened.close()
    store.close()


class Chromium:
    """Chromium, driven by Playwright; restarted after a crash.

    Playwright keeps an event loop running, with which `asyncio.run` would refuse to work. So the loop is registered
    only while a test uses the browser.
    """

    def __init__(self, playwright: Any) -> None:
        self._playwright = playwright
        self._loop = asyncio.get_running_loop()
        self._browser = self._launch()
        self._shared: Any = None
        self.rest()

    def _launch(self) -> Any:
        return self._playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS), timeout=BROWSER_TIMEOUT_MS)

    def wake(self) -> Chromium:
        """Enable the browser until `rest`."""
        asyncio._set_running_loop(self._loop)
        if not self._browser.is_connected():
            self._browser, self._shared = self._launch(), None
        return self

    def rest(self) -> None:
        """Unregister the event loop, so that other code can use its own."""
        asyncio._set_running_loop(None)

    def close(self) -> None:
        """Stop the browser."""
        self.wake()._browser.close()

    def profile(self, **words: Any) -> Any:
        """Return a new profile; its process needs about a second to start."""
        found = self._browser.new_context(reduced_motion="reduce", **words)
        found.set_default_timeout(BROWSER_TIMEOUT_MS)
        return found

    def shared(self) -> Any:
        """Return the profile shared by tests without special needs. A page kept open in it keeps its process alive."""
        if self._shared is None:
            self._shared = self.profile()
            resting = self._shared.new_page()
            resting.route("**", lambda route: route.fulfill(body=""))
            resting.goto("http://127.0.0.1/")
        return self._shared

    def tidy(self, page: Any) -> None:
        """Close a page of the shared profile and clear its storage; close the profile if that fails."""
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
    """One browser for all tests of this session (and worker)."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if is_bare() or not Path(CHROMIUM).exists():
        pytest.skip(f"no Chromium at {CHROMIUM}; install the package chromium")
    with sync_api.sync_playwright() as playwright:
        sync_api.expect.set_options(timeout=BROWSER_TIMEOUT_MS)
        started = Chromium(playwright)
        yield started
        started.close()


@pytest.fixture
def browser(chromium: Chromium) -> Iterator[Chromium]:
    """The browser, enabled during the test."""
    try:
        yield chromium.wake()
    finally:
        chromium.rest()


@contextmanager
def window(
    browser: Chromium, width: int = 1280, height: int = 900, *, is_apart: bool = False, **words: Any
) -> Iterator[Any]:
    """Return a page in a new profile if options or isolation are requested, else in the shared, empty one."""
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
    """Check that no page logs an error or contacts another host."""
    found = Witness(site.url)
    yield found
    assert not found.faults


@pytest.fixture
def page(browser: Chromium, witness: Witness) -> Iterator[Any]:
    """A large window, checked by the witness."""
    with window(browser) as found:
        witness.watch(found)
        yield found
