"""A sequential test (SPRT): its log-likelihood ratio between the bounds, pairs by points, and its verdict in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from arena.documents.standings import StandingItem
from arena.pages import filters
from arena.pages.drawing import plot
from arena.pages.language import number, text, translated
from referee.ratings.sprt import Sprt, SprtVerdict
from referee.ratings.strength import elo_words

_WIDTH, _HEIGHT = 340, 130


@dataclass(frozen=True, slots=True)
class SprtChart:
    """A test of the candidate (first seat) against its rival: its present verdict, and its ratio after each pair.

    If `is_over`, no more games are played.
    """

    test: Sprt
    verdict: SprtVerdict
    ratios: Sequence[float]
    candidate: StandingItem
    rival: str
    is_over: bool

    @property
    def words(self) -> str:
        """The verdict in one sentence."""
        test, found = self.test, self.verdict
        one, two = filters.plain(self.candidate.name, 60), filters.plain(self.rival, 60)
        pairs = text("Pairs of games: %(count)s.") % {"count": number(found.pairs)}
        values = {"one": one, "two": two, "elo0": _elo(test.elo0), "elo1": _elo(test.elo1)}
        if found.state == "H1":
            said = text("%(one)s is stronger than %(two)s: H1 accepted (%(elo1)s Elo).") % values
        elif found.state == "H0":
            said = text("%(one)s is not stronger than %(two)s: H0 accepted (no gain over %(elo0)s Elo).") % values
        else:
            lean = (
                text("leaning towards neither")
                if not found.llr
                else text("leaning towards H1, stronger")
                if found.llr > 0
                else text("leaning towards H0, not stronger")
            )
            undecided = text("Ended undecided") if self.is_over else text("Not decided yet")
            said = f"{undecided}, {lean}."
        return f"{said} {pairs}"

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
        return filters.minus(translated(elo_words(found["elo"], found["elo_low"], found["elo_high"])))

    @property
    def pairs(self) -> Sequence[tuple[str, int]]:
        """Number of pairs by the candidate's points in them."""
        return list(zip(("0", "½", "1", "1½", "2"), self.verdict.pentanomial, strict=True))

    @property
    def drawing(self) -> Markup:
        """The log-likelihood ratio over the pairs, between the bounds."""
        found = self.verdict
        form = text("Log-likelihood ratio %(llr)s between %(low)s (not stronger) and %(high)s (stronger)")
        title = form % {"llr": number(found.llr, 2), "low": number(found.lower, 2), "high": number(found.upper, 2)}
        levels = (
            (found.lower, f"H0: {_elo(self.test.elo0)} Elo"),
            (0.0, ""),
            (found.upper, f"H1: {_elo(self.test.elo1)} Elo"),
        )
        points = [plot.Point(number, ratio) for number, ratio in enumerate(self.ratios)]
        return plot.lines(title, [plot.Series("LLR", points)], plot.Axis(levels=levels))

    @property
    def pentanomial(self) -> Markup:
        """The pairs by points as five bars, from lost to won."""
        most = max(1, *(count for _, count in self.pairs))
        width = _WIDTH / len(self.pairs)
        bars = [
            Markup(
                '<rect class="h{step}" x="{x:.0f}" y="{y:.1f}" width="{width:.0f}" height="{height:.1f}" rx="3"/>'
                '<text x="{middle:.0f}" y="{above:.1f}" text-anchor="middle">{count}</text>'
                '<text x="{middle:.0f}" y="{base}" text-anchor="middle">{points}</text>'
            ).format(
                step=2 * index,
                x=index * width + 6,
                y=_HEIGHT - 20 - (height := (_HEIGHT - 40) * count / most),
                width=width - 12,
                height=height,
                middle=(index + 0.5) * width,
                above=_HEIGHT - 25 - height,
                count=count,
                base=_HEIGHT - 5,
                points=points,
            )
            for index, (points, count) in enumerate(self.pairs)
        ]
        form = text("%(points)s points: %(count)s")
        shares = ", ".join(form % {"points": points, "count": count} for points, count in self.pairs)
        label = text("Pairs by points: %(shares)s") % {"shares": shares}
        return Markup('<svg class="chart five" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
            _WIDTH, _HEIGHT, label, Markup("").join(bars)
        )


def _elo(value: float) -> str:
    return filters.minus(f"{value:+g}") if value else "0"
