"""Round robin and gauntlet: all games are known in advance. Each cycle has all pairings.

Results never change the plan, so it is stored in windows: only some games ahead of those being played. The
numbers of a match follow from its place in the plan, so the games are the same for any size of window.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, islice

from arena.tournaments.match import NextStep, PlanAfter, PlannedMatch, Seed, TournamentGame, finish
from referee.ratings.pairings import Format, berger_meeting, berger_round

PLAN_AFTER = PlanAfter.ALL_OVER
WINDOW = 250
"""Pairs of games that wait to be played, unless there are more slots to fill."""
MAX_OPEN = 8 * WINDOW
"""Most pairs of games that are stored without a result; games of absent bots cannot be played yet."""


def plan(format: Format, games: int, seeds: Sequence[Seed], start: int = 0) -> Iterator[PlannedMatch]:
    """Yield every match from number `start` (counted from 0) on, with `games` games per pairing.

    A cycle has a pair of games for each pairing; if `games` is odd, the last cycle has single games.
    """
    players = len(seeds)
    boards, rounds = _table(format, players)
    if not boards:
        return
    in_pairs = games // 2 * rounds * boards
    for place in range(start // boards, (games + 1) // 2 * rounds):
        cycle, number = divmod(place, rounds)
        is_single = 2 * cycle + 1 == games
        for at, (one, two) in enumerate(_round(format, players, number), place * boards):
            if at >= start:
                first, second = (two, one) if is_single and cycle % 2 else (one, two)
                sequence = at + min(at, in_pairs) + 1
                yield PlannedMatch(place + 1, first, second, cycle, 1 if is_single else 2, at + 1, sequence)


def rounds(format: Format, games: int, players: int) -> int:
    """Return the number of rounds of the whole plan."""
    return (games + 1) // 2 * _table(format, players)[1]


def left(format: Format, games: int, seeds: Sequence[Seed], start: int = 0) -> int:
    """Return how many games the plan has from match number `start` on, without those of withdrawn bots."""
    players, gone = len(seeds), _gone(seeds)
    boards, rounds = _table(format, players)
    if not boards:
        return 0
    place, board = divmod(start, boards)
    cycle, number = divmod(place, rounds)
    here = max(0, min(2, games - 2 * cycle))
    rest = sum(not gone.intersection(pair) for pair in _round(format, players, number)[board:])
    return here * (rest + _matches(format, players, gone, number + 1)) + max(0, games - 2 * cycle - 2) * _matches(
        format, players, gone, 0
    )


def step(format: Format, games: int, seeds: Sequence[Seed], played: Sequence[TournamentGame], ahead: int) -> NextStep:
    """Plan matches until `ahead` pairs, but at least WINDOW, are open.

    `played` need contain only the open games and the last game.
    """
    gone = _gone(seeds)
    start = max((game.pair for game in played), default=0)
    if not left(format, games, seeds, start):
        return finish(played)
    absent = {seed.number for seed in seeds if seed.is_absent}
    waiting = {game.pair: {game.first, game.second} for game in played if game.is_open}
    ready = sum(not absent & seats for seats in waiting.values())
    room = max(0, min(max(ahead, WINDOW) - ready, MAX_OPEN - len(waiting)))
    upcoming = (match for match in plan(format, games, seeds, start) if not gone & {match.first, match.second})
    matches = tuple(islice(upcoming, room))
    if matches:
        start = matches[-1].pair
    return NextStep(matches, later=left(format, games, seeds, start))


def _gone(seeds: Sequence[Seed]) -> set[int]:
    """Return the withdrawn seats that are not suspended; suspended ones are still paired and forfeit their games."""
    return {seed.number for seed in seeds if seed.is_withdrawn and not seed.is_suspended}


def _table(format: Format, players: int) -> tuple[int, int]:
    """Return the number of matches in a round, and of rounds in a cycle."""
    if players < 2:
        return 0, 0
    return (1, players - 1) if format == "gauntlet" else (players // 2, players + players % 2 - 1)


def _round(format: Format, players: int, number: int) -> list[tuple[int, int]]:
    """Return the pairings of round `number` (counted from 0) of a cycle."""
    return [(0, number + 1)] if format == "gauntlet" else berger_round(players, number)


def _matches(format: Format, players: int, gone: Collection[int], number: int) -> int:
    """Return how many matches a cycle has from round `number` (counted from 0) on, without those of seats in `gone`."""
    if format == "gauntlet":
        return 0 if 0 in gone else sum(seat not in gone for seat in range(number + 1, players))
    resting = sorted({*gone, players} if players % 2 else gone)  # a bye is a match with a seat that never plays
    seats = players + players % 2
    count = seats - 1 - number
    # Each resting seat removes a match from every round; a match of two resting seats must not be removed twice.
    shared = sum(berger_meeting(players, low, high) >= number for low, high in combinations(resting, 2))
    return count * (seats // 2 - len(resting)) + shared
