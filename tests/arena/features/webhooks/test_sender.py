"""Requests to webhooks: signed, to public addresses only, never along a redirect."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from arena.clock import now
from arena.features.webhooks.service import WebhookSender, post
from arena.features.webhooks.store import Webhooks
from arena.features.webhooks.tables import Webhook, WebhookDelivery
from arena.store import Store
from referee.rules.core import Termination
from tests.arena.field import Field, record_of

SECRET = "whsec_" + base64.b64encode(b"a secret of the club").decode()
NEWS = {"kind": "end", "text": "@everyone is finished", "path": "/tournaments/7", "data": {"tournament": 7}}


class Club(ThreadingHTTPServer):
    """A server that keeps the requests it gets; the path is the status of its answers."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, status: int) -> str:
        return f"http://127.0.0.1:{self.server_port}/{status}"


class Handler(BaseHTTPRequestHandler):
    server: Club

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append((self.path, headers, body))
        self.send_response(int(self.path[1:]))
        self.send_header("Location", self.server.url(200))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_request(self, *_: object) -> None:
        pass


@pytest.fixture
def club() -> Iterator[Club]:
    server = Club()
    yield server
    server.shutdown()
    server.server_close()


def sent(url: str, *, form: str = "json", private: bool = True, public_url: str = "") -> tuple[int | None, str]:
    hook = Webhook(url=url, form=form, secret=SECRET, news=[], is_private_allowed=private)
    delivery = WebhookDelivery(id=3, hook_id=1, key="end 7", news=NEWS, next_at=now())
    return asyncio.run(post(hook, delivery, public_url))


def test_request_is_signed_as_standard_webhooks_says(club: Club) -> None:
    assert sent(club.url(200), public_url="https://arena.example/") == (200, "")
    ((_, headers, body),) = club.requests
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    mine = base64.b64encode(hmac.new(b"a secret of the club", signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{mine}"
    assert (headers["webhook-id"], headers["content-type"]) == ("msg_3", "application/json")
    document = json.loads(body)
    assert document.pop("timestamp")
    assert document == {
        "type": "end",
        "text": NEWS["text"],
        "url": "https://arena.example/tournaments/7",
        "data": {"tournament": 7},
    }


def test_discord_gets_a_line_that_mentions_nobody(club: Club) -> None:
    assert sent(club.url(204), form="discord", public_url="https://arena.example") == (204, "")
    document = json.loads(club.requests[0][2])
    assert document == {
        "content": "@everyone is finished https://arena.example/tournaments/7",
        "allowed_mentions": {"parse": []},
    }


@pytest.mark.parametrize("status", [301, 302, 307, 308, 404, 500])
def test_redirects_and_errors_are_failures(club: Club, status: int) -> None:
    assert sent(club.url(status)) == (status, f"HTTP {status}")
    assert [path for path, *_ in club.requests] == [f"/{status}"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "127.1", "2130706433", "0"])
def test_private_addresses_are_refused_unless_allowed(club: Club, host: str) -> None:
    status, problem = sent(club.url(200).replace("127.0.0.1", host), private=False)
    assert status is None
    assert "not a public address" in problem or "not a canonical IPv4 address" in problem
    assert not club.requests


def test_nobody_listening_is_a_failure(club: Club) -> None:
    club.shutdown()
    club.server_close()
    status, problem = sent(club.url(200))
    assert status is None
    assert "Cannot connect" in problem


def test_sender_sends_news_and_notes_the_answers(store: Store, club: Club) -> None:
    field, hooks, sender = Field(store), Webhooks(store), WebhookSender(store, "")
    good, bad = (
        hooks.add(Webhook(url=club.url(status), form="json", secret=SECRET, news=["forfeit"], is_private_allowed=True))
        for status in (200, 500)
    )
    stop = threading.Event()
    assert not sender.work(stop)
    (game,) = field.plan(1)
    store.results.commit(record_of(game, winner="first", termination=Termination.TIME))
    assert sender.work(stop)
    assert sorted(path for path, *_ in club.requests) == ["/200", "/500"]
    assert [hooks.deliveries(mine.id)[0].state for mine in (good, bad)] == ["delivered", "waiting"]
    assert not sender.work(stop), "the other one waits for its pause"
