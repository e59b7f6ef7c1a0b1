"""Single-elimination knockout. Drawn matches are decided by extra pairs of games, finally by the seeding.

The bracket keeps the best seeds apart as long as possible; missing players are byes for the best seeds. Forbidden pairs
do not meet in the first round if that can be avoided. A match is planned as soon as both players are known.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from referee.tournament.bracket import Bracket, Tie
from referee.tournament.formats.format import AHEAD, POINTS, Criterion, Marks, SeededFormat
from referee.tournament.match import Length, NextStep, PlanAfter, Seed, TournamentGame, matches
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
        bracket = self._bracket(document, seeds, played)
        if bracket.due:
            return NextStep(tuple(bracket.due))
        is_over = bracket.is_decided and not any(game.is_open for game in played)
        return NextStep(is_finished=is_over, reason=f"{len(bracket.rounds)} rounds played" if is_over else "")

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
