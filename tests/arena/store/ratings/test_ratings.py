"""Leaderboards and rating lines."""

from __future__ import annotations

from itertools import pairwise

import pytest

from arena.documents.rating import PoolItem
from arena.store import Store
from referee.ratings.trueskill import PROVISIONAL_GAMES
from tests.arena.field import Field, record_of


def test_leaderboard_pages_are_consistent(store: Store, field: Field) -> None:
    field.play(30)
    whole = store.ratings.leaderboard("loa").items
    assert [line.place for line in whole] == [1, 2, 3, 4]
    assert all(higher.conservative >= lower.conservative for higher, lower in pairwise(whole))
    parts, after = [], None
    while True:
        page = store.ratings.leaderboard("loa", limit=1, after=after)
        parts += page.items
        after = page.next
        if after is None:
            break
    assert parts == whole
    assert whole[-1].beats_next is None
    assert all(0 < (line.beats_next or 0) < 1 for line in whole[:-1])
    assert store.ratings.pools() == [PoolItem("loa", "loa", 30)]
    assert store.ratings.leaderboard("nothing").items == []


def test_provisional_lines_have_no_rank(store: Store, field: Field) -> None:
    field.play(20)
    assert {line.rank for line in store.ratings.leaderboard("loa").items} == {None}
    field.play(60, first_sequence=21)
    lines = store.ratings.leaderboard("loa").items
    assert all(line.games >= PROVISIONAL_GAMES for line in lines)
    assert [line.rank for line in lines if not line.is_provisional] == list(
        range(1, 1 + sum(not line.is_provisional for line in lines))
    )


def test_leaderboard_hides_retired_versions(store: Store, field: Field) -> None:
    field.play(8)
    store.versions.retire(field.versions[0].id or 0)
    assert "ada v1" not in [line.name for line in store.ratings.leaderboard("loa").items]
    assert "ada v1" in [line.name for line in store.ratings.leaderboard("loa", with_retired=True).items]


def test_changes_return_one_line_per_game(store: Store, field: Field) -> None:
    records = [record for record in field.play(30) if "ada v1" in (record.first, record.second)]
    ada = field.versions[0].id or 0
    lines = store.ratings.changes(ada, "loa", limit=500).items
    assert [line.game_id for line in lines] == [record.id for record in records]
    assert all(earlier.mu == later.mu_before for earlier, later in pairwise(lines))
    points = [record.points[0 if record.first == "ada v1" else 1] for record in records]
    assert [line.points for line in lines] == points
    pool = store.ratings.of_versions([ada])[0]
    assert store.ratings.best_of_bots([field.versions[0].bot_id]) == {field.versions[0].bot_id: pool}
    assert (pool.pool, pool.games, pool.mu) == ("loa", len(records), lines[-1].mu)
    strength = store.ratings.strengths("loa", [ada, 10**6])
    assert strength[ada].mu == pool.mu
    assert len(strength) == 1
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))
    page = store.ratings.changes(ada, "loa", limit=3)
    assert store.ratings.changes(ada, "loa", limit=3, after=page.next).items == lines[3:6]


@pytest.mark.parametrize(("most", "latest"), [(500, 1), (4, 1), (4, 3), (1, 1)])
def test_points_of_a_curve_lie_at_equal_distances_and_end_with_the_latest(
    store: Store, field: Field, most: int, latest: int
) -> None:
    field.play(30)
    ada = field.versions[0].id or 0
    lines = store.ratings.changes(ada, "loa", limit=500).items
    step = -(-len(lines) // most)
    expected = [line for line in lines if line.number % step == 1 % step or line.number > len(lines) - latest]
    assert store.ratings.curves([ada], ["loa", "tablut"], most, latest) == {(ada, "loa"): expected}
    assert sum(line.number % step == 1 % step for line in expected) <= most


def test_leaderboard_averages_opponents(store: Store, field: Field) -> None:
    records = field.play(30)
    met: dict[int, list[float]] = {}
    for record in records:
        first, second = store.ratings.of_game(record.id).values()
        met.setdefault(first.version_id, []).append(second.mu_before)
        met.setdefault(second.version_id, []).append(first.mu_before)
    lines = store.ratings.leaderboard("loa").items
    assert {line.version_id: line.opponents for line in lines} == pytest.approx(
        {version_id: sum(strengths) / len(strengths) for version_id, strengths in met.items()}
    )
    own = {line.version_id: line.mu for line in lines}
    assert all(abs(line.opponents - own[line.version_id]) > 0.01 for line in lines)


def test_draw_counts_half_a_point(store: Store, field: Field) -> None:
    for game in field.plan(2):
        store.results.commit(record_of(game, winner="draw"))
    lines = store.ratings.leaderboard("loa").items
    assert sum(line.score for line in lines) == pytest.approx(len(lines) / 2)


def test_before_and_after_returns_ratings_around_two_games(store: Store, field: Field) -> None:
    field.play(30)
    ends: dict[tuple[int, str], tuple[str, str]] = {}
    for game in store.results.after_commit(field.tournament_id, 0):
        for version in (game.first_id, game.second_id):
            ends[version, "loa"] = ends.get((version, "loa"), (game.id,))[0], game.id
    around = store.ratings.before_and_after(ends)
    assert len(around) == len(field.versions)
    for version_id, (before, after) in around.items():
        lines = store.ratings.changes(version_id, "loa", limit=500).items
        first, last = lines[0], lines[-1]
        assert before == first.mu_before - 3 * first.sigma_before
        assert after == last.mu - 3 * last.sigma
    assert store.ratings.before_and_after({}) == {}
