"""Match of two bots that ends as soon as a sequential test (SPRT) is decided, or its games are used up.

The test takes pairs in the order in which they began. Its first decision is final, whatever the results of the open
games.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from referee.ratings.sprt import Model, Sprt, SprtVerdict, evaluate_points, games_left, history
from referee.tournament.formats.format import AHEAD, DecisionState, EvidenceFormat
from referee.tournament.match import NextStep, PlannedMatch, Seed, TournamentGame, finish
from referee.tournament.part import EvenGames, Part
from referee.validation import Misfit

if TYPE_CHECKING:
    from referee.tournament.document import Document


class SprtSettings(Part):
    """For `format = "sprt"`: test whether the first bot is stronger than the second; stop as soon as it is decided."""

    elo0: float = Field(default=0.0, ge=-2000, le=2000)
    """Null hypothesis: the first bot is stronger by at most this, in Elo."""
    elo1: float = Field(default=10.0, ge=-2000, le=2000)
    """Alternative hypothesis: the first bot is stronger by at least this, in Elo."""
    alpha: float = Field(default=0.05, gt=0, lt=0.5)
    """Type I error: probability of accepting `elo1` although `elo0` is true."""
    beta: float = Field(default=0.05, gt=0, lt=0.5)
    """Type II error: probability of accepting `elo0` although `elo1` is true."""
    model: Model = "logistic"
    """What Elo means: a score (`logistic`), or a score in units of its deviation (`normalised`), so that a test
    takes as many games with many draws as with few.
    """
    games: EvenGames = Field(default=20_000, ge=2, le=1_000_000)
    """Games in total, at most; an even number."""

    @model_validator(mode="after")
    def _ordered(self) -> SprtSettings:
        if self.elo0 >= self.elo1:
            raise ValueError("elo0 must be less than elo1")
        return self

    @property
    def sprt(self) -> Sprt:
        """The parameters of the test, as `referee.ratings` takes them."""
        return Sprt(self.elo0, self.elo1, self.alpha, self.beta, self.model)


def counted_pairs(played: Sequence[TournamentGame], seat: int = 0) -> tuple[list[float], int]:
    """Return the points of `seat` in every pair that counts, in the order in which pairs began, and how many wait.

    A pair counts once all pairs that began before it are over; a complete pair waits until then. Otherwise quick pairs
    would be counted first, and where lost games last longer than won ones, many slots would bias the test: with 64
    slots and a factor of 1.5, it accepted H1 for equal bots in 58 of 100 tests. Pairs with a void or cancelled game do
    not count.
    """
    pairs: dict[int, list[TournamentGame]] = {}
    for game in sorted(played, key=lambda game: game.sequence):
        pairs.setdefault(game.pair, []).append(game)
    points: list[float] = []
    is_waiting, waiting = False, 0
    for games in pairs.values():
        is_waiting = is_waiting or any(game.is_open for game in games)
        if len(games) == 2 and all(game.state == "done" for game in games):
            if is_waiting:
                waiting += 1
            else:
                points.append(sum(game.points_of(seat) for game in games))
    return points, waiting


def verdict(test: Sprt, played: Sequence[TournamentGame]) -> SprtVerdict:
    """Return the state of the test of seat 0 against seat 1, or its first decision."""
    return evaluate_points(test, counted_pairs(played)[0])


def step(test: Sprt, total: int, seeds: Sequence[Seed], played: Sequence[TournamentGame], ahead: int) -> NextStep:
    """Plan pairs until `ahead` are open, the test is decided, or `total` games are planned."""
    test_state = verdict(test, played)
    if test_state.state != "continue":
        is_open = any(game.is_open for game in played)
        return NextStep(
            is_finished=not is_open, calls_off=is_open, reason=f"{test_state.state} after {test_state.pairs} pairs"
        )
    pairs = len({game.pair for game in played})
    if any(seed.is_withdrawn for seed in seeds):
        return finish(played, "a bot was withdrawn")
    waiting = len({game.pair for game in played if game.is_open})
    room = min(ahead - waiting, total // 2 - pairs)
    if room > 0:
        return NextStep(tuple(PlannedMatch(1, 0, 1, pairs + number) for number in range(room)))
    return NextStep() if waiting else finish(played, "undecided: all games played")


class SequentialTest(EvidenceFormat[SprtSettings]):
    """A test whether the first bot is stronger than the second."""

    name = "sprt"
    title = "sequential test (SPRT)"
    purpose = "is the first bot stronger than the second? It stops as soon as that is decided"
    Settings = SprtSettings
    is_closed = "no bot can be added to a sequential test: create another one"
    has_elo = False
    winner = "Stronger:"
    course = "Sequential test"
    example = (
        "\n[sprt]\n"
        "elo0 = 0.0                         # null hypothesis: stronger by at most this, in Elo\n"
        "elo1 = 50.0                        # alternative hypothesis: stronger by at least this, in Elo\n"
        "alpha = 0.05                       # type I error\n"
        "beta = 0.05                        # type II error\n"
        "games = 400                        # in total, at most; an even number\n"
    )
    example_entries = '\n[entries]\nbots = ["greedy", "random"]        # the candidate, then the bot to beat\n'

    def next_step(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], ahead: int = AHEAD
    ) -> NextStep:
        """Plan pairs until `ahead` are open, or the test is decided."""
        settings = self.of(document)
        return step(settings.sprt, settings.games, seeds, played, ahead)

    def max_games(self, document: Document) -> int:
        return self.of(document).games

    def count_games(self, document: Document, players: int) -> tuple[int, int]:
        """Return a pair of games, and the limit."""
        return 2, self.of(document).games

    def faults(self, document: Document) -> Iterator[Misfit]:
        """Yield a fault unless two bots are named."""
        entries = document.entries
        if (entries.bots or entries.has_query) and (len(entries.bots) != 2 or entries.has_query):
            yield Misfit("entries.bots", "a sequential test is between two bots, the candidate first", "name two")

    def decision(self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame]) -> DecisionState:
        """Return the verdict, the log-likelihood ratio after each pair, and how many games are left by estimate."""
        settings = self.of(document)
        points, waiting = counted_pairs(played)
        state, ratios = history(settings.sprt, points)
        left, most = games_left(settings.sprt, state), settings.games - 2 * state.pairs
        return DecisionState(state, tuple(ratios), waiting, None if left is None else max(0, min(left, most)))


FORMAT = SequentialTest()
