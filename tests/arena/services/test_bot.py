"""Management of bots by their owners."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from arena.documents.account import Identity
from arena.documents.rating import ScoreTables
from arena.errors import ForbiddenError, NotFoundError
from arena.services import Arena, bot
from arena.store.base.tables.ratings import VersionRating
from referee.bot.file import BotFile
from referee.ratings.trueskill import PROVISIONAL_GAMES
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


@pytest.mark.parametrize(("mu", "level"), [(19.9, 0), (20.0, 1), (24.9, 1), (25.0, 2), (40.0, 4)])
def test_a_bot_is_at_the_highest_level_rated_no_higher(arena: Arena, ada: Identity, mu: float, level: int) -> None:
    del ada
    samples = dict.fromkeys(("level-1", "level-2", "level-4"), "bots.samples.champion")
    levels = arena.store.samples.ensure(samples, {"loa": ("standard",)})
    zeta = arena.store.versions.find("zeta", 2)
    rate(arena, {levels["level-1"].id: 20.0, levels["level-2"].id: 25.0, levels["level-4"].id: 30.0, zeta.id: mu})
    line = arena.store.ratings.of_versions([zeta.id or 0])[0]
    assert bot.levels(arena, [line]) == {"loa": level}
    assert bot.levels(arena, [replace(line, is_provisional=True)]) == {}
    assert bot.levels(arena, [replace(line, pool="loa/people")]) == {}
    assert bot.levels(arena, arena.store.ratings.of_versions([levels["level-1"].id or 0])) == {}


def test_a_level_rated_above_a_higher_one_counts(arena: Arena, ada: Identity) -> None:
    del ada
    samples = dict.fromkeys(("level-1", "level-2", "level-3"), "bots.samples.champion")
    levels = arena.store.samples.ensure(samples, {"loa": ("standard",)})
    zeta = arena.store.versions.find("zeta", 2)
    rate(arena, {levels["level-1"].id: 20.0, levels["level-2"].id: 30.0, levels["level-3"].id: 25.0, zeta.id: 27.0})
    assert bot.levels(arena, arena.store.ratings.of_versions([zeta.id or 0])) == {"loa": 1}


def test_no_level_is_told_where_fewer_than_two_are_rated(arena: Arena, ada: Identity) -> None:
    del ada
    levels = arena.store.samples.ensure({"level-1": "bots.samples.champion"}, {"loa": ("standard",)})
    zeta = arena.store.versions.find("zeta", 2)
    rate(arena, {levels["level-1"].id: 20.0, zeta.id: 30.0})
    assert bot.levels(arena, arena.store.ratings.of_versions([zeta.id or 0])) == {}


def rate(arena: Arena, strengths: Mapping[int | None, float]) -> None:
    """Store ratings that are not provisional."""
    with arena.store.writing() as session:
        for number, mu in strengths.items():
            counts = {"games": PROVISIONAL_GAMES, "wins": 0, "draws": 0, "losses": PROVISIONAL_GAMES, "forfeits": 0}
            session.merge(VersionRating(pool="loa", version_id=number, mu=mu, sigma=1.0, conservative=mu - 3, **counts))


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
    assert len(curve) == len(whole.games) == sum(score.games for score in whole.scores.opponents.values())
    elsewhere = bot.results(arena, "ada", "1", "abalone")
    assert (elsewhere.ratings, elsewhere.scores, elsewhere.games) == ([], ScoreTables(), [])
    with pytest.raises(NotFoundError, match="no version of ada '7'"):
        bot.results(arena, "ada", "7")
