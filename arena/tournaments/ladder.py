"""Ladder: pairs of games without an end, always between the two bots whose games carry the most information.

The information of a game is the expected decrease of the sum of both ratings' variances: the Fisher information of its
result under TrueSkill's model. Planned games count as played. A bot that has waited too long is paired first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from arena.tournaments.match import NextStep, PlanAfter, PlannedMatch, Seed, TournamentGame, finish
from referee.ratings.trueskill import BETA

PLAN_AFTER = PlanAfter.ALL_HANDED_OUT

MAX_WAIT_PAIRS_PER_BOT = 2
"""Pairs per active bot after which a waiting bot is paired first."""


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


def information(one: Seed | _Player, two: Seed | _Player) -> float:
    """Return the decrease of the sum of both ratings' variances that is expected from one game."""
    first, second = _variance(one), _variance(two)
    spread = 2 * BETA**2 + first + second
    t = (one.mu - two.mu) / math.sqrt(spread)
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

    def _expect(self, one: int, two: int, games: int) -> None:
        """Count planned games as played: reduce the variances of both ratings as these games are expected to do."""
        left, right = self.players.get(one), self.players.get(two)
        if left and right:
            for _ in range(games):
                gain = information(left, right) / (left.variance**2 + right.variance**2)
                for player in (left, right):
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
                (one, two)
                for place, one in enumerate(ready)
                for two in ready[place + 1 :]
                if not self.rest or min(one.games, two.games) + 2 <= self.rest
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

    def _meet(self, one: _Player, two: _Player) -> PlannedMatch:
        times = len(self._pairs_between(one, two))
        self.pairs += 1
        self._pairs_between(one, two).add(self.pairs)
        self._expect(one.number, two.number, 2)
        for player in (one, two):
            player.games += 2
            player.last = self.pairs
        low, high = sorted((one.number, two.number))
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
