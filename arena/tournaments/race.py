"""A race: who are the first so many? Pairs of games of those about whom it is in doubt, until it is settled.

In every cycle each bot that is undecided meets everybody once more, those first whose order is most in doubt; bots that
are settled play only as their opponents. What comes next is a matter of the games that are stored and nothing else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from arena.tournaments.meeting import Meeting, Moment, Played, Seat, Step, finish
from referee.ratings.race import Pairing, Race, RaceState, evaluate_race

MOMENT = Moment.EACH_RESULT


def state(race: Race, seats: Sequence[Seat], played: Sequence[Played]) -> RaceState:
    """Where the race of all that were not withdrawn stands."""
    scores: dict[Pairing, list[float]] = {}
    for pairing, pairs in _pairs(played).items():
        known = scores[pairing] = []
        for games in pairs:
            if any(game.is_open for game in games):
                break  # in the order of planning: quick pairs must not come before slow ones
            known.append(sum(game.points_of(pairing[0]) for game in games) / 2)
    return evaluate_race(race, [seat.number for seat in seats if not seat.is_withdrawn], scores)


def _pairs(played: Sequence[Played]) -> dict[Pairing, list[list[Played]]]:
    """The pairs of games of every two that count or may still do, in the order of planning."""
    pairs: dict[int, list[Played]] = defaultdict(list)
    for game in sorted(played, key=lambda game: game.sequence):
        pairs[game.pair].append(game)
    found: dict[Pairing, list[list[Played]]] = defaultdict(list)
    for games in pairs.values():
        if len(games) == 2 and all(game.state in ("open", "done") for game in games):
            found[min(games[0].first, games[0].second), max(games[0].first, games[0].second)].append(games)
    return found


def step(race: Race, total: int, seats: Sequence[Seat], played: Sequence[Played], ahead: int) -> Step:
    """Pairs until `ahead` are on their way, or the race is settled, or `total` games are planned."""
    found = state(race, seats, played)
    if found.is_settled:
        is_open = any(game.is_open for game in played)
        return Step(is_finished=not is_open, calls_off=is_open, reason=f"settled after {_done(played)} games")
    waiting = len({game.pair for game in played if game.is_open})
    room = min(ahead - waiting, total // 2 - len({game.pair for game in played}))
    if room > 0:
        return Step(upcoming(found, played, room))
    return Step() if waiting else finish(played, "not settled: all games played")


def _done(played: Sequence[Played]) -> int:
    return sum(game.state == "done" for game in played)


def upcoming(found: RaceState, played: Sequence[Played], count: int) -> tuple[Meeting, ...]:
    """The next so many meetings; games on their way count as played. None where all is settled."""
    planned = {pairing: len(pairs) for pairing, pairs in _pairs(played).items()}
    number = len({game.pair for game in played})
    doubtful = list(dict.fromkeys(seat for doubt in found.doubts for seat in (doubt.one, doubt.two)))
    meetings: list[Meeting] = []
    while doubtful and len(meetings) < count:
        cycle = 1 + min(planned.get(_pairing(one, two), 0) for one in doubtful for two in found.shares if one != two)
        for one, two in ((one, two) for one in doubtful for two in [*doubtful, *found.shares] if one != two):
            low, high = pairing = _pairing(one, two)
            if planned.get(pairing, 0) < cycle and len(meetings) < count:
                sides = (low, high) if cycle % 2 else (high, low)
                meetings.append(Meeting(cycle, *sides, opening=number + len(meetings)))
                planned[pairing] = cycle
    return tuple(meetings)


def _pairing(one: int, two: int) -> Pairing:
    return min(one, two), max(one, two)
