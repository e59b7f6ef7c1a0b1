"""Accounts for strangers: registration, invitations, new passwords by a link; nothing tells who has an account."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import update

from arena.clock import now
from arena.credentials import CredentialError, digest_of
from arena.documents.service import AuditQuery
from arena.errors import BadValueError, ForbiddenError, NotFoundError, TakenError, UnauthorisedError
from arena.services import Arena, account, registration, user
from arena.store.base.tables.people import AccountLink
from tests.arena.services.conftest import Person

PASSWORD, OTHER = "correct horse battery", "another horse, no battery"
HOME = account.LoginOrigin("192.0.2.1")


def with_settings(arena: Arena, **words: object) -> Arena:
    return replace(arena, settings=arena.settings.model_copy(update=words))


def secret_of(link: str) -> str:
    return link.partition("=")[2]


@pytest.fixture
def open_arena(arena: Arena) -> Arena:
    return with_settings(arena, registration="open")


def test_register_in_an_open_arena_creates_an_author_who_is_logged_in(open_arena: Arena) -> None:
    session = registration.register(open_arena, "ada", PASSWORD, HOME, email="ada@example.org")
    identity = open_arena.store.users.by_login(digest_of(session.secret))
    assert identity is not None
    assert (identity.name, identity.role, identity.scopes) == ("ada", "author", {"read", "submit"})
    assert account.authenticate(open_arena, "ada", PASSWORD, HOME).user_id == identity.user_id
    assert account.read(open_arena, identity).email == "ada@example.org"
    (noted,) = [line for line in open_arena.store.audit.page(AuditQuery()).items if line.action == "user.register"]
    assert (noted.user, noted.subject, noted.detail) == ("ada", "user:ada", {"role": "author", "is_invited": False})


@pytest.mark.parametrize(
    ("name", "password", "email", "error"),
    [
        ("Ada!", PASSWORD, "", CredentialError),
        ("ada", "ada", "", CredentialError),
        ("ada", PASSWORD, "ada@example.org\nBcc: eve@example.org", BadValueError),
        ("ada", PASSWORD, "nobody", BadValueError),
        ("bob", PASSWORD, "", TakenError),
    ],
)
def test_register_with_a_wrong_field_creates_nothing(
    open_arena: Arena, name: str, password: str, email: str, error: type[Exception]
) -> None:
    user.add(open_arena, "bob", "author", PASSWORD)
    with pytest.raises(error):
        registration.register(open_arena, name, password, HOME, email=email)
    assert [one.name for one in open_arena.store.users.page().items] == ["bob"]


def test_registration_by_invitation_ends_with_its_uses(arena: Arena) -> None:
    secret = secret_of(registration.invite(arena, "organiser", 2, 7, None).link)
    assert (registration.is_open(arena), registration.is_open(arena, secret)) == (False, True)
    with pytest.raises(ForbiddenError, match="needs a valid invitation"):
        registration.register(arena, "eve", PASSWORD, HOME)
    registration.register(arena, "ada", PASSWORD, HOME, invitation=secret)
    with pytest.raises(TakenError):
        registration.register(arena, "ada", PASSWORD, HOME, invitation=secret)
    registration.register(arena, "bob", PASSWORD, HOME, invitation=secret)
    assert arena.store.users.find("bob").role == "organiser"
    with pytest.raises(ForbiddenError):
        registration.register(arena, "cleo", PASSWORD, HOME, invitation=secret)
    assert not registration.is_open(arena, secret)


def test_an_expired_invitation_and_one_of_a_closed_arena_are_refused(arena: Arena) -> None:
    secret = secret_of(registration.invite(arena, "author", 1, 1, None).link)
    closed = with_settings(arena, registration="closed")
    assert not registration.is_open(closed, secret)
    with pytest.raises(ForbiddenError):
        registration.register(closed, "ada", PASSWORD, HOME, invitation=secret)
    with pytest.raises(ForbiddenError, match="closed"):
        registration.invite(closed, "author", 1, 1, None)
    with arena.store.writing() as session:
        session.execute(update(AccountLink).values(expires=now() - timedelta(seconds=1)))
    with pytest.raises(ForbiddenError):
        registration.register(arena, "ada", PASSWORD, HOME, invitation=secret)
    assert arena.store.daily_tasks.forget() == 1


def test_nobody_is_invited_as_an_admin(arena: Arena) -> None:
    with pytest.raises(BadValueError, match="invalid role"):
        registration.invite(arena, "admin", 1, 1, None)
    for uses, days in ((0, 1), (1001, 1), (1, 0), (1, 366)):
        with pytest.raises(BadValueError):
            registration.invite(arena, "author", uses, days, None)


def test_links_are_stored_as_digests_and_work_for_their_purpose_only(arena: Arena, person: Person) -> None:
    ada = person("ada")
    invitation = secret_of(registration.invite(arena, "author", 1, 1, None).link)
    reset = secret_of(registration.make_reset_link(arena, "ada", None).link)
    with arena.store.reading() as session:
        stored = session.query(AccountLink.digest).all()
    assert {row[0] for row in stored} == {digest_of(invitation), digest_of(reset)}
    with pytest.raises(BadValueError, match="invalid or has expired"):
        registration.reset(arena, invitation, OTHER)
    with pytest.raises(ForbiddenError):
        registration.register(arena, "eve", PASSWORD, HOME, invitation=reset)
    assert registration.resets(arena, reset) == ada.name


def test_reset_sets_the_password_once_and_ends_sessions(arena: Arena) -> None:
    user.add(arena, "ada", "author", PASSWORD)
    session = account.log_in(arena, "ada", PASSWORD, HOME)
    ada = account.authenticate(arena, "ada", PASSWORD, HOME)
    secret_token = user.create_token(arena, "laptop", ["read"], None, ada).token
    links = [secret_of(registration.make_reset_link(arena, "ada", None).link) for _ in range(2)]
    with pytest.raises(CredentialError):
        registration.reset(arena, links[0], "short")
    registration.reset(arena, links[0], OTHER)
    assert arena.store.users.by_login(digest_of(session.secret)) is None
    assert arena.store.users.by_token(digest_of(secret_token)) is not None
    with pytest.raises(UnauthorisedError):
        account.authenticate(arena, "ada", PASSWORD, HOME)
    account.authenticate(arena, "ada", OTHER, HOME)
    for used in links:
        with pytest.raises(BadValueError, match="invalid or has expired"):
            registration.reset(arena, used, PASSWORD)
    registration.reset(
        arena, secret_of(registration.make_reset_link(arena, "ada", None).link), PASSWORD, revoke_tokens=True
    )
    assert arena.store.users.by_token(digest_of(secret_token)) is None
    with pytest.raises(NotFoundError):
        registration.make_reset_link(arena, "nobody", None)


def test_request_reset_mails_users_with_an_address_and_no_more_than_three_times(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[str, str]] = []
    monkeypatch.setattr(
        registration.MailServer, "send", lambda self, sender, to, subject, text: sent.append((to, text))
    )
    arena = with_settings(
        arena, registration="open", smtp="smtp://localhost", mail_from="arena@x.example", public_url="https://x.example"
    )
    registration.register(arena, "ada", PASSWORD, HOME, email="Ada@example.org")
    registration.register(arena, "bob", PASSWORD, HOME)
    user.change(arena, "bob", is_active=False)
    for name in ("nobody", "bob", "nobody@example.org", "ada@example.org", "ada", "ada", "ada"):
        registration.request_reset(arena, name)
    assert [to for to, _ in sent] == ["ada@example.org", "Ada@example.org", "Ada@example.org"]
    link = next(line for line in sent[0][1].splitlines() if line.startswith("https://x.example/reset?secret="))
    assert registration.resets(arena, secret_of(link)) == "ada"


def test_change_email_requires_the_current_password(arena: Arena) -> None:
    user.add(arena, "ada", "author", PASSWORD)
    ada = account.authenticate(arena, "ada", PASSWORD, HOME)
    with pytest.raises(ForbiddenError, match="wrong current password"):
        account.change_email(arena, ada, "wrong", "ada@example.org", HOME)
    with pytest.raises(BadValueError, match="invalid e-mail address"):
        account.change_email(arena, ada, PASSWORD, "ada at example.org", HOME)
    account.change_email(arena, ada, PASSWORD, " ada@example.org ", HOME)
    assert arena.store.users.email(ada.user_id) == "ada@example.org"
    account.change_email(arena, ada, PASSWORD, "", HOME)
    assert arena.store.users.with_email("") == []
