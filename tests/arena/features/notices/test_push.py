"""Notifications on devices: encrypted so that only the browser reads them, signed, to public addresses, each once."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import Event
from typing import Any

import pytest

from arena.clock import now
from arena.documents.account import Identity
from arena.errors import BadValueError, ForbiddenError, QuotaError
from arena.features.notices import devices as module
from arena.features.notices import service
from arena.features.notices.devices import BACKOFF, MAX_DEVICES, PushDevices, digest_of_endpoint
from arena.features.notices.pusher import DevicePusher, contact, public_key
from arena.features.notices.tables import PushDevice
from arena.http import outgoing
from arena.services import Arena
from tests.arena.features.notices.test_mail import lose, zoe
from tests.arena.features.webhooks.test_sender import Club, club
from tests.arena.field import Field
from tests.arena.services.conftest import Person

__all__ = ["club"]
http_ece = pytest.importorskip("http_ece", reason="the extra `push` is not installed")
py_vapid = pytest.importorskip("py_vapid", reason="the extra `push` is not installed")
ec = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ec")


def base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


@dataclass
class Browser:
    """The keys of a browser; only it can read what is sent."""

    key: Any = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    secret: bytes = b"sixteen bytes ok"

    def subscription(self, endpoint: str) -> service.PushSubscription:
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        point = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return service.PushSubscription(endpoint, base64url(point), base64url(self.secret))

    def read(self, body: bytes) -> dict[str, str]:
        text: dict[str, str] = json.loads(http_ece.decrypt(body, private_key=self.key, auth_secret=self.secret))
        return text


@pytest.fixture
def pushing(arena: Arena) -> Arena:
    """An arena that push services may know."""
    return replace(arena, settings=arena.settings.model_copy(update={"mail_from": "arena@arena.example"}))


@pytest.fixture
def reachable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The push service of the test counts as a public address."""
    monkeypatch.setattr(outgoing, "is_public", lambda host: True)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    time = [now()]
    monkeypatch.setattr(module, "now", lambda: time[0])
    return time


def add(arena: Arena, by: Identity, browser: Browser, endpoint: str, language: str = "en") -> None:
    """Store a device whose push service is a server of the test, which has no certificate."""
    given = browser.subscription(endpoint)
    device = PushDevice(
        user_id=by.user_id,
        digest=digest_of_endpoint(endpoint),
        endpoint=endpoint,
        public_key=given.public_key,
        secret=given.secret,
        language=language,
        sent_until=now(),
        next_at=now(),
    )
    PushDevices(arena.store).add(device)


def work(arena: Arena) -> bool:
    return DevicePusher(arena.store, arena.settings).work(Event())


@pytest.mark.usefixtures("reachable")
def test_notice_arrives_encrypted_and_signed_once(pushing: Arena, club: Club) -> None:
    field, browser = Field(pushing.store), Browser()
    add(pushing, zoe(field), browser, club.url(201), "fr")
    assert not work(pushing)
    lose(field)
    assert work(pushing)
    assert not work(pushing)
    ((_, headers, body),) = club.requests
    message = browser.read(body)
    assert message["title"].endswith(" v1")
    assert message["body"] == "forfait\u202f: temps"
    assert message["address"].startswith("/games/")
    assert b"v1" not in body
    assert (headers["content-encoding"], headers["ttl"], headers["urgency"]) == ("aes128gcm", "86400", "normal")
    assert py_vapid.Vapid02.verify(headers["authorization"])
    assert headers["authorization"].endswith(f"k={public_key(PushDevices(pushing.store))}")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "https://localhost"),
        ({"bind": "0.0.0.0"}, ""),
        ({"public_url": "http://arena.example"}, ""),
        ({"public_url": "https://arena.example"}, "https://arena.example"),
        ({"contact": "ada@arena.example"}, "mailto:ada@arena.example"),
    ],
)
def test_push_services_are_told_whom_to_contact(arena: Arena, given: dict[str, str], expected: str) -> None:
    assert contact(arena.settings.model_copy(update=given)) == expected


@pytest.mark.usefixtures("reachable")
def test_many_notices_are_one_message(pushing: Arena, club: Club) -> None:
    field, browser = Field(pushing.store), Browser()
    add(pushing, zoe(field), browser, club.url(201))
    lose(field, 12)
    assert work(pushing)
    ((_, _, body),) = club.requests
    message = browser.read(body)
    assert (message["title"], message["address"]) == ("Bot arena: 12 notifications", "/account#news")


