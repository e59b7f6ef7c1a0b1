"""Ladder: pairs of games without an end, always between the two bots whose games carry the most information.

The information of a game is the expected decrease of the sum of both ratings' variances: the Fisher information of its
result under TrueSkill's model. Planned games count as played. A bot that has waited too long is paired first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import Field

from referee.ratings.trueskill import BETA
from referee.tournament.formats.format import AHEAD, POINTS, Criterion, Format, even_length
from referee.tournament.match import (
    Length,
    NextStep,
    PlanAfter,
    PlanItem,
    PlannedMatch,
    Seed,
    TournamentGame,
    finish,
)
from referee.tournament.overview import UPCOMING, TournamentOverview, UpcomingMatch, planned
from referee.tournament.part import EvenGames, Part, SettingsError
from referee.tournament.seeding import SeedingRule

if TYPE_CHECKING:
    from referee.tournament.document import Document

MAX_WAIT_PAIRS_PER_BOT = 2
"""Pairs per active bot after which a waiting bot is paired first."""


class LadderSettings(Part):
    """For `format = "ladder"`: pairs of games between bots with close or uncertain ratings; bots may join and leave."""

    games: EvenGames = Field(default=1000, ge=0, le=1_000_000)
    """Games in total, an even number. 0: no limit."""
    max_games_per_bot: int = Field(default=0, ge=0, le=1_000_000)
    """Games of each bot, at most. 0: no limit."""
    rest_after: int = Field(default=0, ge=0, le=1_000_000)
    """Games of each bot after which the ladder rests until another one enters; opponents of a new bot play more. 0: it
    never rests.
    """


@dataclass(frozen=True, slots=True)
class LadderChoice:
    """A match and why the ladder chose it: the bot at seat `starved` was not in the last `waited` pairs of games.

    If `starved` is None, the match was chosen because its games carry the most information.
    """

    match: PlannedMatch
    starved: int | None = None
    waited: int = 0


@dataclass(slots=True)
class _Player:
    number: int
    mu: float
    variance: float
    games: int = 0
    last: int = 0
    """The number of its last pair."""


def information(player: Seed | _Player, rival: Seed | _Player) -> float:
    """Return the decrease of the sum of both ratings' variances that is expected from one game."""
    first, second = _variance(player), _variance(rival)
    spread = 2 * BETA**2 + first + second
    t = (player.mu - rival.mu) / math.sqrt(spread)
    win = 0.5 * math.erfc(-t / math.sqrt(2))
    chance = win * (1 - win)
    if chance <= 0:  # beyond 8 sigma a game carries no information
        return 0.0
    density = math.exp(-t * t / 2) / math.sqrt(2 * math.pi)
    return (first**2 + second**2) * density**2 / chance / spread


def _variance(player: Seed | _Player) -> float:
    return player.variance if isinstance(player, _Player) else player.sigma**2


