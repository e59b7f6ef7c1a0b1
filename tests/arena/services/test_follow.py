"""Follow bots and tournaments, and the notices that come of it."""

from __future__ import annotations

import pytest

from arena.documents.account import FollowedItem
from arena.errors import BadValueError, NotFoundError, QuotaError
from arena.services import Arena, account, follow
from arena.store import Store
from arena.store.people import notices
from referee.bot.file import BotFile
from tests.arena.field import Field
from tests.arena.services.conftest import Person


@pytest.fixture
def field(arena: Arena) -> Field:
    return Field(arena.store)


def check_version(store: Store, name: str, problem: str = "") -> None:
    """Add a version of a bot, and conclude its check."""
    version = store.versions.add(store.bots.find(name).id, BotFile(("./bot",), families=("loa",)), bundle="ab" * 32)
    store.checks.claim()
    store.checks.conclude(version.id or 0, report={}, variants={"loa": []}, capabilities={}, problem=problem)


def test_change_begins_and_ends_following(arena: Arena, field: Field, person: Person) -> None:
    eve, number, ada = person("eve"), str(field.tournament_id), arena.store.bots.find("ada").id
    for _ in range(2):  # again changes nothing
        follow.change(arena, "bot", "ada", eve, is_followed=True)
        follow.change(arena, "tournament", number, eve, is_followed=True)
    assert follow.read(arena, eve) == [
        FollowedItem("bot", "ada", "ada"),
        FollowedItem("tournament", "cup", number),
    ]
    assert follow.has(arena, "bot", ada, eve)
    assert not follow.has(arena, "bot", arena.store.bots.find("bob").id, eve)
    assert not follow.has(arena, "bot", ada, person("otto"))
    assert not follow.has(arena, "bot", ada, None)
    for _ in range(2):
        follow.change(arena, "bot", "ada", eve, is_followed=False)
    assert [followed.kind for followed in follow.read(arena, eve)] == ["tournament"]


def test_change_with_wrong_values_raises(
    arena: Arena, field: Field, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    eve = person("eve")
    with pytest.raises(BadValueError, match="invalid kind 'people'"):
        follow.change(arena, "people", "zoe", eve, is_followed=True)
    for kind, key in (("bot", "nobody"), ("tournament", "99"), ("tournament", "x" * 30), ("user", "nobody")):
        with pytest.raises(NotFoundError):
            follow.change(arena, kind, key, eve, is_followed=True)
    monkeypatch.setattr(follow, "MAX_FOLLOWED", 1)
    follow.change(arena, "bot", "ada", eve, is_followed=True)
    with pytest.raises(QuotaError, match="you follow 1 bots, tournaments and people"):
        follow.change(arena, "bot", "bob", eve, is_followed=True)
    follow.change(arena, "bot", "ada", eve, is_followed=False)


@pytest.mark.parametrize(("kind", "key"), [("bot", "ada"), ("tournament", "1"), ("user", "zoe")])
def test_the_end_of_a_tournament_is_news_of_what_is_followed(
    arena: Arena, field: Field, person: Person, kind: str, key: str
) -> None:
    eve = person("eve")
    follow.change(arena, kind, key, eve, is_followed=True)
    assert len(account.unread(arena, eve)) == 0
    arena.store.tournaments.move(field.tournament_id, "finished")
    (notice,) = account.details(arena, eve).notices
    assert (notice.kind, notice.name, notice.key, notice.what) == ("tournament", "cup", "1", "finished")
    assert len(account.unread(arena, eve)) == 1
    account.mark_read(arena, eve)
    assert len(account.unread(arena, eve)) == 0


def test_news_before_the_following_are_none(arena: Arena, field: Field, person: Person) -> None:
    arena.store.tournaments.move(field.tournament_id, "finished")
    eve = person("eve")
    follow.change(arena, "bot", "ada", eve, is_followed=True)
    follow.change(arena, "tournament", "1", eve, is_followed=True)
    assert account.details(arena, eve).notices == []


def test_a_new_version_is_news_of_a_followed_bot(arena: Arena, field: Field, person: Person) -> None:
    eve, store = person("eve"), arena.store
    for name in ("ada", "bob"):
        follow.change(arena, "bot", name, eve, is_followed=True)
    for name, problem in (("ada", ""), ("bob", "no answer to ugi")):
        check_version(store, name, problem)
    (notice,) = account.details(arena, eve).notices
    assert (notice.kind, notice.name, notice.what) == ("version", "ada v2", "active")


def test_a_new_version_of_any_bot_is_news_of_a_followed_person(arena: Arena, field: Field, person: Person) -> None:
    eve, otto, store = person("eve"), person("otto"), arena.store
    follow.change(arena, "user", arena.store.users.get(field.user_id).name, eve, is_followed=True)
    assert [(followed.kind, followed.key) for followed in follow.read(arena, eve)] == [("user", "zoe")]
    assert follow.has(arena, "user", field.user_id, eve)
    assert not follow.has(arena, "user", otto.user_id, eve)
    for owner, name in ((field.user_id, "newcomer"), (otto.user_id, "other")):
        store.versions.add(store.bots.add(name, owner).id, BotFile(("./bot",), families=("loa",)), bundle="ab" * 32)
        checked = store.checks.claim()
        assert checked is not None
        store.checks.conclude(checked.id or 0, report={}, variants={"loa": []}, capabilities={}, problem="")
    assert [(notice.kind, notice.name) for notice in account.details(arena, eve).notices] == [
        ("version", "newcomer v1")
    ]
    follow.change(arena, "user", "zoe", eve, is_followed=False)
    assert account.details(arena, eve).notices == []


def test_an_owner_who_follows_gets_each_notice_once(arena: Arena, field: Field) -> None:
    store = arena.store
    store.follows.add(field.user_id, "bot", store.bots.find("ada").id)
    store.follows.add(field.user_id, "tournament", field.tournament_id)
    store.tournaments.move(field.tournament_id, "finished")
    assert [one.kind for one in store.notices.of(field.user_id)] == ["tournament"]


def test_many_followed_bots_of_one_tournament_hide_no_other(
    arena: Arena, field: Field, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "LIMIT", 3)
    eve, store = person("eve"), arena.store
    other = field.add_tournament()
    for bot in ("ada", "bob", "cleo", "dan"):
        follow.change(arena, "bot", bot, eve, is_followed=True)
    follow.change(arena, "tournament", str(other.id), eve, is_followed=True)
    follow.change(arena, "user", "zoe", eve, is_followed=True)
    store.tournaments.move(other.id or 0, "finished")
    store.tournaments.move(field.tournament_id, "finished")
    ended = [notice.key for notice in account.details(arena, eve).notices]
    assert ended == [str(field.tournament_id), str(other.id)]


def test_versions_of_a_followed_person_and_bot_take_one_place_each(
    arena: Arena, field: Field, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "LIMIT", 2)
    eve, store = person("eve"), arena.store
    follow.change(arena, "bot", "ada", eve, is_followed=True)
    follow.change(arena, "user", "zoe", eve, is_followed=True)
    for _ in range(2):
        check_version(store, "ada")
    assert [notice.name for notice in account.details(arena, eve).notices] == ["ada v3", "ada v2"]


def test_a_new_version_of_an_own_followed_bot_is_news_once(arena: Arena, field: Field) -> None:
    store = arena.store
    store.follows.add(field.user_id, "bot", store.bots.find("ada").id)
    check_version(store, "ada")
    assert [(notice.kind, notice.name) for notice in store.notices.of(field.user_id)] == [("check", "ada v2")]
