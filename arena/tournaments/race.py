"""Race: find the best N bots. Plays pairs of games until each bot is decided: among the best N or not.

In every cycle each undecided bot meets every other bot once; the bots whose order is least certain come first. Decided
bots play only as opponents of undecided ones. The next matches depend on the stored games only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from arena.tournaments.match import NextStep, PlanAfter, PlannedMatch, Seed, TournamentGame, finish
from referee.ratings.race import Pairing, Race, RaceState, evaluate_race

PLAN_AFTER = PlanAfter.EACH_RESULT


def state(race: Race, seeds: Sequence[Seed], played: Sequence[TournamentGame]) -> RaceState:
    """Return the state of the race between all bots that have not withdrawn."""
    scores: dict[Pairing, list[float]] = {}
    for pairing, pairs in _pairs(played).items():
        known = scores[pairing] = []
        for games in pairs:
            if any(game.is_open for game in games):
                break  # in the order of planning: quick pairs must not come before slow ones
            known.append(sum(game.points_of(pairing[0]) for game in games) / 2)
    return evaluate_race(race, [seed.number for seed in seeds if not seed.is_withdrawn], scores)


def _pairs(played: Sequence[TournamentGame]) -> dict[Pairing, list[list[TournamentGame]]]:
    """Group pairs of games by pairing, in the order of planning, without pairs that have a void or cancelled game."""
    pairs: dict[int, list[TournamentGame]] = defaultdict(list)
    for game in sorted(played, key=lambda game: game.sequence):
        pairs[game.pair].append(game)
    by_pairing: dict[Pairing, list[list[TournamentGame]]] = defaultdict(list)
    for games in pairs.values():
        if len(games) == 2 and all(game.state in ("open", "done") for game in games):
            by_pairing[min(games[0].first, games[0].second), max(games[0].first, games[0].second)].append(games)
    return by_pairing


def step(race: Race, total: int, seeds: Sequence[Seed], played: Sequence[TournamentGame], ahead: int) -> NextStep:
    """Plan pairs until `ahead` are open, the race is decided, or `total` games are planned."""
    standing = state(race, seeds, played)
    if standing.is_settled:
        is_open = any(game.is_open for game in played)
        return NextStep(is_finished=not is_open, calls_off=is_open, reason=f"decided after {_done(played)} games")
    waiting = len({game.pair for game in played if game.is_open})
    room = min(ahead - waiting, total // 2 - len({game.pair for game in played}))
    if room > 0:
        return NextStep(upcoming(standing, played, room))
    return NextStep() if waiting else finish(played, "undecided: all games played")


def _done(played: Sequence[TournamentGame]) -> int:
    return sum(game.state == "done" for game in played)


def upcoming(standing: RaceState, played: Sequence[TournamentGame], count: int) -> tuple[PlannedMatch, ...]:
    """Return the next matches, `count` at most; open games count as played. Empty if the race is decided."""
    planned = {pairing: len(pairs) for pairing, pairs in _pairs(played).items()}
    number = len({game.pair for game in played})
    doubtful = list(dict.fromkeys(seat for doubt in standing.doubts for seat in (doubt.one, doubt.two)))
    matches: list[PlannedMatch] = []
    while doubtful and len(matches) < count:
        cycle = 1 + min(planned.get(_pairing(one, two), 0) for one in doubtful for two in standing.shares if one != two)
        for one, two in ((one, two) for one in doubtful for two in [*doubtful, *standing.shares] if one != two):
            low, high = pairing = _pairing(one, two)
            if planned.get(pairing, 0) < cycle and len(matches) < count:
                sides = (low, high) if cycle % 2 else (high, low)
                matches.append(PlannedMatch(cycle, *sides, opening=number + len(matches)))
                planned[pairing] = cycle
    return tuple(matches)


def _pairing(one: int, two: int) -> Pairing:
    return min(one, two), max(one, two)
