"""Double round robin with rest days: two cycles, and a day without games after every few rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from referee.tournament.formats.format import AHEAD, POINTS, SONNEBORN_BERGER, WINS, Format
from referee.tournament.formats.round_robin import FORMAT as ROUND_ROBIN
from referee.tournament.match import Length, NextStep, PlanAfter, PlannedMatch, Seed, TournamentGame, finish
from referee.tournament.overview import RoundResult, TournamentOverview
from referee.tournament.part import Part, SettingsError

if TYPE_CHECKING:
    from referee.tournament.document import Document

CYCLES = 2


class DoubleRoundRobinSettings(Part):
    """For `format = "double-round-robin"`: two cycles with rest days."""

    rounds_a_day: int = Field(default=2, ge=1, le=9)
    """Rounds of a day with games; the next day has none."""


class DoubleRoundRobin(Format[DoubleRoundRobinSettings]):
    """Every bot meets every other bot twice; a round begins when the one before is over."""

    name = "double-round-robin"
    title = "double round robin"
    purpose = "every bot meets every other bot twice, with rest days"
    Settings = DoubleRoundRobinSettings
    uses_games = False
    plan_after = PlanAfter.ALL_OVER
    needs_games = True
    is_followed = True
    course = "Rounds and rest days"
    criteria = (POINTS, WINS, SONNEBORN_BERGER)
    example = "\n[double_round_robin]\nrounds_a_day = 2                   # then a day without games\n"

    def next_step(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], ahead: int = AHEAD
    ) -> NextStep:
        """Plan the next round once the previous one is over."""
        if any(game.is_open for game in played):
            return NextStep()
        done = max((game.round for game in played), default=0)
        active = {seed.number for seed in seeds if not seed.is_withdrawn}
        rounds = ROUND_ROBIN.shape(len(seeds))[1]
        if done >= CYCLES * rounds or len(active) < 2:
            return finish(played, f"{done} rounds played")
        pairs = ROUND_ROBIN.round(len(seeds), done % rounds)
        matches = (PlannedMatch(done + 1, *pair, opening=done // rounds) for pair in pairs if active.issuperset(pair))
        return NextStep(tuple(matches))

    def count_games(self, document: Document, players: int) -> tuple[int, int]:
        """Return a pair of games for each meeting."""
        games = CYCLES * 2 * ROUND_ROBIN.count_matches(players, (), 0) if players > 1 else 0
        return games, games

    def count_openings(self, document: Document, players: int) -> int:
        """Return an opening for each cycle."""
        return CYCLES

    def length(self, document: Document, players: int) -> Length:
        """Raise SettingsError: two cycles are the whole."""
        raise SettingsError("a double round robin cannot be extended", "format")

    def overview(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], names: Mapping[int, str]
    ) -> TournamentOverview:
        """Return the results by round and day: a rest day is a number without games."""
        results: dict[str, dict[int, RoundResult]] = {names[seed.number]: {} for seed in seeds}
        for game in played:
            for seat, rival in ((game.first, game.second), (game.second, game.first)):
                before = results[names[seat]].get(game.round, RoundResult(names[rival], 0.0, 0.0))
                points, against = before.points + game.points_of(seat), before.against + game.points_of(rival)
                games = (*before.games, game.sequence)
                results[names[seat]][game.round] = RoundResult(
                    names[rival], points, against, games, is_open=game.is_open
                )
        return TournamentOverview(rounds=tuple(sorted({game.round for game in played})), results=results)


FORMAT = DoubleRoundRobin()
