"""Users, passwords, sessions and tokens."""

from __future__ import annotations

import pytest

from arena.errors import Exit, ForbiddenError, UnauthorisedError
from arena.services import Arena, account, token, user
from arena.store import BadValueError, NotFoundError, TakenError
from arena.store.credentials import CredentialError, digest_of
from tests.arena.services.conftest import Person

PASSWORD = "correct horse battery"


def test_a_user_logs_in_and_out(arena: Arena) -> None:
    user.add(arena, "ada", "organiser", PASSWORD)
    session = account.log_in(arena, "ada", PASSWORD)
    assert session.seconds == arena.settings.session_hours * 3600
    found = arena.store.users.by_login(digest_of(session.secret))
    assert found is not None
    assert (found.name, found.scopes) == ("ada", account.authenticate(arena, "ada", PASSWORD).scopes)
    account.log_out(arena, session.secret)
    account.log_out(arena, session.secret)
    assert arena.store.users.by_login(digest_of(session.secret)) is None


@pytest.mark.parametrize("name", ["ada", "nobody"])
def test_a_wrong_password_says_nothing_of_the_name(arena: Arena, name: str) -> None:
    user.add(arena, "ada", "author", PASSWORD)
    with pytest.raises(UnauthorisedError, match=r"^no user with this name and password$"):
        account.log_in(arena, name, "something else")
    assert arena.store.audit.page(subject=f"user:{name}").items[0].action == "login.refused"


def test_who_is_disabled_stays_outside(arena: Arena, person: Person) -> None:
    user.add(arena, "ada", "author", PASSWORD)
    session = account.log_in(arena, "ada", PASSWORD)
    user.change(arena, "ada", is_active=False, by=person("root", "admin"))
    assert arena.store.users.by_login(digest_of(session.secret)) is None
    with pytest.raises(UnauthorisedError):
        account.authenticate(arena, "ada", PASSWORD)


def test_users_that_cannot_be(arena: Arena, person: Person) -> None:
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
    user.change(arena, "root", role="author")  # whoever runs the arena may


def test_a_token_gives_no_more_than_its_maker_has(arena: Arena, person: Person) -> None:
    ada = person("ada")
    row, secret = token.make(arena, "laptop", ["submit", "read"], 3, ada)
    assert row.expires is not None
    found = arena.store.users.by_token(digest_of(secret))
    assert found is not None
    assert (found.user_id, found.scopes) == (ada.user_id, {"read", "submit"})
    with pytest.raises(ForbiddenError, match="'admin'") as caught:
        token.make(arena, "laptop", ["read", "admin"], None, ada)
    assert caught.value.field == "scopes"
    for name in ("", "x" * 81, "a\nb"):
        with pytest.raises(BadValueError, match="name of 1 to 80"):
            token.make(arena, name, ["read"], None, ada)
    with pytest.raises(BadValueError, match="no scope at all"):
        token.make(arena, "laptop", [], None, ada)


def test_a_token_is_revoked_by_its_owner_alone(arena: Arena, person: Person) -> None:
    ada = person("ada")
    row, secret = token.make(arena, "laptop", ["read"], None, ada)
    with pytest.raises(NotFoundError):
        token.revoke(arena, row.id or 0, person("bob"))
    token.revoke(arena, row.id or 0, ada)
    token.revoke(arena, row.id or 0, ada)
    assert arena.store.users.by_token(digest_of(secret)) is None


def test_the_first_administrator_is_made_once(arena: Arena) -> None:
    made = user.ensure_admin(arena, "root")
    assert made is not None
    assert account.authenticate(arena, "root", made[0]).role == "admin"
    identity = arena.store.users.by_token(digest_of(made[1]))
    assert identity is not None
    assert "admin" in identity.scopes
    assert user.ensure_admin(arena, "other") is None
