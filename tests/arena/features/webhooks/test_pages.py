"""Webhooks on the pages of administrators: the same as by command, but for private addresses."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import pytest

from arena.clock import now
from arena.documents.service import AuditQuery
from arena.features.webhooks.store import Webhooks
from arena.features.webhooks.tables import Webhook, WebhookDelivery
from tests.arena.api.server import Reply, Server
from tests.arena.features.webhooks.test_sender import SECRET, Club, club
from tests.arena.pages.conftest import window
from tests.arena.pages.test_organise import logged_in, words

__all__ = ["club"]


@pytest.fixture(scope="module")
def admin(server: Server) -> str:
    """The session of an administrator."""
    server.person("root", "admin")
    return logged_in(server, "root")


def send(server: Server, cookie: str, path: str, **fields: str) -> Reply:
    shown = server.get("/account", headers={"Cookie": cookie}).body.decode()
    token = re.search(r'name="csrf" value="([^"]+)"', shown)
    assert token
    headers = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}
    return server.post(path, data=urlencode({"csrf": token[1], **fields}).encode(), headers=headers)


def private_hook(server: Server, club: Club, status: int = 200) -> Webhook:
    """A webhook as the operator adds it on the machine of the arena."""
    hook = Webhook(url=club.url(status), form="json", secret=SECRET, news=["end"], is_private_allowed=True)
    return Webhooks(server.store).add(hook)


def test_administrator_adds_tests_and_removes_a_webhook(server: Server, admin: str, browser: Any) -> None:
    name, _, secret = admin.partition("=")
    with window(browser, 320, is_apart=True) as page:
        page.context.add_cookies([{"name": name, "value": secret, "url": server.url}])
        page.goto(f"{server.url}/account?lang=fr#bots")
        page.click("text=Webhooks")
        page.fill("[name=url]", "https://127.0.0.1/arena")
        page.uncheck("[name=news-leader]")
        page.click("main button:has-text('Ajouter')")
        assert re.fullmatch(r"whsec_[A-Za-z0-9+/=]{44}", page.inner_text("[role=status] pre"))
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        row = page.inner_text("tbody")
        assert "https://127.0.0.1/arena" in row
        assert "un tournoi est terminé" in row
        assert "une autre version" not in row
        page.click("text=Envoyer un essai")
        page.click("text=Envoyer un essai")
        assert "127.0.0.1 n’est pas une adresse publique" in page.inner_text("[role=alert]")
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        page.click("text=Le supprimer")
        page.get_by_text("Il n’y a pas encore de webhook.").wait_for()
    actions = {(line.action, line.user) for line in server.store.audit.page(AuditQuery()).items}
    assert {("webhook.add", "root"), ("webhook.remove", "root")} <= actions


def test_test_says_whether_it_was_accepted(server: Server, admin: str, club: Club) -> None:
    good, bad = private_hook(server, club), private_hook(server, club, 500)
    assert "The test was accepted: HTTP 200" in words(send(server, admin, f"/webhooks/{good.id}/test"))
    assert "The test was not accepted: HTTP 500" in words(send(server, admin, f"/webhooks/{bad.id}/test"))
    assert [path for path, *_ in club.requests] == ["/200", "/500"]


def test_log_shows_deliveries_with_their_problem(server: Server, admin: str, club: Club) -> None:
    hook, stored = private_hook(server, club), Webhooks(server.store)
    with server.store.writing() as session:
        news = {"kind": "end", "text": "<i>cup</i> is finished", "path": "/", "data": {}}
        session.add(WebhookDelivery(hook_id=hook.id, key="end 1", news=news, next_at=now()))
    ((_, delivery),) = stored.due(9)
    stored.note(delivery.id, 503, "HTTP 503")
    shown = words(server.get(f"/webhooks/{hook.id}", headers={"Cookie": admin}))
    assert re.search(r"waiting 1 503 <i>cup</i> is finished HTTP 503", shown), shown
    stored.remove(hook.id)
    assert server.get(f"/webhooks/{hook.id}", headers={"Cookie": admin}).status == 404


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"url": "club.example", "news-end": "1", "form": "json"}, "expected https://HOST/PATH"),
        ({"url": "https://club.example/", "news-end": "1", "form": "xml"}, "Invalid form or kind of news"),
        ({"url": "https://club.example/", "form": "json"}, "No kind of news was chosen"),
    ],
)
def test_wrong_fields_are_named_above_the_form(
    server: Server, admin: str, fields: dict[str, str], problem: str
) -> None:
    before = len(Webhooks(server.store).all())
    reply = send(server, admin, "/webhooks", **fields)
    assert (reply.status, problem in words(reply)) == (422, True)
    assert f'value="{fields["url"]}"' in reply.body.decode()
    assert len(Webhooks(server.store).all()) == before


def test_others_may_neither_see_nor_change_webhooks(server: Server, club: Club) -> None:
    hook = private_hook(server, club)
    assert server.get("/webhooks").headers["Location"] == "/login?next=/webhooks"
    server.person("olga", "organiser")
    cookie = logged_in(server, "olga")
    assert "/webhooks" not in server.get("/account", headers={"Cookie": cookie}).body.decode()
    for path in ("/webhooks", f"/webhooks/{hook.id}"):
        assert server.get(path, headers={"Cookie": cookie}).status == 403
    for path in ("/webhooks", f"/webhooks/{hook.id}/test", f"/webhooks/{hook.id}/remove"):
        assert send(server, cookie, path, url="https://club.example/").status == 403
    assert Webhooks(server.store).get(hook.id).url == hook.url
    assert not club.requests
