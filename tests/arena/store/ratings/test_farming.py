"""Ratings where a player chooses the opponent: what farming gains, and what honest newcomers get."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field

import pytest

from arena.store.ratings.fold import OTHERS_SHARE, FoldedChange, FoldedGame, FoldedRating, fold
from arena.store.tournaments.meetings import MAX_MEETINGS
from referee.ratings.trueskill import BETA, TrueSkillRating

LADDER, REMOTE = "loa", "loa/remote"
ANCHORS = {-1: 8.0, -2: 16.0, -3: 22.0, -4: 28.0, -5: 33.0}
"""The arena's bots, from random to champion, and their strengths."""
MOST_GAIN = BETA
"""What farming may gain: a bot stronger by this much scores 76 %."""


@dataclass
class League:
    """A pool of remote bots beside the ladder in which the arena's bots are rated; strengths by bot."""

    seed: int = 0
    lines: dict[tuple[str, int], FoldedRating] = field(default_factory=dict)
    count: int = 0

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        for bot, mu in ANCHORS.items():
            self.put(LADDER, bot, FoldedRating(TrueSkillRating(mu, 1.1, 200, 100, 0, 100)))

    def line(self, pool: str, version_id: int) -> FoldedRating | None:
        return self.lines.get((pool, version_id))

    def follows(self, version_id: int) -> int | None:
        return None

    def put(self, pool: str, version_id: int, line: FoldedRating) -> None:
        self.lines[pool, version_id] = line

    def rating(self, bot: int) -> TrueSkillRating:
        return self.lines.get((REMOTE, bot), FoldedRating(TrueSkillRating())).rating

    def play(self, first: int, second: int, winner: str, meeting: int = 1) -> tuple[FoldedChange, ...]:
        self.count += 1
        anchor = "second" if second in ANCHORS else None
        game = FoldedGame("", self.count, "loa", REMOTE, first, second, winner, "rules", True, meeting, anchor)
        return fold(self, game)

    def establish(self, bot: int, strength: float = 25.0, days: int = 1) -> None:
        """Play all rated games against the arena's bots that some days allow, honestly."""
        for _ in range(days):
            for anchor, mu in ANCHORS.items():
                for meeting in range(1, MAX_MEETINGS + 1):
                    chance = 0.5 * (1 + math.erf((strength - mu) / (2 * BETA)))
                    self.play(bot, anchor, "first" if self.dice.random() < chance else "second", meeting)


def test_fresh_bots_that_resign_give_nothing() -> None:
    league = League()
    for rival in range(1, 51):
        assert league.play(0, rival, "first") == ()
    league.establish(100)
    before = league.rating(100)
    for rival in range(1, 51):
        league.play(100, rival, "first")
    assert league.rating(100) == before


def test_newcomer_is_rated_by_established_bots_and_does_not_move_them() -> None:
    league = League()
    league.establish(1, days=2)
    assert not league.rating(1).is_provisional
    before = league.rating(1)
    assert [change.version_id for change in league.play(2, -3, "first")] == [2]
    assert league.rating(2).mu > 25, "the arena's bots have a rating, that of the ladder"
    assert [change.version_id for change in league.play(2, 1, "first", 10)] == [2]
    assert league.rating(1) == before


def test_anchor_has_the_rating_of_the_ladder_or_of_its_family() -> None:
    league = League()
    league.establish(1)
    assert (league.rating(-3).mu, league.rating(-3).sigma) == (22.0, 1.1)
    game = FoldedGame("", 999, "loa", "loa/zen/remote", 1, -3, "first", "rules", True, 1, "second")
    assert [change.version_id for change in fold(league, game)] == [1], "no ladder of these rules: that of the family"


def test_unrated_anchor_rates_nobody() -> None:
    league = League()
    del league.lines[LADDER, -3]
    assert league.play(1, -3, "first") == ()


def test_repeated_games_count_less() -> None:
    shifts = []
    for meeting in (1, 2, 10):
        league = League()
        (change,) = league.play(1, -3, "first", meeting)
        shifts.append(change.after.rating.mu - 25)
    assert shifts == pytest.approx([shifts[0], shifts[0] / 2, shifts[0] / 10])


def test_games_against_others_count_a_share_of_those_against_anchors() -> None:
    league = League()
    for bot in (1, 2):
        league.establish(bot)
    line = league.line(REMOTE, 1)
    assert line
    weight = sum(OTHERS_SHARE / meeting for meeting in range(1, MAX_MEETINGS + 1)) * len(ANCHORS)
    assert line.credit == pytest.approx(weight)
    games = 0
    while any(change.version_id == 1 for change in league.play(1, 2, "first")):
        games += 1
    assert games == int(weight)


@pytest.mark.parametrize("accounts", [2, 10])
@pytest.mark.parametrize("strength", [20.0, 25.0, 34.0])
def test_farmer_with_many_accounts_gains_little(accounts: int, strength: float) -> None:
    """Accounts with honest ratings lose on purpose for ten days; two more hand the gain on to the third."""
    league, days = League(seed=accounts), 10
    honest, *chain = range(3 + 1)
    helpers = range(100, 100 + accounts)
    league.establish(honest, strength, days + 1)
    for helper in helpers:
        league.establish(helper, strength, 3)
    for bot in chain:
        league.establish(bot, strength)
    for _ in range(days):
        for bot in (*chain, *helpers):
            league.establish(bot, strength)
        for place, bot in enumerate(chain):
            for rival in (*helpers, *chain[:place]):
                for meeting in range(1, MAX_MEETINGS + 1):
                    league.play(bot, rival, "first", meeting)
    assert league.rating(chain[-1]).conservative < league.rating(honest).conservative + MOST_GAIN


@pytest.mark.parametrize("strength", [12.0, 25.0, 34.0])
def test_honest_newcomer_has_an_established_rating_after_a_day(strength: float) -> None:
    ratings = []
    for seed in range(5):
        league = League(seed)
        league.establish(1, strength)
        ratings.append(league.rating(1))
    assert not any(rating.is_provisional for rating in ratings)
    assert sum(rating.mu for rating in ratings) / len(ratings) == pytest.approx(strength, abs=2.5)


def test_games_chosen_by_the_arena_are_rated_as_before() -> None:
    league = League()
    game = FoldedGame("", 1, "loa", LADDER, 1, 2, "first", "rules", True, 0, None)
    first, second = fold(league, game)
    assert first.after.rating.mu - 25 == 25 - second.after.rating.mu > 4
    assert first.after.credit == 0
