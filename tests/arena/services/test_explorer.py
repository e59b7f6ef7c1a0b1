"""The explorer agrees with brute force over all games, for every filter."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from arena.collections.following import follow, rebuild
from arena.config_file import read_settings
from arena.documents.archive import HERE, MAX_COUNTED, ExplorerQuery, ExplorerResponse, PlayedFigures
from arena.errors import BadValueError
from arena.services import Arena, explorer
from arena.store import Store
from arena.store.archive import explorer as store_explorer
from arena.store.archive.archived_game import ArchivedGame
from referee.rules import load
from referee.rules.position import Position
from referee.rules.symmetry import key_of, keys_of
from tests.arena.field import Field
from tests.arena.services.ear import Ear
from tests.arena.store.archive.test_archive import random_game, record_of_again


@pytest.fixture
def arena(store: Store, tmp_path: Path) -> Arena:
    return Arena(store, read_settings(None, data=tmp_path, allow_weak_sandbox=True), Ear())


KEYS: dict[str, list[int]] = {}
"""Keys of the positions of each game."""


@dataclass(frozen=True)
class Visit:
    """A game that reached a position, with the keys of the positions that followed."""

    game: ArchivedGame
    following: frozenset[int]


def visits(games: Sequence[ArchivedGame], position: Position) -> Iterator[Visit]:
    """Find the games with a position by looking at every game."""
    ruleset = position.ruleset
    key = key_of(ruleset, position.state)
    for game in games:
        if (game.family, game.variant) != (ruleset.rules.family, ruleset.variant.name):
            continue
        if game.id not in KEYS:
            KEYS[game.id] = keys_of(game.ruleset(), game.states()).tolist()
        keys = KEYS[game.id]
        if key in keys:
            yield Visit(game, frozenset(after for present, after in pairwise(keys) if present == key))


def figures(games: Sequence[ArchivedGame], side: str, strengths: dict[str, float]) -> dict[str, object]:
    """Compute the expected figures of some games."""
    counts = {result: sum(game.winner == result for game in games) for result in ("first", "draw", "second", None)}
    known = len(games) - counts[None]
    movers = [game.first if side == "first" else game.second for game in games]
    rated = [strengths[name] for name in movers if name in strengths]
    return {
        "games": len(games),
        "first": counts["first"],
        "draw": counts["draw"],
        "second": counts["second"],
        "other": counts[None],
        "score": pytest.approx((counts[side] + counts["draw"] / 2) / known) if known else None,
        "rating": pytest.approx(sum(rated) / len(rated)) if rated else None,
        "last": max((game.day for game in games), default=0),
        "best": max((merit(game, strengths) for game in games), default=None),
    }


def merit(game: ArchivedGame, strengths: dict[str, float]) -> tuple[int, int]:
    """Return the sort key of the best game: strongest players, then latest."""
    return sum(int((strengths.get(name, 0.0) + 100) * 1000) for name in (game.first, game.second)), game.serial


def said(found: PlayedFigures, games: dict[int, ArchivedGame], strengths: dict[str, float]) -> dict[str, object]:
    day = [*map(int, found.last.split("-"))] if found.last else [0]
    told = {name: getattr(found, name) for name in ("games", "first", "draw", "second", "other", "score", "rating")}
    number = sum(part * 10 ** (4 - 2 * place) for place, part in enumerate(day))
    return {**told, "last": number, "best": merit(games[found.best.serial], strengths) if found.best else None}


def check(
    response: ExplorerResponse,
    position: Position,
    games: Sequence[ArchivedGame],
    strengths: dict[str, float],
    limit: int = MAX_COUNTED,
) -> int:
    """Compare the explorer with brute force over the latest `limit` games; return the number of games."""
    everything = list(visits(games, position))
    assert response.total_exact == (len(everything) <= limit)
    seen = everything[-limit:]
    numbered = {game.serial: game for game in games}
    assert said(response, numbered, strengths) == figures([visit.game for visit in seen], position.side, strengths)
    expected = {}
    for move in reversed(position.texts):
        after = key_of(position.ruleset, position.play(move).state)
        there = [visit.game for visit in seen if after in visit.following]
        same = (move, *expected[after][1]) if after in expected else (move,)
        expected[after] = move, same, there
    wanted = {
        move: (same[1:], figures(there, position.side, strengths)) for move, same, there in expected.values() if there
    }
    assert {move.move: (tuple(move.same), said(move, numbered, strengths)) for move in response.moves} == wanted
    assert [move.games for move in response.moves] == sorted((move.games for move in response.moves), reverse=True)
    return len(seen)


def asked(position: Position, **more: Any) -> ExplorerQuery:
    return ExplorerQuery(variant=position.ruleset.variant.name, position=str(position), **more)


def explored(arena: Arena, family: str = "loa", **words: Any) -> ExplorerResponse:
    return explorer.explore(arena, family, ExplorerQuery(**words))


def at_random(games: Sequence[ArchivedGame], rng: random.Random) -> Position:
    game = rng.choice(games)
    return Position.start(game.ruleset(), game.position or None).play_all(
        game.moves[: rng.randrange(len(game.moves) + 1)]
    )


@pytest.mark.parametrize("limit", [MAX_COUNTED, 5])
def test_explore_matches_brute_force(arena: Arena, field: Field, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_explorer, "MAX_COUNTED", limit)
    rng, store = random.Random(3), arena.store
    imported = [random_game(number, rng) for number in range(70)]
    for start in range(0, len(imported), 19):
        store.archive.add(imported[start : start + 19])
    field.play(9)
    follow(store)
    games = store.archive.between(1, 100)
    strengths = {line.name: line.mu for line in store.ratings.leaderboard("loa", limit=50).items}
    count = 0
    for _ in range(10):
        position = at_random(games, rng)
        response = explorer.explore(arena, position.ruleset.rules.family, asked(position))
        count += check(response, position, games, strengths if response.pool == "loa" else {}, limit)
    assert count > min(60, 4 * limit)
    start = Position.start(load("loa").settle())
    for question, chosen in (
        (asked(start, source=HERE), lambda game: game.source == HERE),
        (asked(start, source="one.txt", since="2003"), lambda game: game.source == "one.txt" and game.day >= 20030000),
        (asked(start, pool="loa"), lambda game: game.source == HERE),
        (asked(start, pool="loa/none"), lambda game: False),
        (asked(start, bot="ada"), lambda game: any(name in ("ada", "ada v1") for name in (game.first, game.second))),
        (
            asked(start, rating=25.0),
            lambda game: all(strengths.get(name, 0) >= 25 for name in (game.first, game.second)),
        ),
    ):
        known = {} if question.pool == "loa/none" else strengths
        check(explorer.explore(arena, "loa", question), start, [game for game in games if chosen(game)], known, limit)
    before = explorer.explore(arena, "loa", asked(start))
    rebuild(store, lambda done: None)
    assert explorer.explore(arena, "loa", asked(start)) == before


def test_explore_omits_undone_result(arena: Arena, field: Field) -> None:
    start = asked(Position.start(load("loa").settle()))
    records = field.play(3)
    follow(arena.store)
    before = explorer.explore(arena, "loa", start)
    arena.store.results.undo({records[0].id: "wrong"})
    arena.store.results.commit(again := record_of_again(field, records[0].id))
    follow(arena.store)
    after = explorer.explore(arena, "loa", start)
    assert (before.games, after.games) == (3, 3)
    change = {side: getattr(after, side) - getattr(before, side) for side in ("first", "draw", "second")}
    assert change == {side: (again.winner == side) - (records[0].winner == side) for side in change}


@pytest.mark.parametrize("family", ["loa", "pijersi"])
def test_symmetric_moves_are_merged_and_repetitions_count_once(
    family: str, sqlite_store: Store, tmp_path: Path
) -> None:
    arena = Arena(sqlite_store, read_settings(None, data=tmp_path, allow_weak_sandbox=True), Ear())
    start = Position.start(load(family).settle())
    move = start.texts[-1]
    ruleset = start.ruleset
    game = ArchivedGame("1", family, ruleset.variant.name, {}, str(start), (move,), "a", "b", "first", "resigned")
    sqlite_store.archive.add([game, replace(game, id="2", winner="draw")])
    (shown,) = explored(arena, family).moves
    keys = {text: key_of(ruleset, start.play(text).state) for text in start.texts}
    assert (shown.move, *shown.same) == tuple(text for text in start.texts if keys[text] == keys[move])
    assert (shown.games, shown.score) == (2, 0.75 if start.side == "first" else 0.25)
    assert explored(arena, family, moves=shown.move).games == 2


def test_performance_follows_from_results_and_opponents(arena: Arena, field: Field) -> None:
    field.play(8)
    follow(arena.store)
    response = explored(arena)
    assert response.performance is not None
    points = response.first + response.draw / 2
    even = explorer._performance(25.0, 4.0, 8)
    assert even == pytest.approx(25.0)
    won, lost = explorer._performance(25.0, 8.0, 8), explorer._performance(25.0, 0.0, 8)
    assert won is not None
    assert lost is not None
    assert won - 25 == pytest.approx(25 - lost)
    assert won > 25 + 6
    assert explorer._performance(None, 4.0, 8) is None
    assert (response.performance > 25) == (points > 4) or abs(response.performance - 25) < 3


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ({"family": "chess"}, "family"),
        ({"variant": "nonsense"}, "variant"),
        ({"position": "nonsense"}, "position"),
        ({"moves": "z9z9"}, "moves"),
        ({"moves": "b1b3 b3b5"}, "moves"),
        ({"moves": "b1b3 " * 4000}, "moves"),
        ({"since": "yesterday"}, "since"),
        ({"bot": "<b>"}, "bot"),
    ],
)
def test_explore_invalid_query_raises(arena: Arena, words: dict[str, str], name: str) -> None:
    with pytest.raises(BadValueError) as caught:
        explored(arena, **words)
    assert caught.value.field == name
