"""Verdicts of tournaments in words and pictures.

A sequential test (SPRT) shows its log-likelihood ratio between the bounds and its pairs by points. A race, the format
that finds the k best bots, shows the score of every bot and whether it is among them. A gauntlet shows the result of
its challenger against every other bot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from arena.pages import filters
from arena.pages.drawing import plot
from arena.pages.language import headed, marked, number, text, texts, translated
from referee.ratings.race import RaceState, certainty_of
from referee.ratings.sprt import Sprt, SprtVerdict
from referee.ratings.strength import elo_words
from referee.tournament.formats.race import RaceSettings
from referee.tournament.standing import StandingItem

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
    waiting: int = 0
    """Complete pairs that count only when all pairs that began before them are over."""

    @property
    def words(self) -> str:
        """The verdict in one sentence."""
        test, verdict = self.test, self.verdict
        candidate, rival = filters.plain(self.candidate.name, 60), filters.plain(self.rival, 60)
        pairs = text("Pairs of games: %(count)s.") % {"count": number(verdict.pairs)}
        values = {"one": candidate, "two": rival, "elo0": _elo(test.elo0), "elo1": _elo(test.elo1)}
        if verdict.state == "H1":
            said = text("%(one)s is stronger than %(two)s: H1 accepted (%(elo1)s Elo).") % values
        elif verdict.state == "H0":
            said = text("%(one)s is not stronger than %(two)s: H0 accepted (no gain over %(elo0)s Elo).") % values
        else:
            lean = (
                text("leaning towards neither")
                if not verdict.llr
                else text("leaning towards H1, stronger")
                if verdict.llr > 0
                else text("leaning towards H0, not stronger")
            )
            undecided = text("Ended undecided") if self.is_over else text("Not decided yet")
            said = f"{undecided}, {lean}."
        if self.waiting and verdict.state == "continue":
            pairs += " " + text("Complete pairs that wait for earlier ones: %(count)s.") % {
                "count": number(self.waiting)
            }
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
        estimate = self.candidate.estimate
        return _interval(estimate["elo"], estimate["elo_low"], estimate["elo_high"])

    @property
    def pairs(self) -> Sequence[tuple[str, int]]:
        """Number of pairs by the candidate's points in them."""
        return list(zip(("0", "½", "1", "1½", "2"), self.verdict.pentanomial, strict=True))

    @property
    def drawing(self) -> Markup:
        """The log-likelihood ratio over the pairs, between the bounds."""
        verdict = self.verdict
        form = text("Log-likelihood ratio %(llr)s between %(low)s (not stronger) and %(high)s (stronger)")
        title = form % {
            "llr": number(verdict.llr, 2),
            "low": number(verdict.lower, 2),
            "high": number(verdict.upper, 2),
        }
        levels = (
            (verdict.lower, headed("H0", f"{_elo(self.test.elo0)} Elo")),
            (0.0, ""),
            (verdict.upper, headed("H1", f"{_elo(self.test.elo1)} Elo")),
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


class ChallengeLine(NamedTuple):
    """The result of a challenger against one bot, or against all if `rival` is empty; `elo` has its 95 % interval."""

    rival: str
    games: int
    wins: int
    draws: int
    losses: int
    elo: tuple[float, float, float]

    @property
    def score(self) -> float | None:
        """The share of the points; None without a game."""
        return (self.wins + self.draws / 2) / self.games if self.games else None

    @property
    def elo_words(self) -> str:
        """The Elo difference with its 95 % interval, see `elo_words`."""
        return _interval(*self.elo)

    @classmethod
    def of(cls, challenger: StandingItem) -> ChallengeLine:
        """Return the result against all bots."""
        estimate = challenger.estimate
        elo = estimate["elo"], estimate["elo_low"], estimate["elo_high"]
        counts = challenger.games, challenger.wins, challenger.draws, challenger.losses
        return cls("", *counts, elo)

    @classmethod
    def against(cls, rival: StandingItem) -> ChallengeLine:
        """Return the result against a bot that met no other bot: its own result, seen from the other side."""
        estimate = rival.estimate
        elo = -estimate["elo"], -estimate["elo_high"], -estimate["elo_low"]
        return cls(rival.name, rival.games, rival.losses, rival.draws, rival.wins, elo)


def _interval(elo: float, low: float, high: float) -> str:
    return filters.minus(translated(elo_words(elo, low, high)))


class RaceLine(NamedTuple):
    """A bot in a race: its score, its games, its pairs against each opponent, and what is decided."""

    name: str
    share: float
    games: int
    pairs: int
    decision: str


@dataclass(frozen=True, slots=True)
class RaceSummary:
    """A race and its present state. `names` has the name of each seat's bot. If `is_over`, no more games are played."""

    settings: RaceSettings
    state: RaceState
    names: Mapping[int, str]
    games: Mapping[str, int]
    """The number of games of each bot."""
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
            return (
                texts(
                    "Decided at %(confidence)s. The best: %(leaders)s.",
                    "Decided at %(confidence)s. The top %(top)s: %(leaders)s.",
                    self.settings.top,
                )
                % values
            )
        start = text("Ended undecided") if self.is_over else text("Not decided yet")
        rest = texts(
            "at %(confidence)s. Certain to be the best: %(leaders)s. Undecided bots: %(count)s.",
            "at %(confidence)s. Certain in the top %(top)s: %(leaders)s. Undecided bots: %(count)s.",
            self.settings.top,
        )
        return f"{start} {rest % values}"

    @property
    def rows(self) -> Sequence[RaceLine]:
        """Every bot, in the order of the standings."""
        state = self.state
        groups = ((state.leaders, marked("decided: in the top")), (state.undecided, marked("undecided")))
        return [
            RaceLine(self.names[seat], state.shares[seat], self.games[self.names[seat]], state.cycles[seat], decision)
            for group, decision in (*groups, (state.others, marked("decided: not in the top")))
            for seat in state.ranked(group)
        ]

    @property
    def evidence(self) -> str:
        """The distance of the race from its decision, in a few words; empty if no more games are played."""
        if self.is_over or not self.state.doubts:
            return ""
        return text("undecided bots: %(count)s") % {"count": len(self.state.undecided)}

    @property
    def doubt(self) -> str:
        """The least certain comparison in one sentence; empty without one."""
        if not self.state.doubts:
            return ""
        most = self.state.doubts[0]
        first, second = (filters.plain(self.names[seat], 60) for seat in (most.one, most.two))
        form = text("Least certain: whether %(one)s is ahead of %(two)s (%(sure)s sure, decided at %(needed)s).")
        sure, needed = (f"{number(100 * share, 1)} %" for share in (most.certainty, certainty_of(self.state.bound)))
        return form % {"one": first, "two": second, "sure": sure, "needed": needed}
