"""A sequential test (SPRT) as a bar between its bounds, and its verdict in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from arena.documents.standings import StandingItem
from arena.pages import filters
from referee.ratings.sprt import Sprt, SprtVerdict
from referee.ratings.strength import elo_words

_WIDTH, _HEIGHT, _EDGE = 340, 74, 10


@dataclass(frozen=True, slots=True)
class SprtChart:
    """A test of the candidate (first seat) against its rival, with its present state.

    `is_over`: no more games are played.
    """

    test: Sprt
    verdict: SprtVerdict
    candidate: StandingItem
    rival: str
    is_over: bool

    @property
    def words(self) -> str:
        """The verdict in one sentence."""
        test, found = self.test, self.verdict
        one, two = filters.plain(self.candidate.name, 60), filters.plain(self.rival, 60)
        pairs = f"Pairs of games: {found.pairs:,}."
        if found.state == "H1":
            return f"{one} is stronger than {two}: H1 accepted ({_elo(test.elo1)} Elo). {pairs}"
        if found.state == "H0":
            return f"{one} is not stronger than {two}: H0 accepted (no gain over {_elo(test.elo0)} Elo). {pairs}"
        lean = (
            "towards neither"
            if not found.llr
            else "towards H1, stronger"
            if found.llr > 0
            else "towards H0, not stronger"
        )
        return f"{'Ended undecided' if self.is_over else 'Not decided yet'}, leaning {lean}. {pairs}"

    @property
    def late(self) -> int:
        """Number of games that were running when the test was decided. They count for the Elo difference, not for the
        verdict.
        """
        return self.candidate.games - 2 * self.verdict.pairs if self.verdict.state != "continue" else 0

    @property
    def elo(self) -> str:
        """The Elo difference with its 95 % interval, see `elo_words`."""
        found = self.candidate.estimate
        return filters.minus(elo_words(found["elo"], found["elo_low"], found["elo_high"]))

    @property
    def pairs(self) -> Sequence[tuple[str, int]]:
        """Number of pairs by the candidate's points in them."""
        return list(zip(("0", "½", "1", "1½", "2"), self.verdict.pentanomial, strict=True))

    @property
    def drawing(self) -> Markup:
        """The log-likelihood ratio as a bar between the bounds."""
        found = self.verdict
        span = found.upper - found.lower

        def place(value: float) -> float:
            part = (min(max(value, found.lower), found.upper) - found.lower) / span
            return round(_EDGE + part * (_WIDTH - 2 * _EDGE), 1)

        start, end, zero, now = place(found.lower), place(found.upper), place(0), place(found.llr)
        label = f"Log-likelihood ratio {found.llr:.2f} between {found.lower:.2f} (not stronger) and {found.upper:.2f}"
        return Markup(
            '<svg class="test" viewBox="0 0 {width} {height}" role="img" aria-label="{label}">'
            '<rect class="ground" x="{start}" y="26" width="{whole}" height="14" rx="3"/>'
            '<rect class="{side}" x="{left}" y="26" width="{part}" height="14"/>'
            '<path class="bound" d="M{zero} 22V44"/><path class="now" d="M{now} 18V48"/>'
            '<text x="{start}" y="14" text-anchor="start">H0: {elo0} Elo</text>'
            '<text x="{end}" y="14" text-anchor="end">H1: {elo1} Elo</text>'
            '<text x="{start}" y="64" text-anchor="start">{lower}</text>'
            '<text x="{end}" y="64" text-anchor="end">{upper}</text>'
            '<text class="value" x="{middle}" y="64" text-anchor="middle">LLR {llr}</text></svg>'
        ).format(
            width=_WIDTH,
            height=_HEIGHT,
            label=f"{label} (stronger)",
            start=start,
            end=end,
            whole=end - start,
            side="more" if found.llr >= 0 else "less",
            left=min(zero, now),
            part=round(abs(now - zero), 1),
            zero=zero,
            now=now,
            elo0=_elo(self.test.elo0),
            elo1=_elo(self.test.elo1),
            lower=filters.minus(f"{found.lower:.2f}"),
            upper=filters.minus(f"{found.upper:.2f}"),
            middle=min(max(now, start + 95), end - 95),
            llr=filters.minus(f"{found.llr:+z.2f}"),
        )


def _elo(value: float) -> str:
    return filters.minus(f"{value:+g}") if value else "0"
