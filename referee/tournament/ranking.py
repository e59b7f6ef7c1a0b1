"""Standings of a tournament: one line per entry, ranked as the format requires.

The format decides the order, and what counts together with the results: byes, rounds reached, decisions of a race. The
table also has Davidson's Bradley-Terry strengths. The results are summed: the sums grow with the pairings, not with the
games, and new results are added to them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

from referee.ratings.bradley_terry import StrengthFit, fit
from referee.ratings.strength import Estimate, estimate_counts
from referee.rules.core import Kind, Termination
from referee.tournament.document import Document
from referee.tournament.formats.format import DecisionState, Marks
from referee.tournament.match import Seed, TournamentGame
from referee.tournament.standing import StandingItem

_POINTS: Mapping[str, tuple[float, float]] = {"first": (1.0, 0.0), "second": (0.0, 1.0)}
_HALVES = (0.5, 0.5)


class GameResult(NamedTuple):  # a dataclass takes four times as long to create, which matters for 10,000 games
    """A finished game as standings and crosstables need it; without a server, seats stand for versions."""

    id: str
    commit_number: int
    sequence: int
    round: int
    pair: int
    first_id: int
    second_id: int
    first: str
    second: str
    pool: str
    is_rated: bool
    attempt: int
    winner: str
    kind: Kind
    termination: Termination

    @property
    def points(self) -> tuple[float, float]:
        """Points of the first and of the second side, each 1, ½ or 0."""
        return _POINTS.get(self.winner, _HALVES)


@dataclass(slots=True)
class PlayerScore:
    """Numbers of a version's games with 0, ½ and 1 points, and of its pairs with 0, ½ … 2 points.

    `singles` are the games whose pair has no other result.
    """

    games: list[int] = field(default_factory=lambda: [0] * 3)
    singles: list[int] = field(default_factory=lambda: [0] * 3)
    pairs: list[int] = field(default_factory=lambda: [0] * 5)

    @property
    def points(self) -> float:
        return self.games[2] + self.games[1] / 2

    @property
    def estimate(self) -> Estimate:
        """Strength relative to the opponents."""
        return estimate_counts(self.pairs, self.singles)


class Scores:
    """The sums of a tournament's results, by version id.

    `meetings` counts, for each (first version, second version), the games in which the first scored 0, ½ and 1 points.
    `forfeits` counts the games lost by forfeit, `endings` all games by termination. `ends` has the first and the last
    rated game of a version in a pool. `last` is the last commit number, `restarted` counts games that needed several
    attempts.
    """

    def __init__(self) -> None:
        self.players: defaultdict[int, PlayerScore] = defaultdict(PlayerScore)
        self.meetings: dict[tuple[int, int], list[int]] = {}
        self.forfeits: Counter[int] = Counter()
        self.endings: Counter[str] = Counter()
        self.ends: dict[tuple[int, str], tuple[str, str]] = {}
        self.last = self.restarted = 0
        self._half: dict[tuple[int, int, int], int] = {}
        """First results of pairs whose other game has no result yet: twice the points of the lower version id."""

    @classmethod
    def of_games(cls, games: Iterable[TournamentGame], versions: Mapping[int, int]) -> Self:
        """Return the sums of games between seats; `versions` maps seats to version ids."""
        found = cls()
        for game in games:
            if game.points is not None:
                found._add(versions[game.first], versions[game.second], game.pair, game.points)
        return found

    def extend(self, results: Iterable[GameResult]) -> None:
        """Add new results, in commit order."""
        for result in results:
            self._add(result.first_id, result.second_id, result.pair, result.points[0])
            self.endings[result.termination] += 1
            if result.kind is Kind.FORFEIT and result.winner in _POINTS:
                self.forfeits[result.second_id if result.winner == "first" else result.first_id] += 1
            if result.is_rated:
                for version in (result.first_id, result.second_id):
                    key = version, result.pool
                    self.ends[key] = self.ends.get(key, (result.id, ""))[0], result.id
            self.restarted += result.attempt > 1
            self.last = result.commit_number

    def _add(self, first: int, second: int, pair: int, points: float) -> None:
        # Without objects of its own, for speed: a first page of a tournament adds all its games.
        mine = int(2 * points)
        self.meetings.setdefault((first, second), [0] * 3)[mine] += 1
        low, high, mine = (first, second, mine) if first < second else (second, first, 2 - mine)
        lower, higher = self.players[low], self.players[high]
        lower.games[mine] += 1
        higher.games[2 - mine] += 1
        before = self._half.pop((pair, low, high), None)
        if before is None:
            self._half[pair, low, high] = mine
            lower.singles[mine] += 1
            higher.singles[2 - mine] += 1
        else:
            lower.singles[before] -= 1
            higher.singles[2 - before] -= 1
            lower.pairs[mine + before] += 1
            higher.pairs[4 - mine - before] += 1

    def between(self, one: int, two: int) -> list[int]:
        """Return the numbers of games between two versions in which `one` scored 0, ½ and 1 points."""
        first, second = self.meetings.get((one, two), [0] * 3), self.meetings.get((two, one), [0] * 3)
        return [first[points] + second[2 - points] for points in range(3)]

    def sonneborn_berger(self, points: Mapping[int, float]) -> dict[int, float]:
        """Return for each version the sum, over its opponents, of its points against them times their `points`."""
        found: dict[int, float] = defaultdict(float)
        for (first, second), (lost, drawn, won) in self.meetings.items():
            if first in points and second in points:
                found[first] += (won + drawn / 2) * points[second]
                found[second] += (lost + drawn / 2) * points[first]
        return found

    def results(self, names: Mapping[int, str]) -> Iterator[tuple[str, str, float]]:
        """Yield, for every game, the names of the first and the second version and the points of the first."""
        for (first, second), counts in self.meetings.items():
            for twice, count in enumerate(counts):
                for _ in range(count):
                    yield names[first], names[second], twice / 2


@dataclass(frozen=True)
class StandingTable:
    """The table of a tournament. `tie_breaks` has the criteria that break ties, in order; `scores` sums the results."""

    lines: tuple[StandingItem, ...]
    tie_breaks: tuple[str, ...]
    scores: Scores = field(default_factory=Scores, compare=False)
    decision: DecisionState = field(default_factory=DecisionState)
    seats: Mapping[int, str] = field(default_factory=dict)
    """Names by seat."""
    total: int | None = None
    """Number of games as far as it is known, see `Format.total`."""

    @cached_property
    def results(self) -> tuple[tuple[str, str, float], ...]:
        """The games played, by pairing: names of the first and the second version, points of the first."""
        return tuple(self.scores.results({line.version_id: line.name for line in self.lines}))

    @cached_property
    def strengths(self) -> StrengthFit:
        """Strengths from the results, independent of their order; fitted on first use."""
        return fit(self.results)

    @cached_property
    def sided(self) -> StrengthFit:
        """Strengths fitted together with the advantage of moving first; few games cannot tell these apart."""
        return fit(self.results, with_advantage=True)

    @cached_property
    def advantage(self) -> tuple[float, float] | None:
        """Advantage of moving first in Elo with its error (95 %), if significant; else None."""
        return (self.sided.advantage, self.sided.advantage_interval) if self.sided.has_advantage else None

    def strengths_as_json(self) -> dict[str, Any]:
        """Return the strengths and the advantage of moving first as plain data."""
        sided = self.sided.as_json()
        return self.strengths.as_json() | {key: sided[key] for key in ("advantage", "advantage_interval")}


def rank(
    document: Document,
    seeds: Sequence[Seed],
    games: Sequence[TournamentGame],
    names: dict[int, str],
    versions: dict[int, int],
    *,
    scores: Scores | None = None,
) -> list[StandingItem]:
    """Return the lines of the standings, best first. Pure. `scores` are the sums of the results of `games` if known."""
    scores = Scores.of_games(games, versions) if scores is None else scores
    done = [scores.players.get(versions[seed.number], PlayerScore()) for seed in seeds]
    marks = document.system.marks(document, seeds, games)
    points = [marks.get(seed.number, Marks()).points for seed in seeds]
    points_of = {
        versions[seed.number]: player.points if own is None else own
        for seed, player, own in zip(seeds, done, points, strict=True)
    }
    berger = scores.sonneborn_berger(points_of)
    lines: dict[int, StandingItem] = {}
    for place, (seed, player) in enumerate(zip(seeds, done, strict=True), 1):
        version, mark = versions[seed.number], marks.get(seed.number, Marks())
        losses, draws, wins = player.games
        count = losses + draws + wins
        lines[seed.number] = StandingItem(
            rank=0,
            seed=place,
            name=names[seed.number],
            points=points_of[version],
            games=count,
            wins=wins,
            draws=draws,
            losses=losses,
            score=player.points / count if count else 0.0,
            sonneborn_berger=berger.get(version, 0.0) if mark.sonneborn_berger is None else mark.sonneborn_berger,
            byes=mark.byes,
            half_point_byes=mark.half_point_byes,
            buchholz=mark.buchholz,
            buchholz_cut=mark.buchholz_cut,
            round=mark.round,
            forfeits=scores.forfeits[version],
            is_withdrawn=seed.is_withdrawn,
            estimate=player.estimate.as_json(),
            version_id=version,
        )
    keys = {seat: (*marks.get(seat, Marks()).place, *document.system.order(line)) for seat, line in lines.items()}
    order = sorted(lines, key=lambda seat: (*keys[seat], seat))
    places = written_places((number, keys[seat]) for number, seat in enumerate(order, 1))
    return [
        replace(lines[seat], rank=number, place=place if scores.players else "")
        for number, (seat, place) in enumerate(zip(order, places, strict=True), 1)
    ]


def written_places(players: Iterable[tuple[int, Hashable]]) -> list[str]:
    """Return places as people write them, from those of players, best first, and the keys that sort them: `2=` where
    two share the second place.
    """
    players = list(players)
    count, best = Counter(key for _, key in players), dict[Hashable, int]()
    for place, key in players:
        best.setdefault(key, place)
    return [f"{best[key]}=" if count[key] > 1 else str(place) for place, key in players]