class _Ladder:
    def __init__(self, seeds: Sequence[Seed], played: Sequence[TournamentGame], cap: int, rest: int) -> None:
        self.cap, self.rest = cap, rest
        self.players = {
            seed.number: _Player(seed.number, seed.mu, seed.sigma**2) for seed in seeds if not seed.is_withdrawn
        }
        self.met: dict[tuple[int, int], set[int]] = {}
        self.pairs = max((game.pair for game in played), default=0)
        for game in played:
            if game.state == "cancelled":
                continue
            self.met.setdefault((min(game.first, game.second), max(game.first, game.second)), set()).add(game.pair)
            for number in (game.first, game.second):
                if player := self.players.get(number):
                    player.games += 1
                    player.last = max(player.last, game.pair)
            if game.is_open:
                self._expect(game.first, game.second, 1)

    def _expect(self, first: int, second: int, games: int) -> None:
        """Count planned games as played: reduce the variances of both ratings as these games are expected to do."""
        left, right = self.players.get(first), self.players.get(second)
        if left and right:
            for _ in range(games):
                gain = information(left, right) / (left.variance**2 + right.variance**2)
                for player in (left, right):
                    # Above 0, since the gain is divided by the variances.
                    player.variance = max(player.variance - player.variance**2 * gain, 1e-6)

    def choose(self) -> LadderChoice | None:
        """Choose the next match and count it as planned.

        Returns None if fewer than two bots can play two more games without exceeding `cap` games each, or if all of
        these would exceed `rest` games.
        """
        ready = [player for player in self.players.values() if not self.cap or player.games + 2 <= self.cap]
        active = [player for player in ready if not self.rest or player.games + 2 <= self.rest]
        if len(ready) < 2 or not active:
            return None
        max_wait = MAX_WAIT_PAIRS_PER_BOT * len(ready)
        # The bot that has waited longest; at the start no bot has waited.
        starved = min(active, key=lambda player: (player.last, player.games, player.number))
        if self.pairs - starved.last >= max_wait:
            others = [player for player in ready if player is not starved]
            rival = max(others, key=lambda player: (information(starved, player), -player.games, -player.number))
            waited = self.pairs - starved.last
            return LadderChoice(self._meet(starved, rival), starved.number, waited)
        best = max(
            (
                (left, right)
                for place, left in enumerate(ready)
                for right in ready[place + 1 :]
                if not self.rest or min(left.games, right.games) + 2 <= self.rest
            ),
            key=lambda pair: (
                information(*pair),
                -len(self._pairs_between(*pair)),
                -(pair[0].games + pair[1].games),
                -pair[0].number,
                -pair[1].number,
            ),
        )
        return LadderChoice(self._meet(*best))

    def _pairs_between(self, one: _Player, two: _Player) -> set[int]:
        return self.met.setdefault((min(one.number, two.number), max(one.number, two.number)), set())

    def _meet(self, first: _Player, second: _Player) -> PlannedMatch:
        times = len(self._pairs_between(first, second))
        self.pairs += 1
        self._pairs_between(first, second).add(self.pairs)
        self._expect(first.number, second.number, 2)
        for player in (first, second):
            player.games += 2
            player.last = self.pairs
        low, high = sorted((first.number, second.number))
        return PlannedMatch(1, *((low, high) if times % 2 == 0 else (high, low)), opening=times)


