"""Games of people: their tournament, their owner, their opponents."""

from __future__ import annotations

import pytest

from arena.documents.human_game import OpponentItem
from arena.errors import NotFoundError
from arena.store import Store
from arena.store.bots.bots import OWNER
from referee.bot.file import BotFile

SETTINGS = {"variant": "standard", "pool": "people"}


def test_tournament_belongs_to_the_user_of_the_arena(store: Store) -> None:
    assert store.samples.owner_id() is None
    number = store.people.tournament("loa", "Games of people", SETTINGS, "loa/people")
    found = store.tournaments.get(number)
    assert (found.state, found.created_by) == ("open", store.users.find(OWNER).id)
    assert store.people.tournament("loa", "Games of people", SETTINGS, "loa/people") == number
    assert store.samples.owner_id() == found.created_by


def test_version_of_guests_and_users(store: Store) -> None:
    user = store.users.add("ada").id
    assert (store.people.version(user).name, store.people.version(None).name) == ("@ada", "guest")
    assert store.people.version(user).id == store.people.version(user).id
    with pytest.raises(NotFoundError):
        store.people.version(10**6)


def test_opponents_are_samples_first_then_bots_by_name(store: Store) -> None:
    store.samples.ensure({"zoo": "bots.first"}, {"loa": ["standard"]})
    user = store.users.add("ada").id or 0
    for name in ("bee", "ant", "cat"):
        bot = store.bots.add(name, user).id or 0
        for _ in range(2):
            store.versions.add(
                bot, BotFile(("./bot",), families=("loa",)), bundle="ab" * 32, size_bytes=1, state="active"
            )
        if name != "cat":
            store.people.allow(bot, True)
    bots = store.people.opponents("loa")
    assert [(bot.bot, bot.version) for bot in bots] == [("zoo", "zoo v1"), ("ant", "ant v2"), ("bee", "bee v2")]
    assert isinstance(bots[0], OpponentItem)
    assert store.versions.get(bots[1].version_id).name == "ant v2"
    assert store.people.opponents("tablut") == []
    assert [store.people.families_of(name) for name in ("zoo", "ant", "cat")] == [{"loa"}, {"loa"}, set()]
