"""Users, passwords, sessions and tokens."""

from __future__ import annotations

import pytest

from arena.credentials import CredentialError, digest_of, scopes_of
from arena.documents.account import Identity
from arena.documents.service import AuditQuery
from arena.errors import BadValueError, ConflictError, ForbiddenError, NotFoundError, TakenError, UnauthorisedError
from arena.services import Arena, account, user
from arena.store import Store
from referee.bot.file import BotFile
from referee.errors import Exit
from tests.arena.services.conftest import Person

PASSWORD = "correct horse battery"
HOME, AWAY = account.LoginOrigin("192.0.2.1"), account.LoginOrigin("198.51.100.7")


@pytest.mark.parametrize("name", ["ada", "nobody"])
def test_wrong_password_does_not_reveal_the_name(arena: Arena, name: str) -> None:
    user.add(arena, "ada", "author", PASSWORD)
    with pytest.raises(UnauthorisedError, match=r"^no user with this name and password$"):
        account.log_in(arena, name, "something else", HOME)
    assert arena.store.audit.page(AuditQuery(subject=f"user:{name}")).items[0].action == "login.refused"


def test_disabled_user_cannot_log_in(arena: Arena, person: Person) -> None:
    user.add(arena, "ada", "author", PASSWORD)
    session = account.log_in(arena, "ada", PASSWORD, HOME)
    user.change(arena, "ada", is_active=False, by=person("root", "admin"))
    assert arena.store.users.by_login(digest_of(session.secret)) is None
    with pytest.raises(UnauthorisedError):
        account.authenticate(arena, "ada", PASSWORD, HOME)


def test_invalid_user_raises(arena: Arena, person: Person) -> None:
    root = person("root", "admin")
    with pytest.raises(TakenError) as caught:
        user.add(arena, "root", "author", None)
    assert (caught.value.status, caught.value.exit) == (409, Exit.USAGE)
    with pytest.raises(CredentialError, match="characters"):
        user.add(arena, "ada", "author", "short")
    with pytest.raises(NotFoundError):
        user.change(arena, "ada", role="admin")
    for words in ({"is_active": False}, {"role": "author"}):
        with pytest.raises(ForbiddenError, match="your own rights"):
            user.change(arena, "root", by=root, **words)  # type: ignore[arg-type]
    with pytest.raises(ConflictError, match="root is the only administrator"):
        user.change(arena, "root", role="author")
    user.add(arena, "eve", "admin", None)
    user.change(arena, "root", role="author")  # the operator may


def test_token_cannot_exceed_its_creator(arena: Arena, person: Person) -> None:
    ada = person("ada")
    made = user.create_token(arena, "laptop", ["submit", "read"], 3, ada)
    assert made.expires is not None
    identity = arena.store.users.by_token(digest_of(made.token))
    assert identity is not None
    assert (identity.user_id, identity.scopes) == (ada.user_id, {"read", "submit"})
    with pytest.raises(ForbiddenError, match="'admin'") as caught:
        user.create_token(arena, "laptop", ["read", "admin"], None, ada)
    assert caught.value.field == "scopes"
    for name in ("", "x" * 81, "a\nb"):
        with pytest.raises(BadValueError, match="invalid name of a token"):
            user.create_token(arena, name, ["read"], None, ada)
    with pytest.raises(BadValueError, match="missing scope"):
        user.create_token(arena, "laptop", [], None, ada)


def test_token_revokes_itself_and_weaker_ones(arena: Arena, person: Person) -> None:
    ada = person("ada", "organiser")
    strong = user.create_token(arena, "strong", ["read", "submit"], None, ada)
    made = user.create_token(arena, "weak", ["read"], 3, ada)
    weak = arena.store.users.by_token(digest_of(made.token))
    assert weak is not None
    with pytest.raises(ForbiddenError, match="'submit' of that token"):
        user.revoke_token(arena, strong.id, weak)
    with pytest.raises(ForbiddenError, match="your own token expires") as caught:
        user.create_token(arena, "longer", ["read"], 4, weak)
    assert caught.value.field == "days"
    child = user.create_token(arena, "child", ["read"], None, weak)
    assert child.parent_id == weak.token_id
    assert child.expires is not None
    equal = user.create_token(arena, "equal", ["read"], None, ada)
    user.revoke_token(arena, equal.id, weak)
    user.revoke_token(arena, weak.token_id or 0, weak)
    assert arena.store.users.by_token(digest_of(child.token)) is None
    still = [held.name for held in arena.store.users.tokens(ada.user_id) if held.revoked is None]
    assert still == ["strong"]


def test_scopes_lost_by_role_are_not_required(arena: Arena, person: Person) -> None:
    ada = person("ada", "organiser")
    made = user.create_token(arena, "laptop", ["read", "organise"], None, ada)
    user.change(arena, "ada", role="author")
    by = Identity(ada.user_id, "ada", "author", scopes_of("author"))
    user.revoke_token(arena, made.id, by)


@pytest.mark.usefixtures("instant")
def test_wrong_passwords_do_not_delay_trusted_devices(arena: Arena) -> None:
    user.add(arena, "ada", "author", PASSWORD)
    device = account.log_in(arena, "ada", PASSWORD, HOME).device
    for number in range(60):
        with pytest.raises((UnauthorisedError, account.TooManyTriesError)):
            account.authenticate(arena, "ada", "wrong", account.LoginOrigin(f"203.0.113.{number}"))
    with pytest.raises(account.TooManyTriesError) as caught:
        account.authenticate(arena, "ada", PASSWORD, AWAY)
    assert 0 < caught.value.wait_s <= 60
    assert account.authenticate(arena, "ada", PASSWORD, HOME).name == "ada"
    assert account.authenticate(arena, "ada", PASSWORD, account.LoginOrigin(AWAY.address, device)).name == "ada"


