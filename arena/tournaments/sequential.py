"""A match of two that ends as soon as the sequential test is decided, or when its games are used up.

The test looks at the pairs in the order in which they were completed, and its first decision stands, whatever the games
still on their way bring.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.tournaments.meeting import Meeting, Moment, Played, Seat, Step, finish
from referee.ratings.sprt import Sprt, SprtVerdict, evaluate_points

MOMENT = Moment.EACH_RESULT


def completed_pairs(played: Sequence[Played], seat: int = 0) -> list[float]:
    """The points of `seat` in every completed pair, in the order of completion."""
    pairs: dict[int, list[Played]] = {}
    for game in played:
        if game.state == "done":
            pairs.setdefault(game.pair, []).append(game)
    whole = [games for games in pairs.values() if len(games) == 2]
    whole.sort(key=lambda games: max(game.order for game in games))
    return [sum(game.points_of(seat) for game in games) for games in whole]


def verdict(test: Sprt, played: Sequence[Played]) -> SprtVerdict:
    """Where the test of seat 0 against seat 1 stands, or how it was first decided."""
    return evaluate_points(test, completed_pairs(played))


def step(test: Sprt, total: int, seats: Sequence[Seat], played: Sequence[Played], ahead: int) -> Step:
    """Pairs until `ahead` are on their way, or the test is decided, or `total` games are planned."""
    found = verdict(test, played)
    if found.state != "continue":
        is_open = any(game.is_open for game in played)
        return Step(is_finished=not is_open, calls_off=is_open, reason=f"{found.state} after {found.pairs} pairs")
    pairs = len({game.pair for game in played})
    if any(seat.is_withdrawn for seat in seats):
        return finish(played, "a bot was withdrawn")
    waiting = len({game.pair for game in played if game.is_open})
    room = min(ahead - waiting, total // 2 - pairs)
    if room > 0:
        return Step(tuple(Meeting(1, 0, 1, pairs + number) for number in range(room)))
    return Step() if waiting else finish(played, "undecided: all games played")
