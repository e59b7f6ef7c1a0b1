"""Digests by mail: an address that its owner confirms, at most one mail a day, and none without news."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from threading import Event
from urllib.parse import parse_qs, urlsplit

import pytest

from arena.clock import now
from arena.documents.account import Identity
from arena.errors import BadValueError, ForbiddenError, QuotaError
from arena.features.notices import addresses, mailer, service
from arena.features.notices.addresses import BACKOFF, DigestAddresses, next_digest
from arena.features.notices.mailer import SETTLED, DigestMailer
from arena.mail import MailError
from arena.services import Arena
from referee.rules.core import Termination
from tests.arena.field import Field, record_of
from tests.arena.mailbox import Mailbox, mailbox
from tests.arena.services.conftest import Person

URL = "https://arena.example"


@pytest.fixture
def inbox() -> Iterator[Mailbox]:
    with mailbox() as server:
        yield server


@pytest.fixture
def mailing(arena: Arena, inbox: Mailbox) -> Arena:
    """The arena with a mail server."""
    words = {"smtp": inbox.url, "mail_from": "arena@arena.example", "public_url": URL}
    return replace(arena, settings=arena.settings.model_copy(update=words))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    """The time of the feature, which a test moves."""
    time = [now()]
    for module in (addresses, mailer, service):
        monkeypatch.setattr(module, "now", lambda: time[0])
    return time


def link_of(inbox: Mailbox, path: str) -> dict[str, str]:
    """Return the parameters of the link with this path in the last mail."""
    found = re.search(rf"{URL}{path}\?\S+", inbox.mails[-1].get_content())
    assert found
    return {name: values[0] for name, values in parse_qs(urlsplit(found[0]).query).items()}


def confirm(arena: Arena, inbox: Mailbox) -> str:
    link = link_of(inbox, "/notices/mail/confirm")
    return service.confirm(arena, int(link["user"]), int(link["until"]), link["signature"])


def subscribed(arena: Arena, inbox: Mailbox, by: Identity, language: str = "en") -> None:
    service.ask(arena, by, "ada@example.org", language)
    confirm(arena, inbox)
    inbox.mails.clear()


def zoe(field: Field) -> Identity:
    """The owner of the bots of the field."""
    return Identity(field.user_id, "zoe", "organiser", frozenset())


def tomorrow(arena: Arena, clock: list[datetime]) -> None:
    """Move the time to just after the next digests."""
    clock[0] = next_digest(clock[0], arena.settings.digest_hour_utc) + timedelta(seconds=1)


def work(arena: Arena) -> bool:
    return DigestMailer(arena.store, arena.settings).work(Event())


def lose(field: Field, count: int = 1, first_sequence: int = 1, at: datetime | None = None) -> None:
    """Let bots of the field lose games by exceeding their time, at this time (now)."""
    for game in field.plan(count, first_sequence=first_sequence):
        end = (at or now()).isoformat()
        record = record_of(game, winner="first", termination=Termination.TIME)
        field.store.results.commit(replace(record, started=end, finished=end))


def test_address_is_confirmed_by_the_link_that_it_gets(mailing: Arena, inbox: Mailbox, person: Person) -> None:
    ada = person("ada")
    service.ask(mailing, ada, " ada@example.org ", "fr")
    (mail,) = inbox.mails
    assert (mail["To"], mail["From"]) == ("ada@example.org", "arena@arena.example")
    row = service.address(mailing, ada)
    assert row is not None
    assert row.confirmed_at is None
    assert [confirm(mailing, inbox) for _ in range(2)] == ["ada@example.org"] * 2
    row = service.address(mailing, ada)
    assert row is not None
    assert row.confirmed_at is not None
    assert row.next_at == next_digest(row.confirmed_at, 6)
    service.ask(mailing, ada, "ada@example.org", "en")
    changed = service.address(mailing, ada)
    assert changed is not None
    assert (changed.language, changed.confirmed_at) == ("en", row.confirmed_at)
    assert len(inbox.mails) == 1, "it was confirmed already"


def test_link_to_confirm_fails_when_it_is_changed_replaced_or_expired(
    mailing: Arena, inbox: Mailbox, person: Person, clock: list[datetime]
) -> None:
    ada, bob = person("ada"), person("bob")
    service.ask(mailing, bob, "bob@example.org", "en")
    service.ask(mailing, ada, "ada@example.org", "en")
    link = link_of(inbox, "/notices/mail/confirm")
    user, until, signature = int(link["user"]), int(link["until"]), link["signature"]
    for wrong in ((bob.user_id, until, signature), (user, until + 1, signature), (user, until, "é"), (99, 0, "")):
        with pytest.raises(BadValueError, match="invalid or has expired"):
            service.confirm(mailing, *wrong)
    service.ask(mailing, ada, "ada@other.example", "en")
    with pytest.raises(BadValueError):
        service.confirm(mailing, user, until, signature)
    clock[0] += addresses.CONFIRM_LIFETIME + timedelta(seconds=1)
    with pytest.raises(BadValueError):
        confirm(mailing, inbox)
    assert DigestAddresses(mailing.store).forget() == 2
    assert service.address(mailing, ada) is None


def test_links_are_limited_for_a_user_and_for_an_address(mailing: Arena, person: Person, clock: list[datetime]) -> None:
    ada = person("ada")
    for _ in range(addresses.MAX_LINKS):
        service.ask(mailing, ada, "victim@example.org", "en")
        service.stop(mailing, ada.user_id, ada)
    with pytest.raises(QuotaError):
        service.ask(mailing, ada, "victim@example.org", "en")
    for name in ("bob", "cleo", "dan"):
        service.ask(mailing, person(name), "Victim@example.org", "en")
    with pytest.raises(QuotaError):
        service.ask(mailing, person("eve"), "victim@example.org", "en")
    clock[0] += addresses.CONFIRM_LIFETIME + timedelta(seconds=1)
    service.ask(mailing, ada, "victim@example.org", "en")


@pytest.mark.parametrize(
    ("email", "language"), [("", "en"), ("nobody", "en"), ("a@b.example\nBcc: c@d.example", "en"), ("a@b.example", "x")]
)
def test_wrong_fields_send_nothing(mailing: Arena, inbox: Mailbox, person: Person, email: str, language: str) -> None:
    ada = person("ada")
    with pytest.raises(BadValueError):
        service.ask(mailing, ada, email, language)
    assert service.address(mailing, ada) is None
    assert not inbox.mails


def test_asking_fails_without_a_mail_server_and_when_it_refuses(
    arena: Arena, mailing: Arena, inbox: Mailbox, person: Person
) -> None:
    ada = person("ada")
    with pytest.raises(ForbiddenError, match="sends no mail"):
        service.ask(arena, ada, "ada@example.org", "en")
    with pytest.raises(MailError, match="the mail server did not accept the mail"):
        service.ask(mailing, ada, "refused@example.org", "en")


def test_digest_tells_ratings_forfeits_and_ends_once(mailing: Arena, inbox: Mailbox, clock: list[datetime]) -> None:
    field = Field(mailing.store)
    subscribed(mailing, inbox, zoe(field))
    lose(field, 12)
    field.store.tournaments.move(field.tournament_id, "finished")
    tomorrow(mailing, clock)
    assert not work(mailing)
    (mail,) = inbox.mails
    text = mail.get_content()
    for words in (
        "Hello zoe, this is new since ",
        "Ratings of my bots",
        "ada v1 has a first rating: ",
        f"{URL}/bots/ada",
        "Games lost by a forfeit",
        "v1: time\n",
        f"{URL}/games/",
        "Tournaments that ended\n- cup: finished",
        "No more mails: https://arena.example/notices/mail/stop?user=",
    ):
        assert words in text, text
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert mail["List-Unsubscribe"].startswith(f"<{URL}/notices/mail/stop?user=")
    for _ in range(2):
        assert not work(mailing)
        tomorrow(mailing, clock)
    assert len(inbox.mails) == 1, "nothing else has happened"


def test_digest_tells_what_a_bot_has_gained(mailing: Arena, inbox: Mailbox, clock: list[datetime]) -> None:
    field = Field(mailing.store)
    lose(field, 12, at=now() - timedelta(hours=1))
    subscribed(mailing, inbox, zoe(field), "fr")
    lose(field, 12, first_sequence=13)
    tomorrow(mailing, clock)
    work(mailing)
    (mail,) = inbox.mails
    assert re.fullmatch(r"Bot arena\s: \w+ v1 a gagné \d+,\d", mail["Subject"]), mail["Subject"]
    assert re.search(
        r"- \w+ v1 a gagné \d+,\d\s: \d+,\d → \d+,\d en \d+ parties \(Lignes d’action\)", mail.get_content()
    )


def test_digest_tells_of_what_is_followed(
    mailing: Arena, inbox: Mailbox, person: Person, clock: list[datetime]
) -> None:
    field, eve = Field(mailing.store), person("eve")
    mailing.store.follows.add(eve.user_id, "user", field.user_id)
    mailing.store.follows.add(eve.user_id, "bot", mailing.store.bots.find("ada").id)
    subscribed(mailing, inbox, eve)
    lose(field, 12)
    tomorrow(mailing, clock)
    work(mailing)
    (mail,) = inbox.mails
    assert mail["Subject"] == "Bot arena: Ratings changed"
    assert "Ratings of bots that I follow" in mail.get_content()
    assert "forfeit" not in mail.get_content(), "forfeits are told to owners"


def test_notices_that_were_read_are_left_out(mailing: Arena, inbox: Mailbox, clock: list[datetime]) -> None:
    field = Field(mailing.store)
    subscribed(mailing, inbox, zoe(field))
    field.store.tournaments.move(field.tournament_id, "finished")
    mailing.store.notices.mark_read(field.user_id, now() + timedelta(seconds=1))
    tomorrow(mailing, clock)
    work(mailing)
    assert not inbox.mails


def test_what_is_not_settled_is_told_by_the_next_digest(mailing: Arena, inbox: Mailbox, clock: list[datetime]) -> None:
    field = Field(mailing.store)
    subscribed(mailing, inbox, zoe(field))
    tomorrow(mailing, clock)
    lose(field, at=clock[0] - SETTLED + timedelta(seconds=1))
    work(mailing)
    assert not inbox.mails
    tomorrow(mailing, clock)
    work(mailing)
    assert "Games lost by a forfeit" in inbox.mails[0].get_content()


def test_refused_digest_is_tried_again_after_pauses_and_loses_nothing(
    mailing: Arena, inbox: Mailbox, clock: list[datetime]
) -> None:
    field = Field(mailing.store)
    subscribed(mailing, inbox, zoe(field))
    lose(field)
    tomorrow(mailing, clock)
    inbox.fault = "refuses"
    for pause in BACKOFF:
        work(mailing)
        row = service.address(mailing, zoe(field))
        assert row is not None
        assert row.next_at == clock[0] + pause
        assert "not now" in row.problem
        clock[0] += pause
    inbox.fault = ""
    work(mailing)
    assert "Games lost by a forfeit" in inbox.mails[0].get_content()
    row = service.address(mailing, zoe(field))
    assert row is not None
    assert (row.tries, row.problem) == (0, "")
    work(mailing)
    assert len(inbox.mails) == 1


def test_digest_that_may_have_arrived_is_not_sent_again(mailing: Arena, inbox: Mailbox, clock: list[datetime]) -> None:
    field = Field(mailing.store)
    subscribed(mailing, inbox, zoe(field))
    lose(field)
    tomorrow(mailing, clock)
    inbox.fault = "hangs up"
    work(mailing)
    inbox.fault = ""
    for _ in range(2):
        work(mailing)
        tomorrow(mailing, clock)
    assert len(inbox.mails) == 1


def test_mail_server_that_is_down_ends_the_round(
    mailing: Arena, inbox: Mailbox, person: Person, clock: list[datetime]
) -> None:
    field, tried = Field(mailing.store), []
    for by in (zoe(field), person("eve")):
        mailing.store.follows.add(by.user_id, "user", field.user_id)
        subscribed(mailing, inbox, by)
    lose(field, 12)
    tomorrow(mailing, clock)
    down = replace(mailing, settings=mailing.settings.model_copy(update={"smtp": "smtp://127.0.0.1:1"}))
    for _ in range(2):
        work(down)
        rows = (service.address(mailing, by) for by in (zoe(field), identity(mailing, "eve")))
        tried.append(sorted(row.tries for row in rows if row))
    assert tried == [[0, 1], [1, 1]]
    clock[0] += BACKOFF[0]
    work(mailing)
    assert len(inbox.mails) == 2


def identity(arena: Arena, name: str) -> Identity:
    return Identity(arena.store.users.find(name).id, name, "author", frozenset())


def test_two_processes_send_one_digest(mailing: Arena, inbox: Mailbox, clock: list[datetime]) -> None:
    field, stored = Field(mailing.store), DigestAddresses(mailing.store)
    subscribed(mailing, inbox, zoe(field))
    tomorrow(mailing, clock)
    ((row, _),) = stored.due(9)
    assert [stored.claim(row, clock[0], clock[0] + timedelta(days=1)) for _ in range(2)] == [True, False]


def test_link_in_a_digest_ends_it(mailing: Arena, inbox: Mailbox, clock: list[datetime]) -> None:
    field = Field(mailing.store)
    subscribed(mailing, inbox, zoe(field))
    lose(field)
    tomorrow(mailing, clock)
    work(mailing)
    link = link_of(inbox, "/notices/mail/stop")
    assert service.by_link(mailing, field.user_id, link["signature"] + "0") is None
    assert service.by_link(mailing, field.user_id, link["signature"]) is not None
    service.stop(mailing, field.user_id, None)
    assert service.by_link(mailing, field.user_id, link["signature"]) is None
    lose(field, first_sequence=2, at=clock[0])
    tomorrow(mailing, clock)
    work(mailing)
    assert len(inbox.mails) == 1


def test_disabled_account_gets_no_digest_and_its_address_is_forgotten(
    mailing: Arena, inbox: Mailbox, clock: list[datetime]
) -> None:
    field = Field(mailing.store)
    mailing.store.users.add("admin", "admin")
    subscribed(mailing, inbox, zoe(field))
    lose(field)
    mailing.store.users.change("zoe", is_active=False)
    tomorrow(mailing, clock)
    work(mailing)
    assert not inbox.mails
    assert DigestAddresses(mailing.store).forget() == 1
    with mailing.store.reading() as session:
        row = session.get(addresses.DigestAddress, field.user_id)
        assert row is not None
        assert (row.address, row.key) == ("", "")
