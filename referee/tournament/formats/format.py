"""The questions that every format answers: which games come next, how long it lasts, how its standings are ordered.

A format is one object without state. Its functions are pure: they take the document, the seeds and the games.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from referee.ratings.race import RaceState
from referee.ratings.sprt import SprtVerdict
from referee.tournament.match import Length, NextStep, PlanAfter, PlanItem, Seed, TournamentGame
from referee.tournament.overview import TournamentOverview
from referee.tournament.part import Part
from referee.tournament.seeding import SAME_OWNER, SEEDINGS, FindSeat, SeededSettings, SeedingRule
from referee.tournament.standing import StandingItem
from referee.validation import Misfit

if TYPE_CHECKING:  # the document has a table for each format
    from referee.tournament.document import Document

AHEAD = 8
"""Pairs that a ladder, a race or a sequential test plans ahead, unless there are more slots to fill."""
S = TypeVar("S", bound=Part)
SeededS = TypeVar("SeededS", bound=SeededSettings)


@dataclass(frozen=True, slots=True)
class Criterion:
    """A criterion of standings: its word, and its value of a line, of which more is better."""

    word: str
    value: Callable[[StandingItem], float]


POINTS = Criterion("points", lambda line: line.points)
SONNEBORN_BERGER = Criterion("Sonneborn-Berger", lambda line: line.sonneborn_berger)
WINS = Criterion("wins", lambda line: line.wins)


class NoSettings(Part):
    """The table of a format that has no settings of its own; documents do not contain it."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Additions of a format to a line of the standings. None: as it follows from the results alone.

    `place` comes before all other criteria of the order.
    """

    points: float | None = None
    sonneborn_berger: float | None = None
    byes: int = 0
    half_point_byes: int = 0
    buchholz: float = 0.0
    buchholz_cut: float = 0.0
    round: int = 0
    place: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class DecisionState:
    """The evidence that decides when a tournament ends, where that is not its number of games."""

    verdict: SprtVerdict | None = None
    ratios: Sequence[float] = ()
    """Log-likelihood ratio of a sequential test after each pair."""
    waiting: int = 0
    """Complete pairs of games that count only when all pairs that began before them are over."""
    left: int | None = None
    """Estimate of the games until the decision of a sequential test; None: too few pairs to tell, or it is decided."""
    race: RaceState | None = None
    """State of a race by seat."""


class Format(ABC, Generic[S]):
    """A format of tournaments. The class variables say how the service treats it."""

    name: ClassVar[str]
    """The name in documents: that of its module, with hyphens."""
    title: ClassVar[str]
    """The name in texts."""
    purpose: ClassVar[str]
    """What it does, as a sentence."""
    Settings: ClassVar[type[Part]] = NoSettings
    """The model of its table in the document."""
    keys: ClassVar[tuple[str, ...]] = ()
    """Keys of the document, outside of tables, that only this format uses."""
    uses_games: ClassVar[bool] = True
    """Whether the key `games` is the number of games of each pairing; otherwise the format's table limits them."""
    plan_after: ClassVar[PlanAfter]
    """The event after which it may plan more games."""
    is_open: ClassVar[bool] = False
    """Whether bots may join and leave while a tournament runs."""
    takes_late_entries: ClassVar[bool] = False
    """Whether a bot may enter between two rounds of a running tournament."""
    is_closed: ClassVar[str] = ""
    """Why no bot may enter after the tournament was created; empty: bots may enter until it starts."""
    is_known_in_advance: ClassVar[bool] = False
    """Whether all games are known from the start, so that only the next ones need to be stored. Then `played` need
    contain only the open games and the last game.
    """
    looks_at_ratings: ClassVar[bool] = False
    """Whether pairings depend on the current ratings."""
    needs_games: ClassVar[bool] = False
    """Whether standings follow from the games, not from sums of their results."""
    needs_rounds: ClassVar[bool] = False
    """Whether standings depend on the rounds that had begun when a bot was withdrawn."""
    is_followed: ClassVar[bool] = False
    """Whether it has an overview: a bracket, rounds, or the next matches."""
    has_bracket: ClassVar[bool] = False
    """Whether that overview is a bracket."""
    has_curves: ClassVar[bool] = False
    """Whether the scores of the leaders are drawn game by game."""
    has_elo: ClassVar[bool] = True
    """Whether final standings have Elo differences; a test has its own estimate, from pairs."""
    winner: ClassVar[str] = "Winner:"
    """What the first of the final standings is, before its name."""
    has_challenger: ClassVar[bool] = False
    """Whether only the first bot meets all others: its result against each is the standing, and it has no winner."""
    columns: ClassVar[tuple[str, ...]] = ()
    """Fields of `StandingItem` that only the tables of some formats show, and of this one."""
    course: ClassVar[str] = "Course"
    """The heading of its overview, or of what decides its end."""
    places: ClassVar[tuple[str, ...]] = ()
    """Words for `Marks.place`, which comes before the criteria; the criteria then only order what `place` leaves."""
    ranks_shares: ClassVar[bool] = False
    """Whether the share of the points decides, because bots play different numbers of games."""
    criteria: ClassVar[tuple[Criterion, ...]] = (POINTS, SONNEBORN_BERGER, WINS)
    """The criteria of the standings, the most important first; lines that are equal keep the order of the seats."""
    example: ClassVar[str] = ""
    """Lines of its example document: plain keys, then, after a blank line, tables but `[entries]`."""
    example_entries: ClassVar[str] = ""
    """Its table `[entries]` in the example; empty: three named bots."""

    def seeding(self, document: Document) -> SeedingRule:
        return "entry"

    def seeding_words(self, settings: Mapping[str, Any]) -> str:
        """Return how a stored document seeds its entries, in words; empty for a format without a choice."""
        if (field := self.Settings.model_fields.get("seeding")) is None:
            return ""
        rule = settings.get(self.table, {}).get("seeding", field.default)
        return SEEDINGS.get(rule, rule)

    def with_requests(
        self, document: Document, seeds: Sequence[Seed], find: FindSeat, owners: Mapping[int, Hashable]
    ) -> Sequence[Seed]:
        """Return the seeds with what the document says of single bots. `owners` has an owner for each seat."""
        return seeds

    def without(self, document: Document, names: Collection[str]) -> Document:
        """Return the document without what its table says of these bots, which no longer take part."""
        return document

    def keeps_owners_apart(self, document: Document) -> bool:
        """Return whether bots of one owner must not meet."""
        return False

    def obstacle(self, document: Document, seeds: Sequence[Seed]) -> str:
        """Return why these seeds cannot be paired; empty if they can."""
        return ""

    def late_entry(self, document: Document, name: str, players: int, rounds: int) -> Document | None:
        """Return the document with a bot that enters when `rounds` rounds are planned; None if it is too late."""
        return document if self.is_open else None

    @property
    def tie_breaks(self) -> tuple[str, ...]:
        """The criteria that order equal points, in words; all criteria of a format that does not order by points."""
        words = self.places or tuple(criterion.word for criterion in self.criteria)
        return words[1:] if words[0] == POINTS.word else words

    @property
    def table(self) -> str:
        return self.name.replace("-", "_")

    def of(self, document: Document) -> S:
        settings: S = getattr(document, self.table)
        return settings

    @abstractmethod
    def next_step(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], ahead: int = AHEAD
    ) -> NextStep:
        """Return the matches to plan now, or that the tournament is finished."""

    @abstractmethod
    def count_games(self, document: Document, players: int) -> tuple[int, int | None]:
        """Return the least and the largest number of games with `players` bots; None: there is no end."""

    @abstractmethod
    def length(self, document: Document, players: int) -> Length:
        """Return the length of a tournament with `players` bots. Raises SettingsError if it cannot be extended."""

    def count_openings(self, document: Document, players: int) -> int:
        """Return how many pairs of games two bots play at most: each has an opening of its own."""
        return (document.games + 1) // 2

    def count_later(self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame]) -> int:
        """Return how many games of a plan known in advance follow those in `played`; 0 for other formats."""
        return 0

    def plan_size(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], kept: int
    ) -> PlanItem:
        """Return the size of an extensible tournament as it stands now. `kept` counts its uncancelled stored games."""
        return PlanItem(self.length(document, len(seeds)).count, is_most=True)

    def total(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], planned: int
    ) -> int | None:
        """Return the number of games as far as it is known; None: something else decides the end, or nothing.

        `planned` counts the games of the stored plan, which may be no more than the next ones.
        """
        return planned

    def min_players(self, document: Document) -> int:
        """Return how many bots a tournament needs to start."""
        return 2

    def faults(self, document: Document) -> Iterator[Misfit]:
        """Yield the faults of a document of this format whose keys are valid alone."""
        yield from ()

    def marks(self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame]) -> Mapping[int, Marks]:
        """Return, by seat, what the format adds to the standings."""
        return {}

    def order(self, line: StandingItem) -> tuple[float, ...]:
        """Return the key that sorts the lines of the standings, best first."""
        return tuple(-criterion.value(line) for criterion in self.criteria)

    def decision(self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame]) -> DecisionState:
        """Return what decides when the tournament ends; empty if that is its number of games."""
        return DecisionState()

    def overview(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], names: Mapping[int, str]
    ) -> TournamentOverview:
        """Return the overview of a tournament of two bots or more, from the seeds and games of `next_step`."""
        return TournamentOverview()


