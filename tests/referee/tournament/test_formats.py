"""Laws of every format's plan, tested by playing it to its end without bots."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.ratings.sprt import Sprt
from referee.tournament import swiss_pairing, swiss_scores
from referee.tournament.bracket import Bracket, seat_order
from referee.tournament.formats import ladder, round_robin, swiss
from referee.tournament.formats import sprt as sequential
from referee.tournament.formats.gauntlet import FORMAT as GAUNTLET
from referee.tournament.formats.round_robin import FORMAT as ROUND_ROBIN
from referee.tournament.formats.round_robin import RoundRobin
from referee.tournament.match import PlannedMatch, Seed, TournamentGame, matches
from tests.conftest import EFFORT
from tests.referee.tournament.rehearsal import knockout_step
from tests.referee.tournament.simulation import drawn, planned, run


def seeds(count: int, *gone: int) -> list[Seed]:
    """Return `count` seeds, some of them withdrawn."""
    return [Seed(number, number in gone) for number in range(count)]


# -- round robin, gauntlet -------------------------------------------------------------------------------------------


@given(st.integers(2, 9), st.integers(1, 6))
def test_round_robin_everybody_plays_everybody_equally_often(players: int, games: int) -> None:
    found = run(partial(ROUND_ROBIN.step, games, seeds(players), ahead=0), drawn(random.Random(1)))
    meetings = Counter(frozenset((game.first, game.second)) for game in found)
    assert meetings == {frozenset(pair): games for pair in itertools.combinations(range(players), 2)}
    firsts = Counter((game.first, game.second) for game in found)
    assert all(abs(firsts[one, two] - firsts[two, one]) <= 1 for one, two in itertools.combinations(range(players), 2))


def test_a_gauntlet_is_one_against_all() -> None:
    found = run(partial(GAUNTLET.step, 4, seeds(5), ahead=0), drawn(random.Random(1)))
    assert Counter(frozenset((game.first, game.second)) for game in found) == {
        frozenset((0, rival)): 4 for rival in range(1, 5)
    }


def test_rounds_are_numbered_on_and_a_single_game_has_the_sides_of_its_cycle() -> None:
    meetings = list(ROUND_ROBIN.plan(3, seeds(4)))
    assert [meeting.round for meeting in meetings] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]
    assert [(meeting.opening, meeting.games) for meeting in meetings] == [(0, 2)] * 6 + [(1, 1)] * 6
    pairs = [(meeting.first, meeting.second) for meeting in meetings]
    assert [(second, first) for first, second in pairs[:6]] == pairs[6:]
    for games, cycles in ((1, 1), (2, 1), (4, 2), (5, 3)):
        sides = [(meeting.first, meeting.second) for meeting in ROUND_ROBIN.plan(games, seeds(4))]
        assert sides == pairs[:6] * cycles


def test_withdrawn_bots_are_not_paired() -> None:
    found = ROUND_ROBIN.step(2, seeds(4, 1), [], 0).matches
    assert {(min(one.first, one.second), max(one.first, one.second)) for one in found} == {(0, 2), (0, 3), (2, 3)}
    assert GAUNTLET.step(2, seeds(4, 0), [], 0).is_finished


def test_an_extended_round_robin_plays_the_new_cycles_only() -> None:
    before = run(partial(ROUND_ROBIN.step, 2, seeds(4), ahead=0), drawn(random.Random(1)))
    longer = ROUND_ROBIN.step(6, seeds(4), before, 0)
    assert not {meeting.round for meeting in longer.matches} & {game.round for game in before}
    assert len(planned(longer.matches, before)) == 2 * len(before)


FORMATS = (ROUND_ROBIN, GAUNTLET)


@given(st.sampled_from(FORMATS), st.integers(0, 9), st.integers(1, 5), st.data())
def test_a_plan_continues_from_any_match_and_knows_how_many_games_are_left(
    format: RoundRobin, players: int, games: int, data: st.DataObject
) -> None:
    gone = data.draw(st.sets(st.integers(0, max(0, players - 1))))
    whole = list(format.plan(games, seeds(players)))
    start = data.draw(st.integers(0, len(whole)))
    assert list(format.plan(games, seeds(players), start)) == whole[start:]
    assert [match.pair for match in whole] == list(range(1, len(whole) + 1))
    numbers = [match.sequence + number for match in whole for number in range(match.games)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert format.count_rounds(games, players) == max((match.round for match in whole), default=0)
    kept = sum(match.games for match in whole[start:] if not gone & {match.first, match.second})
    assert format.count_left(games, seeds(players, *gone), start) == kept


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("window", "gone"), [(1, ()), (3, ()), (2, (1,)), (5, (0, 3))])
def test_the_games_are_the_same_for_any_window(
    format: RoundRobin, window: int, gone: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def played() -> set[TournamentGame]:
        games = run(partial(format.step, 5, seeds(7, *gone), ahead=0), lambda game: 0.5)
        return {game._replace(order=0) for game in games}

    whole = played()
    monkeypatch.setattr(round_robin, "WINDOW", window)
    assert played() == whole
    step = format.step(5, seeds(7), [], 0)
    assert len(step.matches) == window
    assert sum(match.games for match in step.matches) + step.later == (105 if format is ROUND_ROBIN else 30)


def test_three_bots_may_play_forty_thousand_games_each_pairing_of_which_few_are_planned_at_once() -> None:
    first = ROUND_ROBIN.step(40_000, seeds(3), [], 6)
    assert sum(match.games for match in first.matches) + first.later == 120_000
    assert len(first.matches) <= 2 * round_robin.WINDOW


def test_a_window_is_as_wide_as_the_slots_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(round_robin, "WINDOW", 3)
    first = ROUND_ROBIN.step(100, seeds(9), [], 40)
    assert len(first.matches) == 40
    games = planned(first.matches, [])
    assert ROUND_ROBIN.step(100, seeds(9), games, 40).matches == ()
    over = [game._replace(state="done", points=1.0) if game.pair <= 10 else game for game in games]
    following = ROUND_ROBIN.step(100, seeds(9), over, 40).matches
    assert [match.pair for match in following] == list(range(41, 51))


def test_games_of_absent_bots_do_not_fill_the_window_but_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(round_robin, "WINDOW", 3)
    monkeypatch.setattr(round_robin, "MAX_OPEN", 20)
    absent = [Seed(number, is_absent=number == 0) for number in range(9)]
    games: list[TournamentGame] = []
    for _ in range(100):
        fresh = planned(ROUND_ROBIN.step(50, absent, games, 0).matches, games)
        games += [game if 0 in (game.first, game.second) else game._replace(state="done", points=1.0) for game in fresh]
    assert len({game.pair for game in games if game.is_open}) == 20
    assert len({game.pair for game in games}) > 60


def test_a_suspended_bot_is_still_paired_as_it_forfeits_its_games() -> None:
    suspended = [Seed(number, number == 1, is_suspended=number == 1) for number in range(4)]
    assert len(ROUND_ROBIN.step(2, suspended, [], 0).matches) == 6


# -- Swiss -----------------------------------------------------------------------------------------------------------


def _can_pair(field: Sequence[int], met: set[frozenset[int]], rested: set[int]) -> bool:
    """Search exhaustively for a round without a rematch, where none of the `rested` rests again."""
    if not field:
        return True
    first, rest = field[0], field[1:]
    if len(field) % 2 and first not in rested and _can_pair(rest, met, rested):
        return True
    return any(
        frozenset((first, rival)) not in met and _can_pair([other for other in rest if other != rival], met, rested)
        for rival in rest
    )


@settings(max_examples=20 * EFFORT, deadline=None)
@given(st.integers(2, 9), st.integers(1, 9), st.integers(1, 2), st.integers(0, 10**6))
def test_swiss_no_rematch_while_avoidable(players: int, rounds: int, games: int, seed: int) -> None:
    games_played = run(partial(swiss.step, rounds, games, seeds(players)), drawn(random.Random(seed)))
    by_round: dict[int, set[frozenset[int]]] = {}
    for game in games_played:
        by_round.setdefault(game.round, set()).add(frozenset((game.first, game.second)))
    assert sorted(by_round) == list(range(1, rounds + 1))
    met: set[frozenset[int]] = set()
    byes: Counter[int] = Counter()
    for round in sorted(by_round):
        resting = set(range(players)) - {seat for pair in by_round[round] for seat in pair}
        assert len(resting) == players % 2
        assert len(by_round[round]) == players // 2
        fewest = min(byes[seat] for seat in range(players))
        assert all(byes[seat] == fewest for seat in resting), "no second bye while others had none"
        if _can_pair(list(range(players)), met, {seat for seat in byes if byes[seat] > fewest}):
            assert not by_round[round] & met
        met |= by_round[round]
        byes.update(resting)


def leaving(players: int, rounds: int, seed: int) -> Iterator[tuple[list[Seed], list[TournamentGame]]]:
    """Play a Swiss of single games in which bots withdraw, also between two games; yield it after each event."""
    rng = random.Random(seed)
    field, games = seeds(players), list[TournamentGame]()

    def withdraw(begun: int) -> None:
        gone = rng.choice([entrant for entrant in field if not entrant.is_withdrawn])
        left = 1 + sum(entrant.is_withdrawn for entrant in field)
        field[gone.number] = Seed(gone.number, is_withdrawn=True, rounds=begun, left=left)
        for place, game in enumerate(games):
            if game.is_open and gone.number in (game.first, game.second):
                games[place] = game._replace(state="cancelled")

    for round in range(1, rounds + 1):
        games += planned(swiss.step(rounds, 1, field, games).matches, games)
        for place, game in enumerate(games):
            if games[place].is_open:
                games[place] = game._replace(state="done", points=rng.choice((0.0, 0.5, 1.0)), order=place + 1)
                yield list(field), list(games)
                if rng.random() < 0.1 and sum(not entrant.is_withdrawn for entrant in field) > 3:
                    withdraw(round)
                    yield list(field), list(games)


@settings(max_examples=33 * EFFORT, deadline=None)
@given(st.integers(3, 9), st.integers(1, 8), st.integers(0, 10**6))
def test_swiss_the_bye_goes_to_a_bot_with_the_fewest_byes_and_walkovers(players: int, rounds: int, seed: int) -> None:
    for field, games in leaving(players, rounds, seed):
        if any(game.is_open for game in games):
            continue
        upcoming = swiss.step(rounds, 1, field, games).matches
        active = {entrant.number for entrant in field if not entrant.is_withdrawn}
        resting = active - {seat for match in upcoming for seat in (match.first, match.second)}
        byes = {line.seat: line.byes for line in swiss_scores.lines(field, games, 1)}
        if upcoming:
            assert len(resting) == len(active) % 2
            assert all(byes[seat] == min(byes[other] for other in active) for seat in resting)


@settings(max_examples=33 * EFFORT, deadline=None)
@given(st.integers(3, 9), st.integers(1, 8), st.integers(0, 10**6))
def test_swiss_a_withdrawal_changes_nothing_that_was_scored(players: int, rounds: int, seed: int) -> None:
    before: list[swiss_scores.SeatScore] = []
    for field, games in leaving(players, rounds, seed):
        table = swiss_scores.lines(field, games, 1)
        for old, new in zip(before, table, strict=bool(before)):
            assert new.points >= old.points
            assert new.byes >= old.byes
            if field[new.seat].is_withdrawn:
                assert new.points == old.points, "and it scores nothing more"
        before = table
        begun = max(game.round for game in games)
        if all(game.round < begun or not game.is_open for game in games):  # between two rounds
            for gone in field:
                left = [Seed(other.number, True, rounds=begun, left=99) if other == gone else other for other in field]
                if not gone.is_withdrawn:
                    assert swiss_scores.lines(left, games, 1) == table
                    assert swiss_scores.tie_breaks(swiss_scores.lines(left, games, 1), 1) == swiss_scores.tie_breaks(
                        table, 1
                    )


class Row(NamedTuple):
    """A round of a bot: its opponent if it had one, its points, and whether they played."""

    rival: int | None
    points: float
    is_played: bool


def crosstable_of(field: Sequence[Seed], games: Sequence[TournamentGame]) -> list[list[Row]]:
    """Return the rounds of every bot of a Swiss of single games, from the games alone."""
    table: list[list[Row]] = []
    for seed in field:
        own = {game.round: game for game in games if seed.number in (game.first, game.second)}
        rows = []
        for round in sorted({game.round for game in games}):
            game = own.get(round)
            if game is None:  # a bye, if it was there
                was_there = not seed.is_withdrawn or round <= max(seed.rounds, *own, 0)
                rows.append(Row(None, float(was_there), False))
                continue
            rival = game.second if game.first == seed.number else game.first
            if game.state == "done":
                rows.append(Row(rival, game.points_of(seed.number), True))
            else:
                last = max((seed, field[rival]), key=lambda bot: bot.left if bot.is_withdrawn else 99)
                rows.append(Row(rival, float(last == seed), False))
        table.append(rows)
    return table


def tie_breaks_by_article_16(table: Sequence[Sequence[Row]]) -> list[swiss_scores.TieBreaks]:
    """Return the tie-breaks by FIDE C.07 of March 2026, article by article, for games worth 1, ½ and 0."""
    scores = [sum(row.points for row in rows) for rows in table]
    adjusted = []
    for rows in table:
        requested = [row for row in rows if row.rival is None and row.points == 0]  # 16.1.1
        adjusted.append(sum(row.points for row in rows) + 0.5 * len(requested))  # 16.3.2; the others 16.3.1
    breaks = []
    for seat, rows in enumerate(table):
        parts, voluntary = [], []
        for row in rows:
            if row.is_played:
                assert row.rival is not None
                parts.append(adjusted[row.rival])
                continue
            cap = 0.5 * len(rows) if row.rival is None else adjusted[row.rival]  # 16.4.2, 16.4.1
            parts.append(min(scores[seat], cap))
            if row.points == 0:  # 16.1.2: a requested bye or a forfeit loss
                voluntary.append(parts[-1])
        cut = min(voluntary) if voluntary else min(parts, default=0.0)  # 16.5
        squares = sum(part * row.points for part, row in zip(parts, rows, strict=True))
        breaks.append(swiss_scores.TieBreaks(sum(parts), sum(parts) - cut, squares))
    return breaks


def faults(
    pairing: Iterable[tuple[int, int]], active: Sequence[int], table: Sequence[Sequence[Row]]
) -> tuple[float, ...]:
    """Return the byes that the resting bot has had, the rematches, and its points."""
    pairs = [pair for pair in pairing if -1 not in pair]
    resting = set(active) - {seat for pair in pairs for seat in pair}
    rested = sum(row.points > 0 and not row.is_played for seat in resting for row in table[seat])
    met = [sum(row.rival == rival for row in table[seat] if row.is_played) for seat, rival in pairs]
    return rested, sum(count**2 for count in met), sum(row.points for seat in resting for row in table[seat])


@pytest.mark.parametrize("players", [5, 6, 7])
@pytest.mark.parametrize("seed", range(8 * EFFORT))
def test_swiss_every_round_is_the_best_of_all_by_the_handbook(players: int, seed: int) -> None:
    """C.04.1: no second bye, no rematch; C.04.3 [C5]: the bye for the fewest points. Tie-breaks by C.07."""
    for field, games in leaving(players, players + 1, seed):
        rows = crosstable_of(field, games)
        if any(game.is_open for game in games):
            continue
        table = swiss_scores.lines(field, games, 1)
        assert [line.points for line in table] == [sum(row.points for row in own) for own in rows]
        assert swiss_scores.tie_breaks(table, 1) == tie_breaks_by_article_16(rows)
        upcoming = {(match.first, match.second) for match in swiss.step(players + 1, 1, field, games).matches}
        if not upcoming:
            continue
        active = [seed.number for seed in field if not seed.is_withdrawn]
        every = pairings([*active, -1] if len(active) % 2 else active)
        assert faults(upcoming, active, rows) == min(faults(pairing, active, rows) for pairing in every)


def test_swiss_first_round_folds_the_seeding_and_the_last_rests() -> None:
    step = swiss.step(3, 2, seeds(9), [])
    assert {frozenset((meeting.first, meeting.second)) for meeting in step.matches} == {
        frozenset((seat, seat + 4)) for seat in range(4)
    }


def test_swiss_leaders_meet_and_a_bye_is_a_won_match() -> None:
    def stronger_wins(game: TournamentGame) -> float:
        return 1.0 if game.first < game.second else 0.0

    games = run(partial(swiss.step, 3, 2, seeds(8)), stronger_wins)
    assert (0, 1) in [(low, high) for _, low, high in matches(games)]
    table = swiss_scores.lines(seeds(8), games, 2)
    assert [line.points for line in table] == sorted((line.points for line in table), reverse=True)
    assert table[0].points == 6
    odd = swiss_scores.lines(seeds(5), run(partial(swiss.step, 3, 2, seeds(5)), stronger_wins), 2)
    assert sum(line.byes for line in odd) == 3
    assert all(round.points == 2 for line in odd for round in line.unplayed)
    assert sum(line.points for line in odd) == 3 * 6


def test_swiss_colours_are_balanced_in_matches_of_one_game() -> None:
    found = run(partial(swiss.step, 6, 1, seeds(12)), drawn(random.Random(5)))
    assert all(abs(line.balance) <= 2 for line in swiss_scores.lines(seeds(12), found, 1))


@pytest.mark.parametrize(("is_odd", "pairs"), [(True, {(0, 1), (2, 3)}), (False, {(0, 2), (1, 3)})])
def test_swiss_pairs_colours_that_balance_before_the_fold(is_odd: bool, pairs: set[tuple[int, int]]) -> None:
    """Seats 0 and 2 were first, 1 and 3 second: in one-game matches, bots due the same side do not meet."""
    field = [swiss_scores.SeatScore(seat, balance=balance) for seat, balance in enumerate((1, -1, 1, -1))]
    found = swiss_pairing.pair(field, 2, is_odd=is_odd)
    assert {(min(pair), max(pair)) for pair in found} in ([pairs, {(0, 3), (1, 2)}] if is_odd else [pairs])
    if is_odd:
        assert {first for first, _ in found} == {1, 3}, "who moved second moves first"


def test_swiss_prefers_several_small_imbalances_to_a_large_one() -> None:
    field = [swiss_scores.SeatScore(seat, balance=balance) for seat, balance in enumerate((2, 1, 2, 1))]
    assert {frozenset(one) for one in swiss_pairing.pair(field, 2, is_odd=True)} == {
        frozenset((0, 3)),
        frozenset((1, 2)),
    }


def test_swiss_looks_at_colours_where_matches_have_an_odd_number_of_games() -> None:
    """Seats 0 and 2 were first against absent bots: they meet only if their match is balanced in itself."""
    for games, rivals in ((1, {1, 3}), (2, {2}), (3, {1, 3})):
        played = [
            TournamentGame(1 + 4 * number + game, 1, 1 + number, first, second, "done", 0.5, 1)
            for number, (first, second) in enumerate(((0, 1), (2, 3)))
            for game in range(games)
        ]
        step = swiss.step(3, games, seeds(4), played)
        pairs = [{meeting.first, meeting.second} for meeting in step.matches]
        assert next(pair for pair in pairs if 0 in pair) - {0} <= rivals, games


def test_swiss_sides_of_equals_alternate_by_board_and_round() -> None:
    field = [swiss_scores.SeatScore(seat) for seat in range(8)]
    for number in (1, 2, 3):
        firsts = [first < second for first, second in swiss_pairing.pair(field, number)]
        assert firsts == [(number + board) % 2 == 1 for board in range(4)]


def test_swiss_open_games_count_nothing_yet() -> None:
    games = [TournamentGame(1, 1, 1, 0, 1, "open"), TournamentGame(2, 1, 1, 1, 0, "done", 1.0, 1)]
    assert [line.points for line in swiss_scores.lines(seeds(2), games, 2)] == [0, 1]


def test_swiss_has_enough_rounds_for_a_winner_and_no_more_than_all_play_all() -> None:
    players = (2, 3, 4, 5, 8, 9, 16, 17)
    assert [swiss.default_rounds(count) for count in players] == [1, 3, 3, 4, 4, 5, 5, 6]


def test_swiss_without_a_number_of_rounds_plays_the_default_number() -> None:
    found = run(partial(swiss.step, None, 2, seeds(4)), drawn(random.Random(1)))
    assert {game.round for game in found} == {1, 2, 3}


def pairing_cost(ranked: Sequence[swiss_scores.SeatScore], pairing: Sequence[tuple[int, int]]) -> tuple[float, ...]:
    """Return what a pairing costs: byes above the fewest, repeats, points of who rests, gaps, sides, the fold."""
    size = len(ranked)
    ideal = [0] * size
    for points in {line.points for line in ranked}:
        group = [place for place, line in enumerate(ranked) if line.points == points]
        half = len(group) // 2
        for upper, lower in zip(group[:half], group[half : 2 * half], strict=True):
            ideal[upper], ideal[lower] = lower, upper
        if len(group) % 2:
            ideal[group[-1]] = group[-1] + 1
    byes = repeats = sides = fold = 0
    gap = rest = 0.0
    for upper, lower in pairing:
        high = ranked[upper]
        if lower == size:
            byes = high.byes - min(line.byes for line in ranked)
            rest = high.points - ranked[-1].points
            fold += size - 1 - upper
            continue
        low = ranked[lower]
        repeats += sum(rival == low.seat for rival, _ in high.rivals) ** 2
        gap += (2 * (high.points - low.points)) ** 2
        if high.balance * low.balance > 0:
            sides += min(abs(high.balance), abs(low.balance)) ** 2
        fold += abs(lower - ideal[upper])
    return byes, repeats, rest, gap, sides, fold


def pairings(places: Sequence[int]) -> Iterator[list[tuple[int, int]]]:
    """Yield every way to pair an even number of places."""
    if not places:
        yield []
        return
    for two in places[1:]:
        for rest in pairings([place for place in places[1:] if place != two]):
            yield [(places[0], two), *rest]


@pytest.mark.parametrize("players", [5, 6, 7, 8])
@pytest.mark.parametrize("seed", range(4 * EFFORT))
def test_swiss_pairing_costs_the_least_of_all_pairings(players: int, seed: int) -> None:
    rng = random.Random(seed)
    field = [
        swiss_scores.SeatScore(seat, rng.choice((0, 0.5, 3)), balance=rng.choice((-3, 0, 1, 3)))
        for seat in range(players)
    ]
    for _ in range(rng.choice((1, 12))):
        left, right = rng.sample(field, 2)
        left.rivals.append((right.seat, 0.5))
        right.rivals.append((left.seat, 0.5))
    for line in field:
        line.unplayed += [swiss_scores.UnplayedRound(None, 1.0, is_voluntary=False, bye=swiss_scores.BYE)] * rng.choice(
            (0, 1)
        )
    ranked = sorted(field, key=lambda line: (-line.points, line.seat))
    places = {line.seat: place for place, line in enumerate(ranked)}
    paired = [
        (min(pair), max(pair))
        for pair in ((places[a], places[b]) for a, b in swiss_pairing.pair(field, 2, is_odd=True))
    ]
    if players % 2:
        rests = set(range(players)) - {place for pair in paired for place in pair}
        paired.append((rests.pop(), players))
    every = pairings(range(players + players % 2))
    assert pairing_cost(ranked, paired) == min(pairing_cost(ranked, pairing) for pairing in every)


def test_swiss_tie_breaks_by_hand() -> None:
    # 0 beats 1 and 2, 1 beats 3, 2 draws 3; one game each.
    rows = [(1, 0, 1, 1.0), (1, 2, 3, 0.5), (2, 0, 2, 1.0), (2, 1, 3, 1.0)]
    games = [
        TournamentGame(number, round, number, first, second, "done", points, number)
        for number, (round, first, second, points) in enumerate(rows, 1)
    ]
    table = swiss_scores.lines(seeds(4), games, 1)
    assert [line.points for line in table] == [2, 1, 0.5, 0.5]
    breaks = swiss_scores.tie_breaks(table, 1)
    assert [line.buchholz for line in breaks] == [1.5, 2.5, 2.5, 1.5]
    assert [line.cut for line in breaks] == [1.0, 2.0, 2.0, 1.0]
    assert [line.sonneborn_berger for line in breaks] == [1.5, 0.5, 0.25, 0.25]
    unplayed = swiss_scores.tie_breaks(swiss_scores.lines(seeds(2), [], 1), 1)
    assert unplayed == [swiss_scores.TieBreaks(0.0, 0.0, 0.0)] * 2


def test_swiss_rounds_without_a_game_in_tie_breaks_by_hand() -> None:
    """Of five, 4 rests in round 1, 3 in round 2. 4 withdraws before it meets 3 in round 3, and misses round 4."""
    pairings = [(1, 0, 2), (1, 1, 3), (2, 0, 1), (2, 2, 4), (3, 0, 1), (3, 3, 4), (4, 0, 3), (4, 1, 2)]
    games = [
        TournamentGame(number, round, number, first, second, "done", 1.0, number)
        for number, (round, first, second) in enumerate(pairings, 1)
    ]
    games[5] = games[5]._replace(state="cancelled", points=None)
    field = [*seeds(4), Seed(4, is_withdrawn=True, rounds=3)]
    table = swiss_scores.lines(field, games, 1)
    assert [line.points for line in table] == [4, 2, 2, 2, 1]
    assert [line.byes for line in table] == [0, 0, 1, 2, 1]
    breaks = swiss_scores.tie_breaks(table, 1)
    # 2 met 0, 4 (whose last round is drawn) and 1, and rested in round 3: an opponent with its own two points
    assert (breaks[2].buchholz, breaks[2].cut) == (4 + 1.5 + 2 + 2, 9.5 - 1.5)
    assert breaks[2].sonneborn_berger == 1.5 + 2
    # 3 met 1 and 0; its bye is an opponent with its own two points, its walkover one with the 1.5 of 4
    assert (breaks[3].buchholz, breaks[3].cut) == (2 + 2 + 1.5 + 4, 9.5 - 1.5)
    assert breaks[3].sonneborn_berger == 2 + 1.5
    # 4 rested and met 2; the rounds that it missed are opponents with its own point, and the first to be left out
    assert (breaks[4].buchholz, breaks[4].cut) == (1 + 2 + 1 + 1, 4)


def test_swiss_a_bye_counts_in_buchholz_at_most_as_a_bot_that_draws_every_round() -> None:
    rows = [(1, 1, 0, 1.0), (2, 2, 1, 0.0)]
    games = [
        TournamentGame(number, round, number, first, second, "done", points, number)
        for number, (round, first, second, points) in enumerate(rows, 1)
    ]
    table = swiss_scores.lines(seeds(3), games, 1)  # 2 rests, then loses; 0 loses, then rests; 1 wins twice
    assert [line.points for line in table] == [1, 2, 1]
    assert [line.buchholz for line in swiss_scores.tie_breaks(table, 1)] == [2 + 1, 1 + 1, 2 + 1]
    once = swiss_scores.lines(
        seeds(3), games[:1], 1
    )  # 2 has a point, and a bot that drew the only round has half a point
    assert swiss_scores.tie_breaks(once, 1)[2].buchholz == 0.5


def test_swiss_void_games_hurt_nobody_and_the_withdrawn_are_not_paired() -> None:
    found = run(partial(swiss.step, 2, 2, seeds(4)), lambda game: None)
    assert [line.points for line in swiss_scores.lines(seeds(4), found, 2)] == [2, 2, 2, 2]
    first = planned(swiss.step(3, 2, seeds(6), []).matches, [])
    first = [game._replace(state="done", points=0.5, order=game.sequence) for game in first]
    second = swiss.step(3, 2, seeds(6, 2), first)
    assert len(second.matches) == 2
    assert 2 not in {seat for meeting in second.matches for seat in (meeting.first, meeting.second)}


def test_swiss_byes_of_the_withdrawn_count_while_they_were_there() -> None:
    # Five seeds: 4 rests in round 1, 3 in round 2, 4 withdraws before round 3 and misses two.
    pairings = [(1, 0, 2), (1, 1, 3), (2, 0, 1), (2, 2, 4), (3, 0, 3), (3, 1, 2), (4, 0, 2), (4, 1, 3)]
    games = [
        TournamentGame(number, round, number, first, second, "done", 0.5, number)
        for number, (round, first, second) in enumerate(pairings, 1)
    ]
    early = swiss_scores.lines(seeds(5), games[:4], 1)
    assert [(line.points, line.byes) for line in early] == [(1, 0), (1, 0), (1, 0), (1.5, 1), (1.5, 1)]
    late = swiss_scores.lines(seeds(5, 4), games, 1)
    assert [(line.points, line.byes) for line in late] == [(2, 0), (2, 0), (2, 0), (2.5, 1), (1.5, 1)]
    begun = swiss_scores.lines([*seeds(4), Seed(4, is_withdrawn=True, rounds=1)], games[:2], 1)
    assert (begun[4].points, begun[4].byes) == (1, 1), "the bye of a round that had begun stays"
    never = swiss_scores.lines(seeds(5, 4), games[4:], 1)
    assert (never[4].points, never[4].byes) == (0, 0)


def test_swiss_games_called_off_are_a_walkover_or_half_a_point_each() -> None:
    games = [TournamentGame(1, 1, 1, 0, 1, "cancelled"), TournamentGame(2, 1, 1, 1, 0, "done", 1.0, 1)]
    assert [line.points for line in swiss_scores.lines(seeds(2), games, 2)] == [0.5, 1.5]
    assert [line.points for line in swiss_scores.lines(seeds(2, 1), games, 2)] == [1, 1]
    assert [line.points for line in swiss_scores.lines(seeds(2, 0, 1), games, 2)] == [0, 1]
    both = [Seed(0, is_withdrawn=True, left=2), Seed(1, is_withdrawn=True, left=1)]
    assert [line.points for line in swiss_scores.lines(both, games, 2)] == [1, 1], (
        "a walkover stays with who left later"
    )


def test_swiss_pairs_a_big_field_without_rematches() -> None:
    rng = random.Random(1)
    found = run(
        partial(swiss.step, 4, 2, seeds(101)),
        lambda game: float(game.first < game.second) if rng.random() < 0.8 else 0.5,
    )
    assert len(matches(found)) == 4 * 50
    assert len({(low, high) for _, low, high in matches(found)}) == 200


# -- knockout --------------------------------------------------------------------------------------------------------


def test_the_bracket_keeps_the_best_apart() -> None:
    assert seat_order(8) == [0, 7, 3, 4, 1, 6, 2, 5]
    assert seat_order(5) == [0, None, 3, 4, 1, None, 2, None]
    assert seat_order(2) == [0, 1]


@settings(max_examples=20 * EFFORT, deadline=None)
@given(st.integers(2, 17), st.booleans(), st.sampled_from([2, 4]), st.integers(0, 10**6))
def test_knockout_every_loser_is_out_and_one_is_left(players: int, third: bool, games: int, seed: int) -> None:
    rng = random.Random(seed)
    games_played = run(partial(knockout_step, games, 2, third, seeds(players)), drawn(rng), rng=rng)
    bracket = Bracket(seeds(players), games_played, games, 2, third_place=third)
    assert bracket.is_decided
    assert not bracket.due
    ties = [tie for round in bracket.rounds for tie in round]
    losers = [tie.loser for tie in ties if tie.loser is not None]
    assert len(losers) == len(set(losers)) == players - 1
    assert {bracket.rounds[-1][0].winner, *losers} == set(range(players))
    for (_, low, high), games_ in matches(games_played).items():
        first, last = games_.games[:games], games_.games[-2:]
        assert len(games_.games) <= games + 2 * 2
        if len(games_.games) > games:  # further pairs only where the match was level
            assert sum(game.points_of(low) for game in first) == sum(game.points_of(high) for game in first)
        assert {game.first for game in last} == {low, high}
    assert (bracket.third is not None) == (third and players > 2)


def test_knockout_tied_for_ever_goes_to_the_better_seed() -> None:
    found = run(partial(knockout_step, 2, 3, False, seeds(4)), lambda game: 0.5)
    bracket = Bracket(seeds(4), found, 2, 3)
    assert bracket.rounds[-1][0].winner == 0
    assert "seeding" in bracket.rounds[-1][0].reason
    assert len(found) == 3 * (2 + 6)
    void = run(partial(knockout_step, 2, 3, False, seeds(4)), lambda game: None)
    assert Bracket(seeds(4), void, 2, 3).rounds[-1][0].winner == 0


def test_knockout_a_withdrawn_bot_loses_by_walkover() -> None:
    field = seeds(4, 0)
    found = run(partial(knockout_step, 2, 1, False, field), lambda game: float(game.first < game.second))
    bracket = Bracket(field, found, 2, 1)
    assert bracket.rounds[-1][0].winner == 1
    assert {tie.reason for tie in bracket.rounds[0]} == {"walkover", "points"}
    everybody = seeds(2, 0, 1)
    assert knockout_step(2, 1, False, everybody, []).is_finished


def test_further_pairs_swap_sides_and_take_new_openings() -> None:
    games = run(partial(knockout_step, 2, 2, False, seeds(4)), lambda game: 0.5)
    by_match: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
    for game in games:
        by_match.setdefault(game.match, []).append((game.first, game.second))
    assert by_match[1, 0, 3] == [(0, 3), (3, 0), (3, 0), (0, 3), (0, 3), (3, 0)]
    openings = [
        (match.round, match.opening)
        for count in (0, 2, 4)
        for match in knockout_step(2, 2, False, seeds(2), drawn_games(count)).matches
    ]
    assert openings == [(1, 0), (1, 1), (1, 2)]
    final = [game for game in games if game.round == 1]
    assert {match.opening for match in knockout_step(2, 2, False, seeds(4), final).matches} == {3}


def drawn_games(count: int) -> list[TournamentGame]:
    """Return drawn games between seats 0 and 1, in pairs."""
    return [
        TournamentGame(number + 1, 1, number // 2 + 1, number % 2, 1 - number % 2, "done", 0.5, number + 1)
        for number in range(count)
    ]


def test_knockout_a_match_that_was_played_out_stands_and_one_that_was_not_does_not() -> None:
    lost = [game._replace(points=float(game.first == 0)) for game in drawn_games(2)]
    whole = Bracket(seeds(2, 0), lost, 2, 1).rounds[0][0]
    assert (whole.winner, whole.loser, whole.reason) == (0, 1, "points")
    broken = [lost[0], lost[1]._replace(state="cancelled", points=None)]
    half = Bracket(seeds(2, 0), broken, 2, 1).rounds[0][0]
    assert (half.winner, half.reason) == (1, "walkover")
    bye = Bracket(seeds(3), [], 2, 1).rounds[0][0]
    assert (bye.winner, bye.loser, bye.reason) == (0, None, "bye")


# -- ladder ----------------------------------------------------------------------------------------------------------


def test_ladder_prefers_informative_games() -> None:
    close, far, sure = Seed(0, mu=25, sigma=4), Seed(1, mu=45, sigma=4), Seed(2, mu=25, sigma=1)
    unsure = Seed(3, mu=26, sigma=4)
    assert ladder.information(close, unsure) > ladder.information(far, unsure) > 0
    assert ladder.information(close, unsure) > ladder.information(close, sure)
    assert ladder.information(Seed(0, mu=0, sigma=0.1), Seed(1, mu=1e6, sigma=0.1)) == 0
    field = [Seed(0, mu=25, sigma=1), Seed(1, mu=25, sigma=1), Seed(2, mu=25, sigma=8), Seed(3, mu=40, sigma=1)]
    first = ladder.step(100, 0, field, [], 1).matches[0]
    assert 2 in (first.first, first.second)
    assert 3 not in (first.first, first.second)


@settings(max_examples=15 * EFFORT, deadline=None)
@given(st.integers(2, 12), st.integers(1, 6), st.integers(0, 10**6))
def test_ladder_starves_no_bot_and_keeps_its_limits(players: int, ahead: int, seed: int) -> None:
    rng = random.Random(seed)
    field = [Seed(number, mu=rng.uniform(0, 50), sigma=rng.choice([0.5, 2, 8])) for number in range(players)]
    games = run(
        lambda played: ladder.step(20 * players, 0, field, played, ahead), drawn(rng), rng=rng, limit=100 * players
    )
    assert len(games) == 20 * players
    bound = ladder.MAX_WAIT_PAIRS_PER_BOT * players + players
    for seat in range(players):
        pairs = sorted({game.pair for game in games if seat in (game.first, game.second)})
        gaps = [later - earlier for earlier, later in itertools.pairwise([0, *pairs])]
        assert pairs
        assert max(gaps) <= bound


@given(st.integers(2, 7), st.sampled_from([2, 6, 10]))
def test_a_ladder_caps_the_games_of_a_bot(players: int, cap: int) -> None:
    found = run(lambda played: ladder.step(0, cap, seeds(players), played, 3), drawn(random.Random(1)))
    counts = Counter(seat for game in found for seat in (game.first, game.second))
    assert max(counts.values()) <= cap
    assert sum(counts[seat] < cap for seat in range(players)) <= 1


def test_a_newcomer_gets_games_at_once_and_a_ladder_waits_for_company() -> None:
    field = [Seed(number, sigma=1) for number in range(5)]
    games: list[TournamentGame] = []
    for _ in range(20):
        games += planned(ladder.step(0, 0, field, games, 1).matches, games)
        games = [game._replace(state="done", points=0.5, order=game.sequence) for game in games]
    fresh = ladder.step(0, 0, [*field, Seed(5)], games, 1).matches[0]
    assert 5 in (fresh.first, fresh.second)
    alone = ladder.step(0, 0, seeds(1), [], 4)
    assert (alone.matches, alone.is_finished) == ((), False)


# -- SPRT ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("chance", "state"), [(0.75, "H1"), (0.25, "H0")])
def test_a_test_stops_when_decided_and_calls_the_rest_off(chance: float, state: str) -> None:
    rng = random.Random(3)
    test = Sprt(0, 20)

    def judge(game: TournamentGame) -> float:
        is_won = rng.random() < chance
        return float(is_won) if game.first == 0 else float(not is_won)

    games = run(lambda played: sequential.step(test, 4000, seeds(2), played, 5), judge, rng=rng)
    verdict = sequential.verdict(test, games)
    assert verdict.state == state
    assert len(games) < 4000
    assert sequential.step(test, 4000, seeds(2), games, 5).reason.startswith(state)


def test_the_first_decision_stands_whatever_comes_later() -> None:
    test = Sprt(0, 50)

    def pair(number: int, points: float) -> list[TournamentGame]:
        return [
            TournamentGame(2 * number, 1, number, 0, 1, "done", points, 2 * number),
            TournamentGame(2 * number + 1, 1, number, 1, 0, "done", 1 - points, 2 * number + 1),
        ]

    games: list[TournamentGame] = []
    number = 0
    while sequential.verdict(test, games).state == "continue":
        games += pair(number, 1.0)
        number += 1
    decided = sequential.verdict(test, games)
    for later in range(number, number + 200):
        games += pair(later, 0.0)
    assert sequential.verdict(test, games) == decided


def test_an_undecided_test_ends_with_its_games_and_void_pairs_do_not_count() -> None:
    test = Sprt(0, 5)
    found = run(lambda played: sequential.step(test, 20, seeds(2), played, 3), lambda game: 0.5)
    assert len(found) == 20
    void = run(lambda played: sequential.step(test, 20, seeds(2), played, 3), lambda game: None)
    assert sequential.verdict(test, void).pairs == 0


def test_pairs_that_are_on_their_way_at_once_have_openings_of_their_own() -> None:
    test = Sprt(0, 5)
    begun = sequential.step(test, 20, seeds(2), [], 3)
    assert begun.matches == (PlannedMatch(1, 0, 1, 0), PlannedMatch(1, 0, 1, 1), PlannedMatch(1, 0, 1, 2))
    more = sequential.step(test, 20, seeds(2), planned(begun.matches, []), 5)
    assert more.matches == (PlannedMatch(1, 0, 1, 3), PlannedMatch(1, 0, 1, 4))


def test_sprt_ignores_half_pairs_and_ends_with_a_withdrawal() -> None:
    test = Sprt(0, 5)
    pair = planned(sequential.step(test, 20, seeds(2), [], 1).matches, [])
    assert [(game.round, game.first) for game in pair] == [(1, 0), (1, 1)]
    half = [pair[0]._replace(state="done", points=1.0, order=1), pair[1]._replace(state="void")]
    assert sequential.counted_pairs(half) == ([], 0)
    gone = sequential.step(test, 20, seeds(2, 1), half, 1)
    assert (gone.matches, gone.is_finished, gone.reason) == ((), True, "a bot was withdrawn")
    waits = sequential.step(test, 20, seeds(2, 1), pair, 1)
    assert (waits.matches, waits.is_finished) == ((), False)
