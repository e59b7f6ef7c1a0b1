"""Standings of tournaments, cached while nothing changes in them."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from arena.services import Arena, standings, standings_cache
from arena.store.base.tables.tournaments import Tournament
from arena.tournaments.stored_tournament import StoredTournament
from tests.arena.field import START, Field, record_of

SETTINGS = {"name": "cup", "family": "loa", "format": "round-robin", "games": 2, "entries": {"all": True}}


@pytest.fixture
def field(arena: Arena) -> Field:
    return Field(arena.store, ("ada", "bob", "cleo"))


def cup(field: Field) -> int:
    names = ("name", "family", "format")
    tournament = Tournament(
        **{name: SETTINGS[name] for name in names},
        variant="standard",
        pool="loa",
        start_time=START,
        created_by=field.user_id,
        settings=SETTINGS,
    )
    number = field.store.tournaments.add(tournament, [(version.id or 0, "fit") for version in field.versions]).id
    assert number is not None
    field.store.tournaments.move(number, "running")
    return number


def points(found: standings_cache.TournamentStandings) -> dict[str, float]:
    return {line.name: line.points for line in found.standing.lines}


def test_unchanged_tournament_is_read_from_the_cache(arena: Arena, field: Field) -> None:
    mine, other = cup(field), cup(field)
    field.play(4, mine)
    found = standings.read(arena, mine)
    field.play(4, other)
    assert standings.read(arena, mine) is found, "changes in other tournaments do not invalidate it"
    assert sum(points(found).values()) == 4


@pytest.mark.parametrize(
    "happen",
    [
        lambda field, mine: field.play(1, mine, first_sequence=3),
        lambda field, mine: field.plan(2, mine, first_sequence=3),
        lambda field, mine: field.store.tournaments.withdraw(mine, field.versions[0].id),
        lambda field, mine: field.store.tournaments.move(mine, "paused"),
    ],
    ids=["a result", "more games", "a withdrawal", "another state"],
)
def test_changed_tournament_is_computed_again(
    arena: Arena, field: Field, happen: Callable[[Field, int], object]
) -> None:
    mine = cup(field)
    field.play(2, mine)
    before = standings.read(arena, mine)
    happen(field, mine)
    now = standings.read(arena, mine)
    assert now is not before
    assert now == standings_cache.StandingsCache().read(StoredTournament.get(arena.store, mine))


def test_many_results_are_read_in_batches(arena: Arena, field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = cup(field)
    field.play(8, mine)
    whole = standings.read(arena, mine)
    for batch in (1, 3, 8):
        monkeypatch.setattr("arena.tournaments.standing.BATCH", batch)
        assert standings_cache.StandingsCache().read(StoredTournament.get(arena.store, mine)) == whole


def test_only_new_results_are_read(arena: Arena, field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, after_commit, asked = cup(field), arena.store.results.after_commit, list[int]()

    def count(tournament_id: int, after: int, limit: int) -> Any:
        batch = after_commit(tournament_id, after, limit)
        asked.append(len(batch))
        return batch

    monkeypatch.setattr(arena.store.results, "after_commit", count)
    for number in range(3):
        field.play(4, mine, first_sequence=1 + 4 * number)
        standings.view(arena, arena.store.tournaments.get(mine))
    assert asked == [4, 4, 4]
    standing = standings.read(arena, mine)
    assert sum(standing.endings.values()) == 12
    assert standing == standings_cache.StandingsCache().read(StoredTournament.get(arena.store, mine))


@pytest.mark.parametrize("listed", [standings.MAX_LISTED, 1])
def test_block_of_the_crosstable_is_that_of_the_whole(
    arena: Arena, field: Field, monkeypatch: pytest.MonkeyPatch, listed: int
) -> None:
    monkeypatch.setattr(standings, "MAX_LISTED", listed)
    mine = cup(field)
    field.play(18, mine)
    table = standings.read(arena, mine)
    whole = standings.rows_of(arena.store, table)
    block = standings.block(arena, table, slice(0, 2), slice(1, 3))
    assert [row.standing for row in block] == list(table.standing.lines[:2])
    for part, whole_part in zip(block, whole, strict=False):
        for cell, expected in zip(part.cells, whole_part.cells[1:3], strict=True):
            if cell is None or expected is None:
                assert cell is expected
            elif expected.games <= listed:
                assert cell == expected
            else:
                assert (cell.points, cell.games, cell.numbers) == (expected.points, expected.games, [])
                assert sorted(cell.results) == sorted(expected.results)


def test_replayed_result_is_counted(arena: Arena, field: Field) -> None:
    mine = cup(field)
    (game,) = field.plan(1, mine)
    arena.store.results.commit(record_of(game, winner="first"))
    assert points(standings.read(arena, mine))[game.spec.first.name] == 1
    arena.store.results.undo({game.id: "wrong"})
    arena.store.results.commit(record_of(game, winner="second"))
    assert points(standings.read(arena, mine))[game.spec.first.name] == 0


def test_view_counts_games_by_state_and_those_restarted(arena: Arena, field: Field) -> None:
    mine = cup(field)
    field.play(2, mine)
    (game,) = field.plan(1, mine, first_sequence=3)
    queue = arena.store.queue
    for _ in range(2):
        queue.hand_out([game.id], "here")
        queue.give_back(ids=[game.id])  # it was queued for a slot, but did not start
    assert standings.view(arena, arena.store.tournaments.get(mine)).restarted == 0
    for _ in range(2):
        queue.hand_out([game.id], "here")
        queue.start(game.id)
        queue.give_back(ids=[game.id])
    view = standings.view(arena, arena.store.tournaments.get(mine))
    assert (view.restarted, view.games) == (1, {"finished": 2, "planned": 1})
    assert [entry.name for entry in view.entries] == [version.name for version in field.versions]


def test_crosstable_has_the_lines_of_the_standings(arena: Arena, field: Field) -> None:
    mine = cup(field)
    field.play(6, mine)
    row, ranked = standings.show(arena, mine)
    table = standings.crosstable(arena.store, standings.read(arena, mine))
    assert (row.id, table.tournament, table.is_final) == (mine, mine, ranked.is_final)
    assert [line.name for line in table.items] == [line.name for line in ranked.items]
    for place, line in enumerate(table.items):
        assert line.cells[place] is None
        others = [cell for cell in line.cells if cell]
        assert sum(cell.games for cell in others) == line.games
        assert sum(cell.points for cell in others) == line.points


def test_cache_evicts_the_least_recently_read(arena: Arena, field: Field) -> None:
    arena.standings = standings_cache.StandingsCache(2)
    first, second, third = (cup(field) for _ in range(3))
    cached = standings.read(arena, first)
    standings.read(arena, second)
    assert standings.read(arena, first) is cached
    standings.read(arena, third)
    assert standings.read(arena, first) is cached, "the least recently read one was evicted"
    standings.read(arena, second)
    standings.read(arena, third)
    assert standings.read(arena, first) is not cached


def test_results_are_counted_by_rules(arena: Arena, field: Field) -> None:
    mine = cup(field)
    records = field.play(4, mine)
    counted = {(options_of, winner): games for _, options_of, winner, games in _counted(arena, mine)}
    assert sum(counted.values()) == 4
    for winner in ("first", "second", "draw"):
        assert counted.get(("{}", winner), 0) == sum(record.winner == winner for record in records)
    assert standings.read(arena, mine).rules == (), "all games have the same rules"


def _counted(arena: Arena, tournament: int) -> list[tuple[str, str, str, int]]:
    found = arena.store.counts.by_options(tournament)
    return [(variant, str(options), winner, games) for variant, options, winner, games in found]


def test_wins_by_rules_are_keyed_by_side() -> None:
    rows = [
        ("bell", {"first_player": "defenders"}, "draw", 1),
        ("bell", {"first_player": "defenders"}, "first", 4),
        ("bell", {}, "first", 3),
        ("bell", {}, "second", 2),
    ]
    store = SimpleNamespace(counts=SimpleNamespace(by_options=lambda tournament: rows))
    cup = Tournament(id=1, name="cup", family="tablut", settings={"sides": "random"})
    turned, usual = standings_cache.by_rules(store, cup)  # type: ignore[arg-type]
    assert (turned.text, turned.games, turned.draws) == ("bell first_player=defenders", 5, 1)
    assert (turned.won, usual.won) == ({"attackers": 0, "defenders": 4}, {"attackers": 3, "defenders": 2})
    assert standings_cache.by_rules(store, Tournament(id=1, family="tablut", settings={})) == ()  # type: ignore[arg-type]