class SeededFormat(Format[SeededS]):
    """A format whose table says how entries are seeded, and who must not meet."""

    def seeding(self, document: Document) -> SeedingRule:
        return self.of(document).seeding

    def without(self, document: Document, names: Collection[str]) -> Document:
        """Return the document without what its table says of these bots."""
        return document.model_copy(update={self.table: self.of(document).without(names)})

    def keeps_owners_apart(self, document: Document) -> bool:
        """Return whether bots of one owner must not meet."""
        return SAME_OWNER in self.of(document).forbidden_pairs


class EvidenceFormat(Format[S]):
    """A format that plays until something is decided, at most the games of its own table."""

    uses_games = False
    plan_after = PlanAfter.EACH_RESULT
    needs_games = True

    @abstractmethod
    def max_games(self, document: Document) -> int:
        """Return the largest number of games."""

    def count_openings(self, document: Document, players: int) -> int:
        """Return an opening for each pair of games."""
        return self.max_games(document) // 2

    def length(self, document: Document, players: int) -> Length:
        """Return the largest number of games."""
        return even_length(self.max_games(document), self.table)

    def total(
        self, document: Document, seeds: Sequence[Seed], played: Sequence[TournamentGame], planned: int
    ) -> int | None:
        """Return None: evidence decides the end."""
        return None


def even_length(games: int, table: str) -> Length:
    """Return a length counted in games of the format's own table, extended by pairs."""
    return Length(games, "games in all", 2, table, "games")
