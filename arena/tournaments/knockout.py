"""Single-elimination knockout. Drawn matches are decided by extra pairs of games, finally by the seeding.

The bracket keeps the best seeds apart as long as possible; missing players are byes for the best seeds. A match is
planned as soon as both players are known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from arena.tournaments.match import Match, NextStep, PlanAfter, PlannedMatch, Seed, TournamentGame, matches

PLAN_AFTER = PlanAfter.EACH_RESULT


def bracket(players: int) -> list[int | None]:
    """Return the seats in the order of the first round's matches, two for each match; None is a bye."""
    size = 1 << max(1, math.ceil(math.log2(max(2, players))))
    order = [0]
    while len(order) < size:
        order = [seat for one in order for seat in (one, 2 * len(order) - 1 - one)]
    return [seat if seat < players else None for seat in order]


@dataclass(frozen=True, slots=True)
class Tie:
    """One match of the bracket. A seat is None while it is unknown and for a bye; `winner` is None until decided.

    If it is decided without a winner, both players withdrew.
    """

    round: int
    number: int
    one: int | None
    two: int | None
    winner: int | None
    is_decided: bool
    reason: str = ""

    @property
    def loser(self) -> int | None:
        """The eliminated seat; None while undecided and after a bye."""
        return None if self.winner is None else self.two if self.winner == self.one else self.one


class Bracket:
    """The bracket as far as games decide it; `due` has the matches to plan now."""

    def __init__(
        self,
        seeds: Sequence[Seed],
        played: Sequence[TournamentGame],
        games: int,
        tiebreak_pairs: int,
        *,
        third_place: bool = False,
    ) -> None:
        self._matches = matches(played)
        self._gone = {seed.number for seed in seeds if seed.is_withdrawn}
        self._games, self._tiebreak_pairs = games, tiebreak_pairs
        self.due: list[PlannedMatch] = []
        order = bracket(len(seeds))
        previous = [_arrived(seat) for seat in order]
        self.rounds: list[list[Tie]] = []
        while len(previous) > 1:
            number = len(self.rounds) + 1
            ties = [self._tie(number, place // 2, *previous[place : place + 2]) for place in range(0, len(previous), 2)]
            self.rounds.append(ties)
            previous = ties
        self.third: Tie | None = None
        if third_place and len(self.rounds) > 1:
            one, two = (Tie(tie.round, tie.number, None, None, tie.loser, tie.is_decided) for tie in self.rounds[-2])
            self.third = self._tie(len(self.rounds), 1, one, two)

    @property
    def is_decided(self) -> bool:
        """True if the final and the match for third place are decided."""
        return self.rounds[-1][0].is_decided and (self.third is None or self.third.is_decided)

    def _tie(self, round: int, number: int, left: Tie, right: Tie) -> Tie:
        one, two = left.winner, right.winner
        if not (left.is_decided and right.is_decided):
            return Tie(round, number, one, two, None, is_decided=False)
        if one is None or two is None:
            winner = one if two is None else two
            return Tie(round, number, one, two, winner, is_decided=True, reason="bye")
        match = self._matches.get((round, min(one, two), max(one, two))) or Match(round, min(one, two), max(one, two))
        if match.is_open:
            return Tie(round, number, one, two, None, is_decided=False)
        winner, reason = self._decide(match)
        if winner is None and not {one, two} <= self._gone:
            self._plan(match, one, two)
        return Tie(round, number, one, two, winner, is_decided=winner is not None or bool(reason), reason=reason)

    def _decide(self, match: Match) -> tuple[int | None, str]:
        low, high = match.low, match.high
        gone = {low, high} & self._gone
        is_whole = bool(match.games) and all(game.state != "cancelled" for game in match.games)
        if not (is_whole and match.points(low) != match.points(high)) and gone:
            if len(gone) == 2:
                return None, "both withdrew"
            return (low if high in gone else high), "walkover"
        if not match.games:
            return None, ""
        if match.points(low) != match.points(high):
            return (low if match.points(low) > match.points(high) else high), "points"
        pairs = len({game.pair for game in match.games})
        if pairs < self._games // 2 + self._tiebreak_pairs:
            return None, ""
        return low, f"seeding, after {pairs - self._games // 2} extra pairs"

    def _plan(self, match: Match, one: int, two: int) -> None:
        pairs = len({game.pair for game in match.games})
        fresh = 1 if match.games else self._games // 2
        first, second = (one, two) if pairs % 2 == 0 else (two, one)
        each = self._games // 2 + self._tiebreak_pairs
        self.due.append(PlannedMatch(match.round, first, second, (match.round - 1) * each + pairs, 2 * fresh))


def _arrived(seat: int | None) -> Tie:
    return Tie(0, 0, None, None, seat, is_decided=True)


def step(
    games: int, tiebreak_pairs: int, third_place: bool, seeds: Sequence[Seed], played: Sequence[TournamentGame]
) -> NextStep:
    """Plan every match whose players are known, and extra pairs of games for drawn matches."""
    tree = Bracket(seeds, played, games, tiebreak_pairs, third_place=third_place)
    if tree.due:
        return NextStep(tuple(tree.due))
    is_over = tree.is_decided and not any(game.is_open for game in played)
    return NextStep(is_finished=is_over, reason=f"{len(tree.rounds)} rounds played" if is_over else "")
