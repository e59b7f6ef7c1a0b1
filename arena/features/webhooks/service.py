"""Add, list, test and remove webhooks, for the command of the operator and the pages of administrators; send news.

News are signed as Standard Webhooks says (https://www.standardwebhooks.com), or written as Discord reads them. The
coordinator sends, in a thread of its own. A request goes to public addresses only, unless the operator allows others
for that webhook.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import secrets
import threading
from collections.abc import Collection, Iterator
from datetime import timedelta
from typing import Any

from yarl import URL

from arena.clock import now
from arena.coordinator.background import Background, Conditions
from arena.coordinator.context import CoordinatorContext
from arena.coordinator.maintenance import Task
from arena.documents.account import Identity
from arena.errors import BadValueError
from arena.features.webhooks.documents import FORMS, KINDS, DeliveryItem, WebhookItem
from arena.features.webhooks.store import KEPT_DAYS, Webhooks
from arena.features.webhooks.tables import Webhook, WebhookDelivery
from arena.http import outgoing
from arena.log import logger
from arena.services.arena import Arena
from arena.store import Store

MAX_URL = 500
"""Maximum length of the address of a webhook."""


def add(
    arena: Arena, url: str, news: Collection[str], form: str, by: Identity | None, *, is_private_allowed: bool = False
) -> tuple[WebhookItem, str]:
    """Add a webhook that gets these kinds of news; return it with its secret, which is not shown again.

    Without a kind it gets all. Raises BadValueError and QuotaError.
    """
    try:
        address = URL(url)
    except ValueError:
        address = URL()
    if address.scheme not in ("http", "https") or not address.host or address.user or len(url) > MAX_URL:
        raise BadValueError(f"invalid address {url[:80]!r}: expected https://HOST/PATH", field="url")
    chosen: Any = next((known for known in FORMS if known == form), None)
    if chosen is None or not set(news) <= set(KINDS):
        raise BadValueError("invalid form or kind of news", hint="choose from the lists", field="form")
    secret = SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()
    kinds: list[str] = [kind for kind in KINDS if kind in news or not news]
    hook = Webhooks(arena.store).add(
        Webhook(url=str(address), form=chosen, secret=secret, news=kinds, is_private_allowed=is_private_allowed)
    )
    arena.note("webhook.add", f"webhook:{hook.id}", by, host=address.host)
    return _item(hook), secret


def listed(arena: Arena) -> list[WebhookItem]:
    """Return all webhooks, oldest first."""
    return [_item(hook) for hook in Webhooks(arena.store).all()]


def read(arena: Arena, number: int) -> WebhookItem:
    """Return a webhook. Raises NotFoundError."""
    return _item(Webhooks(arena.store).get(number))


def deliveries(arena: Arena, number: int) -> list[DeliveryItem]:
    """Return the latest deliveries of a webhook, latest first. Raises NotFoundError."""
    return [
        DeliveryItem(
            id=delivery.id,
            created_at=delivery.created_at,
            state=delivery.state,
            tries=delivery.tries,
            status=delivery.status,
            text=delivery.news["text"],
            problem=delivery.problem,
            next_at=delivery.next_at if delivery.state == "waiting" else None,
        )
        for delivery in Webhooks(arena.store).deliveries(number)
    ]


async def send_test(arena: Arena, number: int) -> tuple[int | None, str]:
    """Send a message at once; return the HTTP status of the answer, if any, and what went wrong, if anything did.

    Raises NotFoundError.
    """
    hook = await asyncio.to_thread(Webhooks(arena.store).get, number)
    news = {"kind": "test", "text": "This is a test of a webhook.", "path": "/", "data": {}}
    delivery = WebhookDelivery(id=0, hook_id=hook.id, key="test", news=news)
    return await post(hook, delivery, arena.settings.public_url)


def remove(arena: Arena, number: int, by: Identity | None) -> None:
    """Remove a webhook with its deliveries. Raises NotFoundError."""
    Webhooks(arena.store).remove(number)
    arena.note("webhook.remove", f"webhook:{number}", by)


def _item(hook: Webhook) -> WebhookItem:
    return WebhookItem(hook.id, hook.url, hook.form, hook.news, hook.created_at)


INTERVAL_S = 10.0
"""How often news are read."""
AT_ONCE = 20
"""Maximum of requests in flight."""
SECRET_PREFIX = "whsec_"  # noqa: S105 - the prefix by which Standard Webhooks recognises a secret


def signature(secret: str, number: str, timestamp: int, body: bytes) -> str:
    """Return the value of the header `webhook-signature`: HMAC-SHA256 over the id, the time (Unix) and the body."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = f"{number}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def body_of(hook: Webhook, delivery: WebhookDelivery, public_url: str) -> bytes:
    """Return the body of a request in the form of the webhook."""
    news = delivery.news
    link = public_url.rstrip("/") + news["path"] if public_url else ""
    if hook.form == "discord":
        # A name of a bot or tournament may look like a mention.
        document: dict[str, Any] = {"content": f"{news['text']} {link}".strip(), "allowed_mentions": {"parse": []}}
    else:
        document = {
            "type": news["kind"],
            "timestamp": delivery.created_at.isoformat(),
            "text": news["text"],
            "url": link or news["path"],
            "data": news["data"],
        }
    return json.dumps(document, ensure_ascii=False).encode()


async def post(hook: Webhook, delivery: WebhookDelivery, public_url: str) -> tuple[int | None, str]:
    """Send a delivery; return the HTTP status of the answer, if any, and what went wrong, if anything did."""
    body, timestamp, number = body_of(hook, delivery, public_url), int(now().timestamp()), f"msg_{delivery.id}"
    headers = {"Content-Type": "application/json", "webhook-id": number, "webhook-timestamp": str(timestamp)}
    headers["webhook-signature"] = signature(hook.secret, number, timestamp, body)
    return await outgoing.post(hook.url, body, headers, is_private_allowed=hook.is_private_allowed)


class WebhookSender:
    """Reads news and sends what is due."""

    def __init__(self, store: Store, public_url: str) -> None:
        self._hooks, self._public_url = Webhooks(store), public_url
        self._log = logger("webhooks")

    def work(self, stop: threading.Event) -> bool:
        """Queue what has happened, and send what is due; return whether there may be more."""
        queued = self._hooks.read_news()
        due = self._hooks.due(AT_ONCE)
        if not due or stop.is_set():
            return bool(queued)
        for (hook, delivery), (status, problem) in zip(due, asyncio.run(self._send(due)), strict=True):
            self._hooks.note(delivery.id, status, problem)
            self._log.info("sent", webhook=hook.id, delivery=delivery.id, status=status, problem=problem)
        return True

    async def _send(self, due: list[tuple[Webhook, WebhookDelivery]]) -> list[tuple[int | None, str]]:
        return await asyncio.gather(*(post(hook, delivery, self._public_url) for hook, delivery in due))


def background(context: CoordinatorContext, conditions: Conditions) -> Iterator[Background]:
    """Yield the work of the coordinator that sends news."""
    sender = WebhookSender(context.store, context.settings.public_url)
    yield Background("webhooks", INTERVAL_S, sender.work, conditions)


def tasks(store: Store) -> Iterator[Task]:
    """Yield the daily task that forgets old deliveries."""
    yield Task("webhooks", 0, lambda _: Webhooks(store).forget(now() - timedelta(days=KEPT_DAYS)))
