"""Sends news: signed as Standard Webhooks says (https://www.standardwebhooks.com), or as Discord reads them.

The coordinator sends, in a thread of its own. A request goes to public addresses only, unless the operator allows
others for that webhook. Redirects are not followed, as they could lead to a private address.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import errno
import hashlib
import hmac
import ipaddress
import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from socket import AddressFamily
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from arena.clock import now
from arena.coordinator.background import Background, Conditions
from arena.coordinator.context import CoordinatorContext
from arena.coordinator.maintenance import Task
from arena.features.webhooks.store import KEPT_DAYS, Webhooks
from arena.features.webhooks.tables import Webhook, WebhookDelivery
from arena.log import logger
from arena.store import Store

INTERVAL_S = 10.0
"""How often news are read."""
TIMEOUT_S = 10.0
AT_ONCE = 20
"""Maximum of requests in flight."""
SECRET_PREFIX = "whsec_"  # noqa: S105 - the prefix by which Standard Webhooks recognises a secret
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def is_public(host: str) -> bool:
    """Return whether an IP address belongs to the public Internet."""
    address = ipaddress.ip_address(host)
    if isinstance(address, ipaddress.IPv6Address):
        if address in _NAT64:
            address = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        else:
            address = address.ipv4_mapped or address.sixtofour or address
    return address.is_global and not address.is_multicast


class PublicResolver(AbstractResolver):
    """Resolves names to public addresses only; the connection is made to the very address that was checked."""

    def __init__(self) -> None:
        self._resolver = aiohttp.ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: AddressFamily = AddressFamily.AF_INET
    ) -> list[ResolveResult]:
        """Resolve a name. Raises OSError if an address of it is not public."""
        results = await self._resolver.resolve(host, port, family)
        for result in results:
            _require_public(result["host"])
        return results

    async def close(self) -> None:
        """Release what the resolver holds."""
        await self._resolver.close()


def _require_public(host: str) -> None:
    if not is_public(host):
        message = f"{host} is not a public address; `arena webhook add --allow-private` permits it"
        raise OSError(errno.EACCES, message)  # aiohttp shows the second argument


def _require_public_if_literal(host: str) -> None:
    """Raise OSError if a host is an IP address that is not public: aiohttp gives a resolver only names."""
    with contextlib.suppress(ValueError):
        _require_public(host)


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
    headers = {"Content-Type": "application/json", "User-Agent": "bot-arena"}
    headers |= {"webhook-id": number, "webhook-timestamp": str(timestamp)}
    headers["webhook-signature"] = signature(hook.secret, number, timestamp, body)
    resolver = None if hook.is_private_allowed else PublicResolver()
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    try:
        if resolver:
            _require_public_if_literal(URL(hook.url).host or "")
        async with (
            aiohttp.TCPConnector(resolver=resolver) as connector,
            aiohttp.ClientSession(connector=connector, timeout=timeout) as session,
            session.post(hook.url, data=body, headers=headers, allow_redirects=False) as response,
        ):
            status = response.status
    except TimeoutError:
        return None, f"no answer within {TIMEOUT_S:g} s"
    except (aiohttp.ClientError, OSError, ValueError) as error:
        # `str` of an OSError with a number begins with that.
        return None, str(error.args[-1] if type(error) is PermissionError else error) or type(error).__name__
    return status, "" if status < 300 else f"HTTP {status}"


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
