"""Single-elimination knockout. Drawn matches are decided by extra pairs of games, finally by the seeding.

The bracket keeps the best seeds apart as long as possible; missing players are byes for the best seeds. Forbidden pairs
do not meet in the first round if that can be avoided. A match is planned as soon as both players are known.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import Field

from referee.tournament.formats.format import AHEAD, POINTS, Criterion, Marks, SeededFormat
from referee.tournament.match import (
    Length,
    Match,
    NextStep,
    PlanAfter,
    PlannedMatch,
    Seed,
    TournamentGame,
    absent,
    matches,
)
from referee.tournament.overview import BracketMatch, BracketRound, TournamentOverview
from referee.tournament.part import SettingsError
from referee.tournament.seeding import FindSeat, SeededSettings
from referee.validation import Misfit

if TYPE_CHECKING:
    from referee.tournament.document import Document


class KnockoutSettings(SeededSettings):
    """For `format = "knockout"`: the loser of a match is eliminated."""

    tiebreak_pairs: int = Field(default=5, ge=0, le=50)
    """Extra pairs of games for a drawn match, at most; after them the better seed advances."""
    third_place: bool = False
    """Play a match for third place between the losers of the semi-finals."""


def bracket(players: int, forbidden: Collection[tuple[int, int]] = ()) -> list[int | None]:
    """Return the seats in the order of the first round's matches, two for each match; None is a bye.

    `forbidden` pairs of seats do not meet in this round if that can be avoided.
    """
    size = 1 << max(1, math.ceil(math.log2(max(2, players))))
    order = [0]
    while len(order) < size:
        # The two seats of a match add up to the same sum, so the best meet as late as possible, the first two in the
        # final.
        order = [seat for better in order for seat in (better, 2 * len(order) - 1 - better)]
    matches_ = [(order[place], order[place + 1]) for place in range(0, size, 2)]
    apart = {frozenset(pair) for pair in forbidden}
    if apart & {frozenset(pair) for pair in matches_}:
        rearranged = iter(_rearranged(sorted(pair for pair in matches_ if max(pair) < players), apart))
        of_best = {pair[0]: next(rearranged) for pair in sorted(matches_) if max(pair) < players}
        matches_ = [of_best.get(pair[0], pair) for pair in matches_]
    return [seat if seat < players else None for pair in matches_ for seat in pair]


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
        order = bracket(len(seeds), apart)
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


def step(
    games: int, tiebreak_pairs: int, third_place: bool, seeds: Sequence[Seed], played: Sequence[TournamentGame]
) -> NextStep:
    """Plan every match whose players are known, and extra pairs of games for drawn matches."""
    tree = Bracket(seeds, played, games, tiebreak_pairs, third_place=third_place)
    if tree.due:
        return NextStep(tuple(tree.due))
    is_over = tree.is_decided and not any(game.is_open for game in played)
    return NextStep(is_finished=is_over, reason=f"{len(tree.rounds)} rounds played" if is_over else "")


THIRD_PLACE = "Third place"
_ROUND = Criterion("round reached", lambda line: line.round)


class Knockout(SeededFormat[KnockoutSettings]):
    """The loser of a match is eliminated."""

    name = "knockout"
    title = "knockout"
    purpose = "the loser of a match is eliminated"
    Settings = KnockoutSettings
    plan_after = PlanAfter.EACH_RESULT
    needs_games = True
    is_followed = True
    has_bracket = True
    columns = ("seed", "round")
    course = "Bracket"
    criteria = (_ROUND, POINTS)
    example = (
        "games = 2                          # of each match, an even number\n"
        "\n[knockout]\n"
        'seeding = "rating"                 # or "entry" (the order of the entries, best first), "random"\n'
        "tiebreak_pairs = 5                 # extra pairs for a drawn match; then the better seed advances\n"
        "third_place = false                # play for third place\n"
    )

    def with_requests(
        self, document: Document, seeds: Sequence[Seed], find: FindSeat, owners: Mapping[int, Hashable]
    ) -> Sequence[Seed]:
        """Return the seeds with the opponents that each should not meet in the first round."""
        return self.of(document).keep_apart(seeds, find, owners)

    def _bracket(self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame]) -> Bracket:
        settings = self.of(document)
        return Bracket(seeds, played, document.games, settings.tiebreak_pairs, third_place=settings.third_place)

    def next_step(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], ahead: int = AHEAD
    ) -> NextStep:
        """Plan every match whose players are known, and extra pairs of games for drawn matches."""
        settings = self.of(document)
        return step(document.games, settings.tiebreak_pairs, settings.third_place, seeds, played)

    def count_games(self, document: Document, players: int) -> tuple[int, int]:
        """Return the number of games without and with all extra pairs."""
        if players < 2:
            return 0, 0
        settings = self.of(document)
        count = players - 1 + (settings.third_place and players > 3)
        return count * document.games, count * (document.games + 2 * settings.tiebreak_pairs)

    def count_openings(self, document: Document, players: int) -> int:
        """Return the pairs of games of all rounds, extra pairs included."""
        pairs = (document.games + 1) // 2 + self.of(document).tiebreak_pairs
        return pairs * max(1, (players - 1).bit_length())

    def length(self, document: Document, players: int) -> Length:
        """Raise SettingsError: nothing follows the final."""
        raise SettingsError("a knockout ends with its final and cannot be extended", "format")

    def faults(self, document: Document) -> Iterator[Misfit]:
        """Yield a fault for an odd number of games, and for pairs that are not entered."""
        yield from self.of(document).faults(document, self.table)
        if document.games % 2:
            problem = "must be even: matches are played in pairs with sides swapped"
            yield Misfit("games", problem, f"write {document.games + 1}")

    def total(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], planned: int
    ) -> int | None:
        """Return the number of games without further extra pairs and walkovers."""
        if len(seeds) < 2:
            return planned
        bracket = self._bracket(document, seeds, played)
        ties = [*(tie for ties in bracket.rounds for tie in ties), *([bracket.third] if bracket.third else [])]
        # The games of matches that have begun are among those planned.
        begun = {(game.round, seat) for game in played for seat in (game.first, game.second)}
        coming = sum(not tie.is_decided and (tie.round, tie.one) not in begun for tie in ties)
        return planned + coming * document.games

    def marks(self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame]) -> Mapping[int, Marks]:
        """Return the last round that each seat reached; the winner of the final reached one more.

        Of two that reached the same round, the winner of the match for third place comes first.
        """
        if len(seeds) < 2:
            return {}
        reached: dict[int, int] = {}
        bracket = self._bracket(document, seeds, played)
        third = bracket.third.winner if bracket.third else None
        for ties in bracket.rounds:
            for tie in ties:
                for seat in (tie.one, tie.two):
                    if seat is not None:
                        reached[seat] = tie.round
                if tie.winner is not None:
                    reached[tie.winner] = tie.round + 1
        return {seat: Marks(round=round, place=(-round, seat != third)) for seat, round in reached.items()}

    def overview(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], names: Mapping[int, str]
    ) -> TournamentOverview:
        bracket, met = self._bracket(document, seeds, played), matches(played)

        def encounter(tie: Tie) -> BracketMatch:
            first, second = (names.get(-1 if seat is None else seat, "") for seat in (tie.one, tie.two))
            winner = "" if tie.winner is None else names[tie.winner]
            match = None
            if tie.one is not None and tie.two is not None:
                match = met.get((tie.round, min(tie.one, tie.two), max(tie.one, tie.two)))
            if match is None or tie.one is None or tie.two is None:
                return BracketMatch(first, second, winner=winner, reason=tie.reason)
            points = (match.points(tie.one), match.points(tie.two))
            return BracketMatch(first, second, points, winner, tie.reason, tuple(game.sequence for game in match.games))

        rounds = [
            BracketRound(round_name(len(bracket.rounds) - number), tuple(encounter(tie) for tie in ties))
            for number, ties in enumerate(bracket.rounds)
        ]
        third = encounter(bracket.third) if bracket.third else None
        if third:
            rounds.append(BracketRound(THIRD_PLACE, (third,)))
        final = bracket.rounds[-1][0].winner
        return TournamentOverview(
            bracket=tuple(rounds), champion="" if final is None else names[final], third=third.winner if third else ""
        )


def round_name(left: int) -> str:
    """Name a round by the number of rounds left, itself included."""
    return {1: "Final", 2: "Semi-finals", 3: "Quarter-finals"}.get(left, f"Round of {2**left}")


FORMAT = Knockout()
