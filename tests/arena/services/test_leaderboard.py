"""Leaderboards with filters, and comparisons of rating curves."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from arena.clock import now
from arena.documents.rating import LeaderboardQuery, PoolItem
from arena.errors import BadValueError, NotFoundError
from arena.services import Arena, leaderboard
from tests.arena.field import Field

EVERYTHING = LeaderboardQuery()


@pytest.fixture
def field(arena: Arena) -> Field:
    """Play some games of four bots."""
    found = Field(arena.store)
    found.play(24)
    return found


def test_present_leaderboard_counts_games_and_sides_of_the_pool(arena: Arena, field: Field) -> None:
    found = leaderboard.read(arena, "loa", EVERYTHING)
    assert (found.pool, found.pools, found.games, found.at) == ("loa", ["loa"], 24, None)
    assert sum(one.first + one.draw + one.second for one in found.sides) == 24
    assert [line.place for line in found.items] == list(range(1, len(found.items) + 1))
    assert all(line.elo is None for line in found.items)
    assert leaderboard.pools(arena, "loa") == [PoolItem("loa", "loa", 24)]
    assert leaderboard.pools(arena, "tablut") == []


def test_filters_choose_lines_and_games(arena: Arena, field: Field) -> None:
    whole = leaderboard.read(arena, "loa", EVERYTHING).items
    variant = leaderboard.read(arena, "loa", LeaderboardQuery(variant="standard")).items
    assert [line.games for line in variant] == [line.games for line in whole]
    assert all(line.elo is not None and line.elo_interval for line in variant)
    assert leaderboard.read(arena, "loa", LeaderboardQuery(pace="classical")).items == []
    owner = whole[0].owner
    assert len(leaderboard.read(arena, "loa", LeaderboardQuery(owner=owner)).items) == len(whole)
    assert leaderboard.read(arena, "loa", LeaderboardQuery(owner="nobody")).items == []
    past = leaderboard.read(arena, "loa", LeaderboardQuery(at="2000-01-01"))
    assert (past.items, past.at) == ([], datetime(2000, 1, 1, 23, 59, 59, 999999, UTC))
    later = (now() + timedelta(days=1)).isoformat()
    assert [line.name for line in leaderboard.read(arena, "loa", LeaderboardQuery(at=later)).items] == [
        line.name for line in whole
    ]


def test_filter_by_a_variant_with_ratings_of_its_own_names_their_pool(arena: Arena) -> None:
    pools = [PoolItem("tablut", "tablut", 4), PoolItem("tablut/ashton", "tablut", 2)]
    with pytest.raises(BadValueError, match="variant 'ashton' is not rated in the pool tablut") as refused:
        leaderboard.read(arena, "tablut", LeaderboardQuery(variant="ashton"), pools)
    assert refused.value.hint == "it has ratings of its own, in the pool tablut/ashton"


def test_states_choose_retired_versions(arena: Arena, field: Field) -> None:
    whole = leaderboard.read(arena, "loa", EVERYTHING).items
    arena.store.versions.retire(whole[0].version_id)
    names = [line.name for line in whole]
    for query, expected in (
        (EVERYTHING, names[1:]),
        (LeaderboardQuery(retired=True), names),
        (LeaderboardQuery(state="all"), names),
        (LeaderboardQuery(state="retired"), names[:1]),
    ):
        assert [line.name for line in leaderboard.read(arena, "loa", query).items] == expected


@pytest.mark.parametrize("query", [LeaderboardQuery(variant="standard"), LeaderboardQuery(at="2999-01-01")])
def test_pages_of_a_filtered_leaderboard_join_to_the_whole(arena: Arena, field: Field, query: LeaderboardQuery) -> None:
    field.play(56, first_sequence=25)
    whole = leaderboard.read(arena, "loa", replace(query, limit=200)).items
    assert len({line.rank for line in whole}) > 1
    parts, after = [], None
    while True:
        part = leaderboard.read(arena, "loa", replace(query, limit=1, after=after))
        parts += part.items
        after = part.next
        if after is None:
            break
    assert parts == whole


@pytest.mark.parametrize(
    ("query", "field_name"),
    [(LeaderboardQuery(variant="huge"), "variant"), (LeaderboardQuery(at="yesterday"), "at")],
)
def test_unknown_filters_are_named(arena: Arena, field: Field, query: LeaderboardQuery, field_name: str) -> None:
    with pytest.raises(BadValueError) as caught:
        leaderboard.read(arena, "loa", query)
    assert caught.value.field == field_name
    assert caught.value.hint


def test_pool_of_another_family_is_not_found(arena: Arena, field: Field) -> None:
    with pytest.raises(NotFoundError, match="no pool 'tablut'"):
        leaderboard.read(arena, "loa", LeaderboardQuery(pool="tablut"))


def test_pool_without_its_family_is_that_of_the_family(arena: Arena, field: Field) -> None:
    of_family = [PoolItem("loa", "loa", 24), PoolItem("loa/remote", "loa", 2)]
    assert leaderboard.read(arena, "loa", LeaderboardQuery(pool="remote"), of_family).pool == "loa/remote"
    with pytest.raises(NotFoundError) as error:
        leaderboard.read(arena, "loa", LeaderboardQuery(pool="people"), of_family)
    assert error.value.hint == "pools with rated games: loa, loa/remote"


def test_comparison_joins_the_changes_of_all_versions(arena: Arena, field: Field) -> None:
    comparison = leaderboard.compare(arena, "loa", "loa", [])
    whole = leaderboard.read(arena, "loa", EVERYTHING).items
    assert list(comparison.curves) == list(dict.fromkeys(line.bot for line in whole))[:3]
    assert comparison.curves[whole[0].bot].best == whole[0]
    curves = leaderboard.compare(arena, "loa", "loa", comparison.bots).curves.values()
    assert sum(len(changes) for curve in curves for changes in curve.versions) == 48
    with pytest.raises(BadValueError, match="no bot 'adda' has a rating") as caught:
        leaderboard.compare(arena, "loa", "loa", ["adda"])
    assert caught.value.hint == "did you mean ada?"
    with pytest.raises(BadValueError, match="invalid pool"):
        leaderboard.compare(arena, "loa", "chess", [])
