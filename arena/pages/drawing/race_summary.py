"""A race in words: its verdict, and for every bot its score and whether its place is decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.pages import filters
from arena.tournaments.settings import RaceSettings
from referee.ratings.race import RaceState


@dataclass(frozen=True, slots=True)
class RaceSummary:
    """A race and its present state. `names` maps seats to names; `is_over`: no more games are played."""

    settings: RaceSettings
    state: RaceState
    names: Mapping[int, str]
    is_over: bool

    @property
    def words(self) -> str:
        """The verdict in one sentence."""
        state, confidence = self.state, f"{100 * self.settings.confidence:g} %"
        leaders = ", ".join(filters.plain(self.names[seat], 60) for seat in state.ranked(state.leaders))
        top = f"top {self.settings.top}"
        if state.is_settled:
            return f"Decided at {confidence}. The {top}: {leaders}."
        count = len(state.undecided)
        certain = f"Certain in the {top}: {leaders or 'none'}."
        start = "Ended undecided" if self.is_over else "Not decided yet"
        return f"{start} at {confidence}. {certain} Undecided bots: {count}."

    @property
    def rows(self) -> Sequence[tuple[str, float, int, str]]:
        """(name, score, pairs against each opponent, decision) in the order of the standings."""
        state = self.state
        groups = ((state.leaders, "decided: in the top"), (state.undecided, "undecided"))
        return [
            (self.names[seat], state.shares[seat], state.cycles[seat], decision)
            for group, decision in (*groups, (state.others, "decided: not in the top"))
            for seat in state.ranked(group)
        ]

    @property
    def doubt(self) -> str:
        """The least certain comparison in one sentence; empty without one."""
        if not self.state.doubts:
            return ""
        most = self.state.doubts[0]
        one, two = (filters.plain(self.names[seat], 60) for seat in (most.one, most.two))
        return (
            f"Least certain: whether {one} is ahead of {two} "
            f"(evidence {most.wealth:.3g} of the {self.state.bound:.3g} needed)."
        )