@pytest.mark.usefixtures("instant")
def test_address_is_delayed_for_all_names(arena: Arena) -> None:
    for number in range(20):
        with pytest.raises(UnauthorisedError):
            account.authenticate(arena, f"user{number}", "wrong", AWAY)
    with pytest.raises(account.TooManyTriesError):
        account.authenticate(arena, "somebody", "wrong", AWAY)


def test_right_password_resets_the_origin_but_not_the_address(arena: Arena) -> None:
    user.add(arena, "ada", "author", PASSWORD)

    def wrong(name: str) -> None:
        with pytest.raises(UnauthorisedError):
            account.log_in(arena, name, "wrong", AWAY)

    for _ in range(4):
        wrong("ada")
    account.log_in(arena, "ada", PASSWORD, AWAY)
    for number in range(16):
        wrong(f"other {number}")
    with pytest.raises(account.TooManyTriesError):
        account.log_in(arena, "another", "wrong", AWAY)
    for _ in range(5):  # her device is trusted by now
        wrong("ada")


def test_attempts_are_shared_by_processes(arena: Arena) -> None:
    user.add(arena, "ada", "author", PASSWORD)
    other = Arena(Store(arena.store.url), arena.settings)
    for number in range(5):
        with pytest.raises(UnauthorisedError):
            account.authenticate((arena, other)[number % 2], "ada", "wrong", AWAY)
    for server in (arena, other):
        with pytest.raises(account.TooManyTriesError):
            account.authenticate(server, "ada", PASSWORD, AWAY)
    other.store.close()


@pytest.mark.parametrize("name", ["a\0b", "é" * 40, "", "x" * 500])
def test_unknown_names_are_treated_like_known_ones(arena: Arena, name: str) -> None:
    with pytest.raises(UnauthorisedError, match="no user with this name and password"):
        account.authenticate(arena, name, PASSWORD, HOME)


def test_changed_password_ends_sessions_and_trust(arena: Arena) -> None:
    user.add(arena, "ada", "author", PASSWORD)
    session = account.log_in(arena, "ada", PASSWORD, HOME)
    ada = account.authenticate(arena, "ada", PASSWORD, HOME)
    made = user.create_token(arena, "laptop", ["read"], None, ada)
    fresh = account.change_password(arena, ada, PASSWORD, "another horse, no battery", HOME)
    assert arena.store.users.by_login(digest_of(session.secret)) is None
    assert arena.store.users.by_login(digest_of(fresh.secret)) is not None
    assert not arena.store.trusted_devices.is_known_to_any_user(digest_of(session.device))
    assert arena.store.users.by_token(digest_of(made.token)) is not None
    user.change(arena, "ada", password="yet another horse", revoke_tokens=True)
    assert arena.store.users.by_token(digest_of(made.token)) is None
    assert not arena.store.trusted_devices.is_known_to_any_user(digest_of(fresh.device))


def test_ensure_admin_creates_one_administrator(arena: Arena) -> None:
    made = user.ensure_admin(arena, "root")
    assert made is not None
    assert account.authenticate(arena, "root", made[0], HOME).role == "admin"
    identity = arena.store.users.by_token(digest_of(made[1]))
    assert identity is not None
    assert "admin" in identity.scopes
    assert user.ensure_admin(arena, "other") is None


def test_update_profile_changes_given_fields(arena: Arena, person: Person) -> None:
    ada = person("ada")
    found = account.update_profile(arena, ada, " I write bots.\nIn C. ", "https://example.org/~ada?x=1#me")
    assert (found.about, found.link) == ("I write bots.\nIn C.", "https://example.org/~ada?x=1#me")
    assert account.update_profile(arena, ada, link="").about == "I write bots.\nIn C."
    assert arena.store.users.find("ada").link == ""


@pytest.mark.parametrize(
    ("about", "link", "field"),
    [
        ("x" * 1001, "", "about"),
        ("bell\a", "", "about"),
        ("", "javascript:alert(1)", "link"),
        ("", "https://", "link"),
        ("", "https://exa mple.org", "link"),
        ("", 'http://example.org/"onclick', "link"),
        ("", "https://example.org/" + "x" * 181, "link"),
    ],
)
def test_invalid_profile_raises(arena: Arena, person: Person, about: str, link: str, field: str) -> None:
    ada = person("ada")
    with pytest.raises(BadValueError) as caught:
        account.update_profile(arena, ada, about, link)
    assert (caught.value.field, caught.value.status) == (field, 422)
    assert arena.store.users.find("ada").about == arena.store.users.find("ada").link == ""


def test_account_details_name_notices_until_they_are_read(arena: Arena, person: Person) -> None:
    ada = person("ada")
    bot = arena.store.bots.add("zeta", ada.user_id)
    arena.store.versions.add(bot.id, BotFile(("./bot",), families=("loa",)), size_bytes=7)
    claimed = arena.store.checks.claim()
    assert claimed is not None
    arena.store.checks.conclude(claimed.id or 0, report={}, variants={}, capabilities={}, problem="it crashes")
    user.create_token(arena, "laptop", ["read"], None, ada)
    details = account.details(arena, ada)
    assert (details.account.bots, details.account.versions, details.account.size_bytes) == (1, 1, 7)
    assert ([item.name for item in details.bots], [item.name for item in details.tokens]) == (["zeta"], ["laptop"])
    assert [(notice.kind, notice.what, notice.detail) for notice in details.notices] == [
        ("check", "failed", "it crashes")
    ]
    assert (details.read_until, len(account.unread(arena, ada))) == (None, 1)
    account.mark_read(arena, ada)
    assert (account.details(arena, ada).read_until is None, len(account.unread(arena, ada))) == (False, 0)
