"""A stranger's walk in a browser: from the front page to an account, a bot written there, and its first rating."""

from __future__ import annotations

import shutil
import signal
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena.cli.terminal.run import run
from arena.store import Store
from tests.arena.pages.conftest import Chromium, window
from tests.e2e.test_service import TIMEOUT_S, Process, processes

__all__ = ["processes"]


class Walker:
    """A person with a mouse: counts the clicks, and how long all takes."""

    def __init__(self, page: Any) -> None:
        self.page, self.clicks, self.begun = page, 0, time.monotonic()

    def click(self, role: str, name: str) -> None:
        self.page.get_by_role(role, name=name, exact=True).first.click()
        self.clicks += 1


@pytest.mark.long
@pytest.mark.timeout(900)  # a minute on an idle machine: a server starts its slots, a bot is checked and plays
def test_a_stranger_has_a_rated_bot_within_eight_clicks(
    tmp_path: Path, browser: Chromium, processes: list[Process]
) -> None:
    if not shutil.which("bwrap"):
        pytest.skip("needs bubblewrap")
    data = tmp_path / "data"
    assert run(["init", "--data", str(data), "--json"]) == 0
    with closing(Store.in_folder(data)) as store:  # the samples that search would take most of the time
        for bot in store.bots.page(limit=100).items:
            if bot.name not in ("random", "greedy"):
                store.bots.retire(bot.id)
    settings = {"ARENA_REGISTRATION": "open", "ARENA_LADDER_TIME_CONTROL": "1/move"}
    processes.append(Process(data, **settings))
    with window(browser, is_apart=True) as page:
        page.set_default_timeout(TIMEOUT_S * 1000)
        walker = Walker(page)
        page.goto(processes[0].url)
        walker.click("link", "Submit a bot")
        walker.click("link", "Create an account")
        page.get_by_label("Name", exact=True).fill("stranger")
        page.get_by_label("Password", exact=True).fill("correct horse battery")
        walker.click("button", "Create account")
        page.get_by_label("Name of the bot").first.fill("newcomer")
        walker.click("button", "Submit and check")
        page.get_by_role("heading", name="What next?").wait_for()
        walker.click("link", "See its rating")
        deadline = time.monotonic() + TIMEOUT_S
        while not page.locator("#ratings .wide th a").count():
            assert time.monotonic() < deadline, "no rating"
            page.reload()
        print(f"{walker.clicks} clicks, {time.monotonic() - walker.begun:.0f} s")
        assert walker.clicks <= 8
        page.go_back()
        walker.click("button", "Play 10 test games now")
        page.wait_for_url("**/tournaments/*")
        assert "newcomer v1 challenges greedy v1" in page.content()
    assert processes[0].end(signal.SIGTERM) == 0
