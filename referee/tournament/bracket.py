"""The bracket of a knockout: who meets whom in each round, as far as the games played decide it.

Pure: `referee.tournament.formats.knockout` plans its games and shows it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from referee.tournament.match import Match, PlannedMatch, Seed, TournamentGame, absent, matches


def seat_order(players: int, forbidden: Collection[tuple[int, int]] = ()) -> list[int | None]:
    """Return the seats in the order of the first round's matches, two for each match; None is a bye.

    `forbidden` pairs of seats do not meet in this round if that can be avoided.
    """
    size = 1 << max(1, (players - 1).bit_length())
    order = [0]
    while len(order) < size:
        # The two seats of a match add up to the same sum, so the best meet as late as possible, the first two in the
        # final.
        order = [seat for better in order for seat in (better, 2 * len(order) - 1 - better)]
    pairs = [(order[place], order[place + 1]) for place in range(0, size, 2)]
    apart = {frozenset(pair) for pair in forbidden}
    if apart & {frozenset(pair) for pair in pairs}:
        rearranged = iter(_rearranged(sorted(pair for pair in pairs if max(pair) < players), apart))
        of_best = {pair[0]: next(rearranged) for pair in sorted(pairs) if max(pair) < players}
        pairs = [of_best.get(pair[0], pair) for pair in pairs]
    return [seat if seat < players else None for pair in pairs for seat in pair]


def _rearranged(pairs: Sequence[tuple[int, int]], apart: Collection[frozenset[int]]) -> list[tuple[int, int]]:
    """Return pairs of the same seats, by better seed, with as few forbidden ones and as near to the given as possible.

    In the given pairs the seats add up to the same sum: best against last, second against last but one.
    """
    from networkx import Graph, max_weight_matching  # 0.3 s to import

    seats = sorted(seat for pair in pairs for seat in pair)
    total = sum(pairs[0])
    # Greater than the sum of all other costs.
    forbidden = len(seats) * (2 * seats[-1]) ** 2 + 1
    graph = Graph()
    for place, seat in enumerate(seats):
        for rival in seats[:place]:
            # Squares: several small shifts are better than one great one.
            cost = (seat + rival - total) ** 2 + forbidden * (frozenset((seat, rival)) in apart)
            graph.add_edge(seat, rival, weight=-cost)
    matching = max_weight_matching(graph, maxcardinality=True)
    return sorted((min(pair), max(pair)) for pair in matching)


@dataclass(frozen=True, slots=True)
class Tie:
    """One match of the bracket. A seat is None while it is unknown and for a bye; `winner` is None until decided.

    If it is decided without a winner, both players withdrew at once, or both seats are empty.
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
        self._left = {seed.number: seed.left for seed in seeds if seed.is_withdrawn}
        self._games, self._tiebreak_pairs = games, tiebreak_pairs
        self.due: list[PlannedMatch] = []
        apart = [(seed.number, rival) for seed in seeds for rival in seed.forbidden]
        order = seat_order(len(seeds), apart)
        previous = [Tie(0, 0, None, None, seat, is_decided=True) for seat in order]
        self.rounds: list[list[Tie]] = []
        while len(previous) > 1:
            number = len(self.rounds) + 1
            ties = [self._tie(number, place // 2, *previous[place : place + 2]) for place in range(0, len(previous), 2)]
            self.rounds.append(ties)
            previous = ties
        self.third: Tie | None = None
        if third_place and len(self.rounds) > 1:
            upper, lower = (
                Tie(tie.round, tie.number, None, None, tie.loser, tie.is_decided) for tie in self.rounds[-2]
            )
            self.third = self._tie(len(self.rounds), 1, upper, lower)

    @property
    def is_decided(self) -> bool:
        """True if the final and the match for third place are decided."""
        return self.rounds[-1][0].is_decided and (self.third is None or self.third.is_decided)

    def _tie(self, round: int, number: int, left: Tie, right: Tie) -> Tie:
        first, second = left.winner, right.winner
        if not (left.is_decided and right.is_decided):
            return Tie(round, number, first, second, None, is_decided=False)
        if first is None or second is None:
            winner = first if second is None else second
            return Tie(round, number, first, second, winner, is_decided=True, reason="bye")
        match = self._matches.get((round, min(first, second), max(first, second))) or Match(
            round, min(first, second), max(first, second)
        )
        if match.is_open:
            return Tie(round, number, first, second, None, is_decided=False)
        winner, reason = self._decide(match)
        if winner is None and not {first, second} <= self._left.keys():
            self._plan(match, first, second)
        return Tie(round, number, first, second, winner, is_decided=winner is not None or bool(reason), reason=reason)

    def _decide(self, match: Match) -> tuple[int | None, str]:
        low, high = match.low, match.high
        gone = absent(self._left, low, high)
        is_whole = bool(match.games) and all(game.state != "cancelled" for game in match.games)
        # A match that was played to its end counts, even if one of the two has withdrawn since.
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
        # Each round has openings of its own, enough for all extra pairs.
        each = self._games // 2 + self._tiebreak_pairs
        self.due.append(PlannedMatch(match.round, first, second, (match.round - 1) * each + pairs, 2 * fresh))
