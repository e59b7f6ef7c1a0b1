"""Schedules: Berger tables, pairs, openings. A schedule is a pure function of its plan."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from referee.game.openings import Opening, openings, random_openings
from referee.game.plan import TournamentPlan, schedule
from referee.game.spec import BotSpec
from referee.ratings.pairings import berger, pairings
from referee.rules import load
from referee.rules.core import ParseError
from referee.rules.position import Position

RULES = load("loa").settle()


def plan(bots: int, games: int, **changes: object) -> TournamentPlan:
    """A plan of that many bots and games per pairing."""
    specs = tuple(BotSpec(f"bot{number}", ("./bot",)) for number in range(bots))
    found = tuple(openings(RULES, "auto", (games + 1) // 2, seed=3))
    return TournamentPlan(RULES, specs, found, games, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("players", range(2, 24))
def test_berger_tables_are_fair(players: int) -> None:
    rounds = berger(players)
    assert len(rounds) == players - 1 + players % 2
    firsts: Counter[int] = Counter()
    met: set[frozenset[int]] = set()
    for table in rounds:
        seated = [player for pair in table for player in pair]
        assert len(seated) == len(set(seated)) == players - players % 2
        for one, two in table:
            firsts[one] += 1
            met.add(frozenset((one, two)))
    assert len(met) == players * (players - 1) // 2
    assert max(firsts.values()) - min(firsts[player] for player in range(players)) <= 1


def test_the_table_of_four_is_fides() -> None:
    assert berger(4) == [[(0, 3), (1, 2)], [(3, 2), (0, 1)], [(1, 3), (2, 0)]]


@pytest.mark.parametrize(("bots", "games"), [(2, 1), (2, 2), (3, 5), (5, 4)])
def test_every_pairing_plays_its_games_in_swapped_pairs(bots: int, games: int) -> None:
    planned = schedule(plan(bots, games))
    specs = [game.spec for game in planned]
    assert [spec.sequence for spec in specs] == list(range(1, len(specs) + 1))
    met = Counter(frozenset((spec.first.name, spec.second.name)) for spec in specs)
    assert set(met.values()) == {games}
    assert len(met) == bots * (bots - 1) // 2
    pairs: dict[int, list] = {}
    for spec in specs:
        pairs.setdefault(spec.pair, []).append(spec)
    for pair in pairs.values():
        assert len(pair) == 2 or games % 2 == 1
        if len(pair) == 2:
            one, two = pair
            assert (one.first, one.second, one.opening) == (two.second, two.first, two.opening)
    assert len({game.id for game in planned}) == len(planned)


def test_same_plan_same_schedule() -> None:
    assert [game.id for game in schedule(plan(4, 6))] == [game.id for game in schedule(plan(4, 6))]


def test_a_gauntlet_is_one_against_all() -> None:
    assert pairings(4, "gauntlet") == [(1, 0, 1), (2, 0, 2), (3, 0, 3)]
    assert all(
        "bot0" in (game.spec.first.name, game.spec.second.name) for game in schedule(plan(4, 2, format="gauntlet"))
    )


def test_random_openings_are_playable_different_and_stable() -> None:
    found = random_openings(RULES, 4, 30, seed=9)
    assert found == random_openings(RULES, 4, 30, seed=9)
    assert found[:10] == random_openings(RULES, 4, 10, seed=9)
    assert found != random_openings(RULES, 4, 30, seed=10)
    assert len({opening.moves for opening in found}) == 30
    for opening in found:
        position = Position.start(RULES).play_all(opening.moves)
        assert position.outcome is None
        assert all(position.play(move).outcome is None for move in position.moves)


def test_openings_from_a_file() -> None:
    start = "1bbbbbb1/w6w/w6w/w6w/w6w/w6w/w6w/1bbbbbb1 b - 1"
    text = f"# two ways to write one\nb1b3 h4f2\n{start} ; b1-b3 h4f2 c1c3  # dash\n"
    one, two = openings(RULES, "file", 2, 0, text)
    assert one.moves == ("b1b3", "h4f2")
    assert two.moves == (*one.moves, "c1c3")
    assert two.position is not None
    assert [opening.moves for opening in openings(RULES, "file", 3, 0, text)] == [one.moves, two.moves, one.moves]


@pytest.mark.parametrize(
    "text", ["b1b3 b1b3", "xyz", "8/8/8/8/8/8/8/bb5w b - 1", "", "# nothing", "b1b3\nq9q9"], ids=repr
)
def test_bad_opening_files_are_refused_with_the_line(text: str) -> None:
    with pytest.raises(ParseError, match=r"line \d|no opening"):
        openings(RULES, "file", 2, 0, text)


@pytest.mark.parametrize("source", ["random", "random:x:1", "random:99", "auto:1", "setups:standard:y", "book"])
def test_unknown_sources_are_refused(source: str) -> None:
    with pytest.raises(ValueError, match=r"openings|no set-ups"):
        openings(RULES, source, 2, 0)


@pytest.mark.parametrize("variant", ["pijersi-8100", "pijersi-24#random/random", "half-random"])
@pytest.mark.parametrize("swap_phase", [0, 1])
def test_drawn_set_ups_start_with_the_swap_phase_when_there_is_one(variant: str, swap_phase: int) -> None:
    ruleset = load("pijersi").settle(None, {"swap_phase": swap_phase})
    found = openings(ruleset, f"setups:{variant}:7", 5, 0)
    assert found == openings(ruleset, f"setups:{variant}:7", 5, 1)
    starts = set()
    for opening in found:
        settled = ruleset.rules.settle(opening.variant, {**ruleset.overrides, **dict(opening.options)})
        start = str(Position.start(settled, opening.position))
        assert start.endswith(" swap") == bool(swap_phase)
        starts.add(start)
    assert len(starts) == 5


def test_the_lot_draws_the_side_of_single_games_and_who_opens() -> None:
    tablut = load("tablut").settle()
    bots = tuple(BotSpec(name, ("./bot",)) for name in ("one", "two"))
    drawn, opened = set(), set()
    for seed in range(12):
        one = TournamentPlan(tablut, bots, tuple(openings(tablut, "none", 1, 0)), 1, seed=seed, sides="random")
        (game,) = schedule(one)
        assert [game.id for game in schedule(one)] == [game.id]
        drawn.add(game.spec.first.name)
        opened.add(game.spec.options["first_player"])
    assert (drawn, opened) == ({"one", "two"}, {"attackers", "defenders"})
    pair = schedule(replace(one, games=2))
    assert [game.spec.first.name for game in pair] == ["one", "two"]
    assert len({game.spec.options["first_player"] for game in pair}) == 1
    begun = replace(one, openings=(Opening("bell", moves=("d1d3",)),))
    assert "first_player" not in schedule(begun)[0].spec.options
    (usual,) = schedule(replace(one, sides="alternate"))
    assert (usual.spec.first.name, usual.spec.options) == ("one", {})
