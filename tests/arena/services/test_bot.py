"""Management of bots by their owners."""

from __future__ import annotations

import pytest

from arena.documents.account import Identity
from arena.errors import ForbiddenError, NotFoundError
from arena.services import Arena, bot
from referee.bot.file import BotFile
from tests.arena.field import Field
from tests.arena.services.conftest import Person


@pytest.fixture
def ada(arena: Arena, person: Person) -> Identity:
    """Create the owner of zeta."""
    found = person("ada")
    zeta = arena.store.bots.add("zeta", found.user_id)
    for _ in range(2):
        arena.store.versions.add(zeta.id or 0, BotFile(("./bot",), families=("loa",)), state="active")
    return found


def test_only_owner_and_admins_manage_a_bot(arena: Arena, ada: Identity, person: Person) -> None:
    bob = person("bob")
    for act in (
        lambda: bot.describe(arena, "zeta", "mine", bob),
        lambda: bot.retire(arena, "zeta", bob),
        lambda: bot.retire_version(arena, "zeta", 1, bob),
    ):
        with pytest.raises(ForbiddenError, match="zeta is not yours"):
            act()
    bot.describe(arena, "zeta", "well", person("root", "admin"))
    assert arena.store.bots.find("zeta").description == "well"
    assert not arena.store.bots.find("zeta").is_retired


def test_retire_version_then_bot(arena: Arena, ada: Identity) -> None:
    assert bot.retire_version(arena, "zeta", 1, ada).state == "retired"
    assert [line.number for line in arena.store.versions.active("loa")] == [2]
    bot.retire(arena, "zeta", ada)
    assert arena.store.versions.active("loa") == []
    notes = [(note.action, note.subject) for note in arena.store.audit.page().items]
    assert notes == [("bot.retire", "bot:zeta"), ("version.retire", "version:zeta v1")]


def test_unknown_bot_error_suggests_similar_names(arena: Arena, ada: Identity) -> None:
    with pytest.raises(NotFoundError) as caught:
        bot.retire(arena, "zetta", ada)
    assert caught.value.extra["near"] == ["zeta"]
    assert caught.value.hint == "did you mean zeta?"


def test_results_are_those_of_a_version_and_a_family(arena: Arena) -> None:
    field = Field(arena.store)
    field.play(8)
    whole = bot.results(arena, "ada")
    assert (whole.families, whole.version, len(whole.games)) == (
        ["loa"],
        None,
        len(bot.results(arena, "ada", "1").games),
    )
    assert [line.name for line in whole.versions] == ["ada v1"]
    (curve,) = whole.curves["loa"].values()
    assert len(curve) == len(whole.games) == sum(tally.count for tally in whole.tallies)
    elsewhere = bot.results(arena, "ada", "1", "abalone")
    assert (elsewhere.ratings, elsewhere.tallies, elsewhere.games) == ([], [], [])
    with pytest.raises(NotFoundError, match="no version of ada '7'"):
        bot.results(arena, "ada", "7")
