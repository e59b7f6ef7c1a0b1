"""Notifications of the browser about notices of the account."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from arena.clock import now
from referee.bot.file import BotFile
from tests.arena.api.server import Server
from tests.arena.pages.conftest import Chromium, window
from tests.arena.pages.test_organise import logged_in

# Headless browsers show no notification: this one keeps what it would show.
_RECORDER = """
window.told = [];
window.Notification = class {
  static permission = "default";
  static async requestPermission() { return Notification.permission = window.answer ?? "granted"; }
  constructor(title, { body, tag }) { window.told.push(`${title} | ${body} | ${tag}`); }
};
"""


def _member(server: Server, name: str) -> str:
    """Add a user and return their session cookie."""
    server.store.users.add(name, role="author")
    return logged_in(server, name)


def _checked(server: Server, owner: str, name: str) -> int:
    """Add a version whose check has just failed."""
    bot = server.store.bots.add(name, server.store.users.find(owner).id or 0)
    version = server.store.versions.add(
        bot.id or 0, BotFile(("./bot",), families=("loa",)), bundle="ab" * 32, size_bytes=9
    )
    assert server.store.checks.claim() is not None
    server.store.checks.conclude(version.id or 0, report={}, variants={}, capabilities={}, problem="no answer")
    return version.id or 0


def _visit(page: Any, server: Server, cookie: str, path: str) -> None:
    name, _, secret = cookie.partition("=")
    page.context.add_cookies([{"name": name, "value": secret, "url": server.url}])
    page.clock.install()
    page.goto(server.url + path)


def test_a_browser_notifies_of_notices_that_come_after_it_was_asked_to(browser: Chromium, server: Server) -> None:
    cookie = _member(server, "nina")
    _checked(server, "nina", "older")
    with window(browser, locale="fr-FR") as page:
        page.add_init_script(_RECORDER)
        _visit(page, server, cookie, "/account")
        with page.expect_response("**/account/notices.json"):
            page.get_by_role("button", name="Me prévenir dans ce navigateur").click()
        page.locator("[data-notify][aria-pressed=true]").wait_for()
        version = _checked(server, "nina", "newer")
        with page.expect_response("**/account/notices.json"):
            page.clock.fast_forward(30_000)
        page.wait_for_function("window.told.length")
        with page.expect_response("**/account/notices.json"):
            page.clock.fast_forward(30_000)
        told = page.evaluate("window.told")
        assert told == [f"newer v1 | vérification d’un bot\N{NARROW NO-BREAK SPACE}: échec | /submissions/{version}"]
        page.locator("[data-notify]").click()
        assert page.locator("[data-notify]").get_attribute("aria-pressed") == "false"
        assert page.evaluate("localStorage.getItem('arena-notified-until')") is None


def test_new_notice_appears_in_the_open_list(browser: Chromium, server: Server) -> None:
    cookie = _member(server, "nadia")
    with window(browser) as page:
        _visit(page, server, cookie, "/account")
        assert page.locator("#notices tbody tr").count() == 0
        version = _checked(server, "nadia", "fresh")
        page.clock.fast_forward(30_000)
        page.locator(f"#notices a[href='/submissions/{version}']").wait_for()
        assert page.locator("#notices strong").inner_text() == "Unread: 1."


def test_a_browser_that_blocks_notifications_says_so_on_the_switch(browser: Chromium, server: Server) -> None:
    cookie = _member(server, "otto")
    with window(browser, is_apart=True) as page:
        page.add_init_script(_RECORDER + 'window.answer = "denied";')
        _visit(page, server, cookie, "/account")
        page.locator("[data-notify]").click()
        switch = page.locator("[data-notify][disabled]")
        switch.wait_for()
        assert switch.get_attribute("aria-pressed") == "false"
        assert switch.inner_text() == "Notifications are blocked: allow them next to the address, then reload the page"


def test_unread_notices_are_listed_oldest_first_for_their_user_only(server: Server) -> None:
    cookie = _member(server, "rosa")
    assert server.get("/account/notices.json").status == 401
    first, second = _checked(server, "rosa", "one"), _checked(server, "rosa", "two")
    reply = server.get("/account/notices.json", headers={"Cookie": cookie})
    assert reply.headers["Cache-Control"] == "no-store"
    notices = json.loads(reply.body)
    assert [notice["address"] for notice in notices["items"]] == [f"/submissions/{first}", f"/submissions/{second}"]
    assert notices["items"][0]["at"] <= notices["items"][1]["at"] <= notices["now"] + 1
    server.store.notices.mark_read(server.store.users.find("rosa").id or 0, now() + timedelta(seconds=1))
    assert json.loads(server.get("/account/notices.json", headers={"Cookie": cookie}).body)["items"] == []


def test_the_switch_is_on_the_page_of_what_one_follows(server: Server) -> None:
    cookie = _member(server, "sven")
    _checked(server, "sven", "starred")
    headers = {"Cookie": cookie}
    assert b"data-notify" not in server.get("/bots/starred", headers=headers).body
    bot = server.store.bots.find("starred")
    server.store.follows.add(server.store.users.find("sven").id or 0, "bot", bot.id or 0)
    assert b"data-notify" in server.get("/bots/starred", headers=headers).body
