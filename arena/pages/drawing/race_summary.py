"""A race (the tournament format that finds the k best bots) in words: its verdict, and for every bot its score and
whether it is among the best.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.pages import filters
from arena.pages.language import digits, marked, number, text, translated
from arena.tournaments.settings import RaceSettings
from referee.ratings.race import RaceState


@dataclass(frozen=True, slots=True)
class RaceSummary:
    """A race and its present state. `names` has the name of each seat's bot. If `is_over`, no more games are played."""

    settings: RaceSettings
    state: RaceState
    names: Mapping[int, str]
    is_over: bool

    @property
    def words(self) -> str:
        """The verdict in one sentence."""
        state, confidence = self.state, f"{number(100 * self.settings.confidence)} %"
        leaders = ", ".join(filters.plain(self.names[seat], 60) for seat in state.ranked(state.leaders))
        values = {
            "confidence": confidence,
            "top": self.settings.top,
            "leaders": leaders or text("none"),
            "count": len(state.undecided),
        }
        if state.is_settled:
            return text("Decided at %(confidence)s. The top %(top)s: %(leaders)s.") % values
        start = text("Ended undecided") if self.is_over else text("Not decided yet")
        rest = text("at %(confidence)s. Certain in the top %(top)s: %(leaders)s. Undecided bots: %(count)s.") % values
        return f"{start} {rest}"

    @property
    def rows(self) -> Sequence[tuple[str, float, int, str]]:
        """Every bot as (name, score, pairs against each opponent, decision), in the order of the standings."""
        state = self.state
        groups = ((state.leaders, marked("decided: in the top")), (state.undecided, marked("undecided")))
        return [
            (self.names[seat], state.shares[seat], state.cycles[seat], translated(decision))
            for group, decision in (*groups, (state.others, marked("decided: not in the top")))
            for seat in state.ranked(group)
        ]

    @property
    def doubt(self) -> str:
        """The least certain comparison in one sentence; empty without one."""
        if not self.state.doubts:
            return ""
        most = self.state.doubts[0]
        one, two = (filters.plain(self.names[seat], 60) for seat in (most.one, most.two))
        form = text("Least certain: whether %(one)s is ahead of %(two)s (evidence %(wealth)s of the %(bound)s needed).")
        values = {"wealth": digits(most.wealth, 3), "bound": digits(self.state.bound, 3)}
        return form % {"one": one, "two": two, **values}
