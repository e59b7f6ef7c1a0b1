"""A race as people read it: the verdict in words, and every bot with its share and whether it is settled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.pages import filters
from arena.tournaments.settings import RaceSettings
from referee.ratings.race import RaceState


@dataclass(frozen=True, slots=True)
class RaceSummary:
    """A race with what it has found so far; `names` are those of its seats."""

    settings: RaceSettings
    state: RaceState
    names: Mapping[int, str]

    @property
    def words(self) -> str:
        """The verdict, in one sentence."""
        found, confidence = self.state, f"{100 * self.settings.confidence:g} %"
        of = "first is" if self.settings.top == 1 else f"first {self.settings.top} are"
        leaders = ", ".join(filters.plain(self.names[one], 60) for one in found.ranked(found.leaders))
        if found.is_settled:
            return f"Settled at {confidence}: the {of} {leaders}."
        among = f"; {leaders} {'is' if len(found.leaders) == 1 else 'are'} among them" if leaders else ""
        count = len(found.undecided)
        return f"Not settled yet at {confidence} who the {of}{among}; {count} bots are undecided."

    @property
    def rows(self) -> Sequence[tuple[str, float, int, str]]:
        """Name, share of points, pairs against each, and what is known; in the order of the standings."""
        found = self.state
        groups = ((found.leaders, "settled: among the first"), (found.undecided, "undecided"))
        return [
            (self.names[seat], found.shares[seat], found.cycles[seat], what)
            for group, what in (*groups, (found.others, "settled: not among them"))
            for seat in found.ranked(group)
        ]

    @property
    def doubt(self) -> str:
        """What is most in doubt, in one sentence; empty where nothing is."""
        if not self.state.doubts:
            return ""
        most = self.state.doubts[0]
        one, two = (filters.plain(self.names[seat], 60) for seat in (most.one, most.two))
        return (
            f"Most in doubt is whether {one} is ahead of {two}: a stake on it has made {most.wealth:.3g} of 1, and "
            f"{self.state.bound:.3g} settle it."
        )
