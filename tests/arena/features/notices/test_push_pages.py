"""The switch of the page that makes a browser a device, and the worker that shows what arrives."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from yarl import URL

from arena.features.notices import pusher
from arena.http import outgoing
from arena.store import Store
from tests.arena.api.server import Server, settings_in
from tests.arena.features.notices.test_mail import lose
from tests.arena.features.notices.test_mail_pages import cookie, inbox, server
from tests.arena.features.notices.test_push import Browser
from tests.arena.features.webhooks.test_sender import Club, club
from tests.arena.field import Field
from tests.arena.pages.conftest import window
from tests.arena.pages.test_organise import logged_in, words

__all__ = ["club", "cookie", "inbox", "server"]

# Chromium here has no account at a push service: its answer is replaced, all the rest is real.
SUBSCRIBE = """
PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
  if (!userVisibleOnly || applicationServerKey.length !== 87) throw new Error("wrong options");
  const bytes = (text) => Uint8Array.from(
    atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  const getKey = (name) => bytes(name === "auth" ? GIVEN.secret : GIVEN.public_key).buffer;
  return { endpoint: GIVEN.endpoint, getKey };
};
"""
# `wait_for_function` takes the promise of an asynchronous function for a true answer, and the page is outside the
# worker's scope, so that `navigator.serviceWorker.ready` never comes.
UNTIL = """async (state) => {
  for (let attempt = 0; attempt < 3000; attempt += 1) {
    const [registration] = await navigator.serviceWorker.getRegistrations();
    if (state === "active" && registration?.active) return true;
    const [shown] = state === "shown" ? await registration.getNotifications() : [];
    if (shown) return `${shown.title} ${shown.body} ${shown.tag}`;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return "";
}"""


def prepare(page: Any, server: Server, cookie: str, owner: Browser) -> None:
    """Log in, and let the push service answer with an address at push.example and the keys of `owner`."""
    given, (name, _, secret) = owner.subscription("https://push.example/201"), cookie.partition("=")
    page.context.add_cookies([{"name": name, "value": secret, "url": server.url}])
    document = {"endpoint": given.endpoint, "public_key": given.public_key, "secret": given.secret}
    page.add_init_script(f"const GIVEN = {json.dumps(document)};{SUBSCRIBE}")


def test_browser_becomes_a_device_and_shows_what_arrives(server: Server, cookie: str, browser: Any) -> None:
    with window(browser, 320, is_apart=True, permissions=["notifications"]) as page:
        prepare(page, server, cookie, Browser())
        devtools, registrations = page.context.new_cdp_session(page), []
        devtools.on(
            "ServiceWorker.workerRegistrationUpdated", lambda event: registrations.extend(event["registrations"])
        )
        devtools.send("ServiceWorker.enable")
        page.goto(f"{server.url}/notices")
        page.click("text=Notify me on this device")
        page.get_by_text("push.example").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        page.evaluate("navigator.serviceWorker.getRegistrations().then(([one]) => one.active || one.update())")
        assert page.evaluate(UNTIL, "active")
        message = {"title": "zeta v3", "body": "forfeit: time", "address": "/games/1"}
        devtools.send(
            "ServiceWorker.deliverPushMessage",
            {
                "origin": server.url,
                "registrationId": registrations[-1]["registrationId"],
                "data": json.dumps(message),
            },
        )
        assert page.evaluate(UNTIL, "shown") == "zeta v3 forfeit: time /games/1"
        page.click("#devices li button")
        page.get_by_text("push.example").wait_for(state="detached")


def test_arena_of_this_machine_sends_what_happens_while_its_page_is_closed(
    sqlite_store: Store, tmp_path: Path, browser: Any, club: Club, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a demo: no mail, no address, but a key of its own. The push service is a server of this test."""
    post = outgoing.post

    async def to_club(url: str, body: bytes, headers: Mapping[str, str]) -> tuple[int | None, str]:
        assert URL(url).host == "push.example"
        return await post(club.url(int(URL(url).name)), body, headers, is_private_allowed=True)

    monkeypatch.setattr(pusher.outgoing, "post", to_club)
    field, owner = Field(sqlite_store), Browser()
    server = Server(sqlite_store, settings_in(tmp_path))
    server.unlimited()
    try:
        with window(browser, 1280, is_apart=True, permissions=["notifications"]) as page:
            prepare(page, server, logged_in(server, "zoe"), owner)
            page.goto(f"{server.url}/notices")
            page.click("text=Notify me on this device")
            page.get_by_text("push.example").wait_for()
        lose(field)
        with ThreadPoolExecutor(1) as coordinator:  # the browser's driver has a loop in this thread
            work = pusher.DevicePusher(sqlite_store, server.context.settings).work
            assert coordinator.submit(work, Event()).result()
    finally:
        server.close()
    ((path, _, body),) = club.requests
    assert (path, owner.read(body)["body"]) == ("/201", "forfeit: time")


@pytest.mark.parametrize("path", ["/notices/devices/1/remove", "/notices/devices"])
def test_devices_need_a_login(server: Server, path: str) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    reply = server.post(path, data=b"", headers=headers)
    assert (reply.status, "logged in" in words(reply)) == (401, True)
