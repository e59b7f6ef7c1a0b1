"""Users, tokens, browser sessions."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta

import pytest
from sqlalchemy import event

from arena.clock import now
from arena.credentials import digest_of, new_token
from arena.errors import BadValueError, ConflictError, NotFoundError
from arena.store import Store


def test_add_invalid_or_taken_name_raises(store: Store) -> None:
    zoe = store.users.add("zoe")
    assert store.users.find("zoe") == zoe
    with pytest.raises(ConflictError, match="is taken"):
        store.users.add("zoe")
    for name in ("Zoe", "z e", "", "-z", "z" * 41, "zoé", "../x", "a.b"):
        with pytest.raises(BadValueError, match="lower-case"):
            store.users.add(name)
    with pytest.raises(BadValueError, match="unknown role"):
        store.users.add("ada", role="king")
    with pytest.raises(NotFoundError, match="no user 'ada'"):
        store.users.find("ada")
    with pytest.raises(NotFoundError):
        store.users.get(10**9)


def test_token_identifies_user_until_revoked(store: Store) -> None:
    user = store.users.add("zoe", role="organiser")
    assert user.id is not None
    secret = new_token()
    assert secret.startswith("arena_")
    assert len(secret) == 49
    token = store.users.add_token(user.id, "laptop", digest_of(secret), "read submit organise")
    identity = store.users.by_token(digest_of(secret))
    assert identity is not None
    assert (identity.name, identity.token_id, identity.scopes) == ("zoe", token.id, {"read", "submit", "organise"})
    assert store.users.tokens(user.id)[0].last_used is not None
    assert store.users.by_token(digest_of(secret + "x")) is None

    store.users.change("zoe", role="author")  # a lost role takes its scopes from every token
    identity = store.users.by_token(digest_of(secret))
    assert identity is not None
    assert identity.scopes == {"read", "submit"}

    store.users.change("zoe", is_active=False)
    assert store.users.by_token(digest_of(secret)) is None
    store.users.change("zoe", is_active=True)
    assert token.id is not None
    with pytest.raises(NotFoundError):
        store.users.revoke(user.id + 1, token.id)
    store.users.revoke(user.id, token.id)
    assert store.users.by_token(digest_of(secret)) is None


def test_expired_token_is_rejected(store: Store) -> None:
    user = store.users.add("zoe")
    assert user.id is not None
    for name, hours in (("old", -1), ("new", 1)):
        store.users.add_token(user.id, name, digest_of(name), "read", expires=now() + timedelta(hours=hours))
    assert store.users.by_token(digest_of("old")) is None
    assert store.users.by_token(digest_of("new")) is not None
    assert "the token expired on 20" in store.users.why_useless(digest_of("old"))


def test_why_useless_names_the_reason(store: Store) -> None:
    user = store.users.add("zoe")
    assert user.id is not None
    token = store.users.add_token(user.id, "one", digest_of("one"), "read")
    assert store.users.why_useless(digest_of("other")) == "the token is unknown"
    store.users.change("zoe", is_active=False)
    assert "disabled" in store.users.why_useless(digest_of("one"))
    store.users.revoke(user.id, token.id or 0)
    assert "was revoked on 20" in store.users.why_useless(digest_of("one"))


def test_token_ends_with_its_parent(store: Store) -> None:
    user = store.users.add("zoe").id or 0
    ends = now() + timedelta(hours=1)
    parent = store.users.add_token(user, "parent", digest_of("parent"), "read", expires=ends)
    for_ever = store.users.add_token(user, "child", digest_of("child"), "read", parent_id=parent.id)
    later = store.users.add_token(
        user, "grandchild", digest_of("grandchild"), "read", expires=ends + timedelta(days=9), parent_id=for_ever.id
    )
    sooner = store.users.add_token(
        user, "sooner", digest_of("sooner"), "read", expires=ends - timedelta(minutes=9), parent_id=parent.id
    )
    other = store.users.add_token(user, "other", digest_of("other"), "read")
    assert (for_ever.expires, later.expires, sooner.expires) == (ends, ends, ends - timedelta(minutes=9))
    store.users.revoke(user, parent.id or 0)
    alive = [
        secret
        for secret in ("parent", "child", "grandchild", "sooner", "other")
        if store.users.by_token(digest_of(secret))
    ]
    assert alive == ["other"]
    with pytest.raises(BadValueError, match="has expired or was revoked"):
        store.users.add_token(user, "late", digest_of("late"), "read", parent_id=parent.id)
    assert store.users.revoke_all(user) == 1
    assert store.users.by_token(digest_of("other")) is None
    assert other.parent_id is None


def test_add_token_scope_beyond_role_raises(store: Store) -> None:
    user = store.users.add("zoe")
    assert user.id is not None
    with pytest.raises(BadValueError, match="cannot grant the scope 'admin'"):
        store.users.add_token(user.id, "x", "0" * 64, "read admin")
    with pytest.raises(BadValueError, match="unknown scope 'everything'"):
        store.users.add_token(user.id, "x", "0" * 64, "everything")


def test_login_identifies_user_until_ended(store: Store) -> None:
    user = store.users.add("zoe")
    assert user.id is not None
    store.users.add_login(user.id, "a" * 64, "csrf", now() + timedelta(hours=1))
    identity = store.users.by_login("a" * 64)
    assert identity is not None
    assert (identity.name, identity.csrf, identity.token_id) == ("zoe", "csrf", None)
    store.users.end_login("a" * 64)
    store.users.end_login("a" * 64)
    assert store.users.by_login("a" * 64) is None

    store.users.add_login(user.id, "b" * 64, "csrf", now() - timedelta(seconds=1))
    assert store.users.by_login("b" * 64) is None

    store.users.add_login(user.id, "c" * 64, "csrf", now() + timedelta(hours=1))
    store.users.change("zoe", password_hash="another")  # ends every session
    assert store.users.by_login("c" * 64) is None


def test_page_lists_users_by_name(store: Store) -> None:
    names = [f"user{number}" for number in range(7)]
    for name in reversed(names):
        store.users.add(name)
    listed, after = [], None
    for _ in range(3):
        page = store.users.page(limit=3, after=after)
        listed += [user.name for user in page.items]
        after = page.next
    assert listed == names
    assert after is None
    for cursor in ("x", "W10", "!!", "bnVsbA", "WzFd", "é"):
        with pytest.raises(BadValueError, match="invalid cursor"):
            store.users.page(after=cursor)


def test_change_keeps_the_last_administrator(store: Store) -> None:
    store.users.add("ada", "admin")
    store.users.add("bob", "admin")
    store.users.change("bob", is_active=False)
    for change in ({"role": "author"}, {"is_active": False}):
        with pytest.raises(ConflictError, match="ada is the only administrator"):
            store.users.change("ada", **change)
    store.users.change("ada", role="admin", is_active=True)
    store.users.change("bob", is_active=True)
    assert store.users.change("ada", role="author").role == "author"


def test_change_of_the_last_two_administrators_at_once_keeps_one(store: Store) -> None:
    names = ("ada", "bob")
    for name in names:
        store.users.add(name, "admin")
    both = threading.Barrier(2)

    def meet(_: object) -> None:
        with suppress(threading.BrokenBarrierError):  # the other one waits for this transaction
            both.wait(0.5)

    def leave(name: str) -> bool:
        try:
            store.users.change(name, role="author")
        except ConflictError:
            return False
        return True

    event.listen(store.engine, "commit", meet)
    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(leave, names)) == [False, True]
    assert store.users.count("admin") == 1
