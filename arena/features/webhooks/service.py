"""Add, list, test and remove webhooks, for the command of the operator and the pages of administrators."""

from __future__ import annotations

import asyncio
import base64
import secrets
from collections.abc import Collection
from typing import Any

from yarl import URL

from arena.documents.account import Identity
from arena.errors import BadValueError
from arena.features.webhooks.documents import FORMS, KINDS, DeliveryItem, WebhookItem
from arena.features.webhooks.sender import SECRET_PREFIX, post
from arena.features.webhooks.store import Webhooks
from arena.features.webhooks.tables import Webhook, WebhookDelivery
from arena.services.arena import Arena

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