def step(
    total: int, cap: int, seeds: Sequence[Seed], played: Sequence[TournamentGame], ahead: int, *, rest: int = 0
) -> NextStep:
    """Plan matches until `ahead` pairs of games are open; `total` limits all games, `cap` those of a bot (0: no limit).

    A ladder whose bots all have `rest` games waits for another bot (0: no such limit).
    """
    kept = [game for game in played if game.state != "cancelled"]
    waiting = len({game.pair for game in kept if game.is_open})
    room = ahead - waiting
    if total:
        room = min(room, (total - len(kept)) // 2)
    if total and len(kept) + 2 > total:
        return finish(played, f"{len(kept)} games played")
    choices = upcoming(cap, seeds, played, room, rest=rest)
    if choices or room <= 0:
        return NextStep(tuple(wish.match for wish in choices))
    if not cap or rest:  # too few bots now, or all have their games: more may enter
        return NextStep()
    return finish(played, f"all bots have played {cap} games")


def upcoming(
    cap: int, seeds: Sequence[Seed], played: Sequence[TournamentGame], count: int, *, rest: int = 0
) -> list[LadderChoice]:
    """Return the next matches of a ladder, `count` at most; open games count as played."""
    ladder = _Ladder(seeds, played, cap, rest)
    choices: list[LadderChoice] = []
    while len(choices) < count:
        wish = ladder.choose()
        if wish is None:
            break
        choices.append(wish)
    return choices


# Numbers of games differ between bots; those without games come last.
_SCORE = Criterion("points per game", lambda line: line.score if line.games else -1.0)


class Ladder(Format[LadderSettings]):
    """Pairs of games between bots with close or uncertain ratings; bots may join and leave."""

    name = "ladder"
    title = "ladder"
    purpose = "pairs of games between bots with close or uncertain ratings; bots may join and leave"
    Settings = LadderSettings
    uses_games = False
    plan_after = PlanAfter.ALL_HANDED_OUT
    is_open = True
    looks_at_ratings = True
    is_followed = True
    has_curves = True
    winner = "Highest share of points:"
    course = "Ladder"
    ranks_shares = True
    criteria = (_SCORE, POINTS)
    example = (
        "\n[ladder]\n"
        "games = 12                         # in total, an even number; 0: no limit\n"
        "max_games_per_bot = 0              # 0: no limit\n"
    )

    def seeding(self, document: Document) -> SeedingRule:
        """Return the order of the ratings: equal bots keep it in the standings."""
        return "rating"

    def next_step(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], ahead: int = AHEAD
    ) -> NextStep:
        """Plan matches until `ahead` pairs of games are open."""
        settings = self.of(document)
        return step(settings.games, settings.max_games_per_bot, seeds, played, ahead, rest=settings.rest_after)

    def count_games(self, document: Document, players: int) -> tuple[int, int | None]:
        """Return the number of games, twice; no end without limits."""
        settings = self.of(document)
        bounds = [count for count in (settings.games, settings.max_games_per_bot * players // 2) if count]
        return (min(bounds), min(bounds)) if bounds else (0, None)

    def count_openings(self, document: Document, players: int) -> int:
        """Return a high estimate: two bots of a ladder rarely play more pairs of games than this."""
        return 1 + (self.of(document).games or 20_000) // max(1, players)

    def length(self, document: Document, players: int) -> Length:
        """Return the limit of all games, or of those of each bot."""
        settings = self.of(document)
        if settings.games:
            return even_length(settings.games, self.table)
        if settings.max_games_per_bot:
            return Length(settings.max_games_per_bot, "games of each bot", 2, self.table, "max_games_per_bot")
        raise SettingsError("this ladder has no end and cannot be extended", "format")

    def plan_size(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], kept: int
    ) -> PlanItem:
        """Return an upper bound of the number of games."""
        length = self.length(document, len(seeds))
        active = sum(not seed.is_withdrawn for seed in seeds)
        return PlanItem(length.count if length.key == "games" else length.count * active // 2, is_most=True)

    def total(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], planned: int
    ) -> int | None:
        """Return the limit of the games; None without one."""
        settings = self.of(document)
        if not settings.games and (settings.rest_after or not settings.max_games_per_bot):
            return None
        return max(planned, self.plan_size(document, seeds, played, planned).games)

    def overview(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], names: Mapping[int, str]
    ) -> TournamentOverview:
        """Return the running and the next matches, with the reasons for these."""
        settings = self.of(document)
        mu = {seed.number: seed.mu for seed in seeds}
        sigma = {seed.number: seed.sigma for seed in seeds}
        kept = sum(game.state != "cancelled" for game in played)
        left = (settings.games - kept) // 2 if settings.games else UPCOMING
        count, matches = max(0, min(UPCOMING, left)), []
        for choice in upcoming(settings.max_games_per_bot, seeds, played, count, rest=settings.rest_after):
            first, second = choice.match.first, choice.match.second
            if choice.starved is not None:
                reason = f"{names[choice.starved]} has waited for {choice.waited} pairs"
            else:
                unsure = max((first, second), key=lambda seat: sigma[seat])
                apart, error = abs(mu[first] - mu[second]), 2 * sigma[unsure]
                reason = f"most informative: {apart:.1f} apart, {names[unsure]} ± {error:.1f}"
            matches.append(UpcomingMatch(names[first], names[second], reason))
        return TournamentOverview(planned=planned(played, names), upcoming=tuple(matches))


FORMAT = Ladder()
