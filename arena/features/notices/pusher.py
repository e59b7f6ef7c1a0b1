"""Sends notices to devices by the push services of browsers (RFC 8030), encrypted (RFC 8291) and signed (RFC 8292).

The coordinator sends, in a thread of its own. Push services are other servers, whose addresses come from browsers: a
request goes to public addresses only.
"""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import groupby

from yarl import URL

from arena.config import Settings
from arena.documents.account import Notice
from arena.features.notices.devices import PushDevices
from arena.features.notices.tables import PushDevice
from arena.http import outgoing
from arena.log import logger
from arena.mail import LOOPBACK, is_mail_address
from arena.store import Store

LIFETIME_S = 24 * 3600
"""Time for which a push service keeps a message for a device that is off."""
SECRET_BYTES = 16
MAX_MESSAGES = 3
"""Maximum of messages to a device at a time: one about all notices takes the place of more."""


@dataclass(frozen=True, slots=True)
class PushMessage:
    """A notification as a device shows it; `address` is the path of the page to read."""

    title: str
    body: str
    address: str


def contact(settings: Settings) -> str:
    """Return whom push services may contact, which they require to know; empty if the settings do not tell.

    An arena that only this machine reaches, such as a demo, names itself.
    """
    for address in (settings.contact, settings.mail_from):
        if is_mail_address(address):
            return f"mailto:{address}"
    if not settings.public_url and settings.bind in LOOPBACK:
        return "https://localhost"
    return f"https://{URL(settings.public_url).host}" if settings.is_https else ""


def is_possible(settings: Settings) -> bool:
    """Return whether the libraries of the extra `push` are installed, and the settings name a contact."""
    return bool(contact(settings)) and all(find_spec(name) for name in ("http_ece", "py_vapid"))


def public_key(devices: PushDevices) -> str:
    """Return the public key of this arena as browsers read it: an uncompressed point in base64url."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
    from py_vapid import Vapid02

    point = Vapid02.from_pem(devices.key()).public_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return base64.urlsafe_b64encode(point).decode().rstrip("=")


def encrypted(device: PushDevice, text: bytes) -> bytes:
    """Encrypt a text for a device. Raises ValueError if its keys are invalid."""
    import http_ece
    from cryptography.hazmat.primitives.asymmetric import ec

    try:
        point, secret = (
            base64.urlsafe_b64decode(key + "=" * (-len(key) % 4)) for key in (device.public_key, device.secret)
        )
        if len(secret) != SECRET_BYTES:
            raise ValueError(f"expected a secret of {SECRET_BYTES} bytes")
        ephemeral = ec.generate_private_key(ec.SECP256R1())
        body = http_ece.encrypt(text, private_key=ephemeral, dh=point, auth_secret=secret)
    except (ValueError, TypeError, http_ece.ECEException) as error:
        raise ValueError(f"invalid keys of a device: {error}") from None
    return bytes(body)


def signed(key: bytes, endpoint: str, subject: str) -> str:
    """Return the header by which a push service recognises this arena; `subject` says whom it may contact."""
    from py_vapid import Vapid02

    headers: dict[str, str] = Vapid02.from_pem(key).sign({"aud": str(URL(endpoint).origin()), "sub": subject})
    return headers["Authorization"]


def messages_of(notices: Sequence[Notice], language: str) -> list[PushMessage]:
    """Return what a device shows of these notices, latest first, in its language."""
    from arena.pages import language as languages
    from arena.pages.filters import plain
    from arena.pages.language import headed, texts, translated
    from arena.pages.routes.account import EVENTS, PAGES

    with languages.using(language):
        if len(notices) > MAX_MESSAGES:
            count = len(notices)
            title = texts("%(count)s notification", "%(count)s notifications", count) % {"count": count}
            names = dict.fromkeys(plain(notice.name, 60) for notice in notices)
            return [PushMessage(headed("Bot arena", title), ", ".join([*names][:MAX_MESSAGES]), "/account#news")]
        return [
            PushMessage(
                plain(notice.name, 120),
                headed(translated(EVENTS[notice.kind]), translated(notice.what)),
                f"{PAGES[notice.kind]}{notice.key}",
            )
            for notice in notices
        ]


class DevicePusher:
    """Looks for notices since the last ones that devices were sent, and sends them."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store, self._devices = store, PushDevices(store)
        self._contact = contact(settings)
        self._log = logger("notices")

    def work(self, stop: threading.Event) -> bool:
        """Send what has happened to the devices of all users; return whether anything was sent."""
        is_any_sent = False
        for user_id, of_user in groupby(self._devices.due(), lambda device: device.user_id):
            if stop.is_set():
                break
            devices = list(of_user)
            notices = self._store.notices.of(user_id, min(device.sent_until for device in devices))
            if notices:
                asyncio.run(self._send(devices, notices))
                is_any_sent = True
        return is_any_sent

    async def _send(self, devices: Sequence[PushDevice], notices: Sequence[Notice]) -> None:
        await asyncio.gather(*(self._send_to(device, notices) for device in devices))

    async def _send_to(self, device: PushDevice, notices: Sequence[Notice]) -> None:
        new = [notice for notice in notices if notice.at > device.sent_until]
        if not new or not await asyncio.to_thread(self._devices.claim, device, new[0].at):
            return
        status: int | None = None
        problem = ""
        for message in reversed(messages_of(new, device.language)):
            status, problem = await self._post(device, message)
            if problem:
                break
        await asyncio.to_thread(self._devices.note, device, new[0].at, status, problem)
        self._log.info("pushed", device=device.id, status=status, problem=problem)

    async def _post(self, device: PushDevice, message: PushMessage) -> tuple[int | None, str]:
        document = {"title": message.title, "body": message.body, "address": message.address}
        try:
            body = encrypted(device, json.dumps(document, ensure_ascii=False).encode())
        except ValueError as error:
            return 410, str(error)
        key = await asyncio.to_thread(self._devices.key)
        headers = {"Content-Encoding": "aes128gcm", "TTL": str(LIFETIME_S), "Urgency": "normal"}
        headers["Authorization"] = signed(key, device.endpoint, self._contact)
        return await outgoing.post(device.endpoint, body, headers)