@pytest.mark.usefixtures("reachable")
@pytest.mark.parametrize("status", [404, 410])
def test_device_that_its_service_does_not_know_is_removed(pushing: Arena, club: Club, status: int) -> None:
    field = Field(pushing.store)
    add(pushing, zoe(field), Browser(), club.url(status))
    add(pushing, zoe(field), Browser(), club.url(201))
    lose(field)
    work(pushing)
    assert [device.endpoint for device in service.devices(pushing, zoe(field))] == [club.url(201)]


@pytest.mark.usefixtures("reachable")
def test_failed_message_is_tried_again_until_the_pauses_are_used_up(
    pushing: Arena, club: Club, clock: list[datetime]
) -> None:
    field = Field(pushing.store)
    add(pushing, zoe(field), Browser(), club.url(503))
    lose(field)
    clock[0] = now()
    for pause in BACKOFF:
        assert work(pushing)
        assert not work(pushing)
        clock[0] += pause
    assert work(pushing)
    assert len(club.requests) == len(BACKOFF) + 1
    assert service.devices(pushing, zoe(field)) == []


def test_nothing_is_sent_to_private_addresses(pushing: Arena, club: Club) -> None:
    field = Field(pushing.store)
    add(pushing, zoe(field), Browser(), club.url(201))
    lose(field)
    assert work(pushing)
    assert not club.requests
    assert [device.tries for device in service.devices(pushing, zoe(field))] == [1]


def test_add_device_refuses_what_is_no_device(pushing: Arena, arena: Arena, person: Person) -> None:
    ada, good = person("ada"), Browser().subscription("https://push.example/1")
    for endpoint in ("http://push.example/1", "https://me@push.example/", "https://[::1]/", "https://[", "x" * 2000):
        with pytest.raises(BadValueError, match="expected https://HOST/PATH"):
            service.add_device(pushing, ada, replace(good, endpoint=endpoint), "en")
    for keys in (
        {"public_key": "AAAA"},
        {"public_key": good.public_key[:-4] + "AAAA"},
        {"secret": ""},
        {"secret": "é"},
    ):
        with pytest.raises(BadValueError, match="invalid keys of a device"):
            service.add_device(pushing, ada, replace(good, **keys), "en")
    public = replace(arena, settings=arena.settings.model_copy(update={"bind": "0.0.0.0"}))
    with pytest.raises(ForbiddenError, match="sends nothing to devices"):
        service.add_device(public, ada, good, "en")
    assert service.devices(pushing, ada) == []


def test_devices_are_limited_and_change_their_user(pushing: Arena, person: Person) -> None:
    ada, bob = person("ada"), person("bob")
    for number in range(MAX_DEVICES):
        service.add_device(pushing, ada, Browser().subscription(f"https://push.example/{number}"), "en")
    with pytest.raises(QuotaError, match=f"you have {MAX_DEVICES} devices"):
        service.add_device(pushing, ada, Browser().subscription("https://push.example/more"), "en")
    service.add_device(pushing, bob, Browser().subscription("https://push.example/0"), "en")
    assert len(service.devices(pushing, ada)) == MAX_DEVICES - 1
    (device,) = service.devices(pushing, bob)
    service.remove_device(pushing, ada, device.id)
    assert service.devices(pushing, bob), "it belongs to somebody else"
    service.remove_device(pushing, bob, device.id)
    assert not service.devices(pushing, bob)


def test_disabled_account_gets_nothing_and_its_devices_are_forgotten(pushing: Arena, club: Club) -> None:
    field = Field(pushing.store)
    pushing.store.users.add("admin", "admin")
    add(pushing, zoe(field), Browser(), club.url(201))
    lose(field)
    pushing.store.users.change("zoe", is_active=False)
    assert not work(pushing)
    assert PushDevices(pushing.store).forget() == 1


def test_key_is_made_once(pushing: Arena) -> None:
    keys = {PushDevices(pushing.store).key() for _ in range(2)}
    assert len(keys) == 1
    assert len(base64.urlsafe_b64decode(public_key(PushDevices(pushing.store)) + "=")) == 65


def test_devices_wait_for_their_pause(pushing: Arena, person: Person, clock: list[datetime]) -> None:
    ada, stored = person("ada"), PushDevices(pushing.store)
    service.add_device(pushing, ada, Browser().subscription("https://push.example/1"), "en")
    clock[0] = now()
    (device,) = stored.due()
    until = device.sent_until + timedelta(seconds=1)
    assert [stored.claim(device, until) for _ in range(2)] == [True, False]
    stored.note(device, until, 500, "HTTP 500")
    assert stored.due() == []
    (waiting,) = service.devices(pushing, ada)
    assert (waiting.sent_until, waiting.tries) == (device.sent_until, 1)
