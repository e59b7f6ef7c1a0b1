"""The news of the arena: one type for every kind, the same inside a process and between processes.

An `Event` is made without checks, since plies are many; what comes over the wire is checked by the bounds given here.
`News` has a topic of its own at the broker, the other kinds stay in their process. Refuses to know what becomes of it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, ClassVar, Literal, NamedTuple, TypeAlias

from pydantic import ConfigDict, Field

from arena.events.topic import Topic
from referee.record import Ply
from referee.rules.core import Winner

MAX_PLIES = 20_000
BATCH_PLIES = 500
"""Most plies of one batch."""
TEXT = 300
"""Most characters of a line for people; what bots have written comes here too."""
CONFIG = ConfigDict(
    frozen=True,
    strict=True,
    allow_inf_nan=False,
    extra="ignore",
    revalidate_instances="always",
    use_attribute_docstrings=True,
)
"""How payloads are checked."""

Text = Annotated[str, Field(max_length=TEXT)]
Word = Annotated[str, Field(max_length=40)]
Name = Annotated[str, Field(max_length=200)]
Number = Annotated[int, Field(ge=0, lt=2**53)]
Attempt = Annotated[int, Field(ge=1, le=1000)]
Move = Annotated[str, Field(min_length=1, max_length=100)]
EndState = Literal["finished", "void", "planned"]
RefereeState = Literal["starting", "standing by", "acting", "stopping", "stopped", "offline"]


class Subject(NamedTuple):
    """What news is about, such as `game ab12` or `tournament 7`."""

    noun: str
    name: str | int


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One piece of news."""

    __pydantic_config__: ClassVar[ConfigDict] = CONFIG
    NOUN: ClassVar[str] = ""
    """The field that says what it is about; empty where it is about nothing in particular."""

    @property
    def subject(self) -> Subject:
        """What it is about."""
        return Subject(self.NOUN, getattr(self, self.NOUN) if self.NOUN else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class News(Event):
    """An event that other processes, and spectators, are told by itself."""

    TOPIC: ClassVar[Topic]


# -- games -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlyNews:
    """One ply."""

    __pydantic_config__: ClassVar[ConfigDict] = CONFIG

    move: Move
    """The move, in the notation of its family."""
    ms: Annotated[float, Field(ge=0)] = 0
    """How long it took, in milliseconds; 0 for opening plies."""
    score: Annotated[int, Field(ge=-(2**31), lt=2**31)] | None = None
    """What the bot thought of its position, in hundredths of a piece; null if it did not say."""
    depth: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    """How many plies it looked ahead; null if it did not say."""
    nodes: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    """How many positions it looked at; null if it did not say."""
    pv: Annotated[str, Field(max_length=120)] = ""
    """The line it expects, its own move first; as the bot wrote it."""

    RARE: ClassVar = ("depth", "nodes", "pv")
    """What is told only by bots that say it."""

    @classmethod
    def of(cls, move: str, ply: Ply) -> PlyNews:
        """A ply of a record."""
        return cls(move, ply.ms, ply.score, ply.depth, ply.nodes, ply.pv)


@dataclass(frozen=True, slots=True, kw_only=True)
class GameStarted(Event):
    """A game has begun, for the first time or once more."""

    NOUN = "game"
    game: Name
    """The game."""
    tournament: Number = 0
    """Number of the tournament."""
    attempt: Attempt = 1
    """How often the game has begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GamePly(Event):
    """A ply of a running game. Other processes get it in a batch or a snapshot."""

    NOUN = "game"
    game: Name
    """The game."""
    number: int
    """Number of the ply; the first is 1."""
    ply: PlyNews
    """The ply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GamePlies(News):
    """The plies of a game since the last batch."""

    NOUN = "game"
    TOPIC = Topic("games/{game}/plies", "new plies, four times a second at most")
    game: Name
    """The game."""
    attempt: Attempt
    """How often the game has begun; plies of different attempts do not mix."""
    first: Annotated[int, Field(ge=1, le=MAX_PLIES)]
    """Number of the first of these plies."""
    plies: Annotated[tuple[PlyNews, ...], Field(max_length=BATCH_PLIES)]
    """The plies, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameSnapshot(News):
    """A running game from its first ply on."""

    NOUN = "game"
    TOPIC = Topic("games/{game}/snapshot", "the whole game so far: at its start, and when a server asks")
    game: Name
    """The game."""
    tournament: Number
    """Number of the tournament."""
    attempt: Attempt
    """How often the game has begun."""
    plies: Annotated[tuple[PlyNews, ...], Field(max_length=MAX_PLIES)]
    """All plies so far, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome(News):
    tournament: Number
    """Number of the tournament."""
    winner: Winner | None
    """Who won; null for a void game."""
    termination: Word
    """How it ended."""
    termination_class: Word
    """rules, adjudication, forfeit or void."""
    detail: Text = ""
    """More about the end, for people."""
    commit_number: Number | None
    """The result's number among all results; null for a void game."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameEnded(_Outcome):
    """How a game ended."""

    NOUN = "game"
    TOPIC = Topic("games/{game}/result", "how it ended")
    game: Name
    """The game."""
    state: Literal["finished", "void"]
    """void: given up after several void attempts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameGone(News):
    """A game does not run any more and has no result: it was called off, or was void and is to be played again."""

    NOUN = "game"
    TOPIC = Topic("games/{game}/gone", "it does not run any more and has no result")
    game: Name
    """The game."""


GameNews: TypeAlias = GameStarted | GamePly | GamePlies | GameSnapshot | GameEnded | GameGone
"""How a game goes."""


# -- tournaments -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentChanged(News):
    """The state of a tournament."""

    NOUN = "tournament"
    TOPIC = Topic("tournaments/{tournament}/state", "its state")
    tournament: Number
    """Number of the tournament."""
    state: Word
    """scheduled, running, paused, draining, finished or cancelled."""
    problem: Text = ""
    """Why it was paused, or how it ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentGameEnded(_Outcome):
    """The end of one game of a tournament."""

    NOUN = "tournament"
    TOPIC = Topic("tournaments/{tournament}/games", "every game that has ended", is_subject_told=True)
    game: Name
    """The game."""
    state: EndState
    """planned: void, and to be played again."""

    def of_game(self) -> GameEnded | GameGone:
        """The same as news of the game itself."""
        return GameGone(game=self.game) if self.state == "planned" else GameEnded(**asdict(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentPlanned(News):
    """A tournament has planned more games."""

    NOUN = "tournament"
    TOPIC = Topic("tournaments/{tournament}/rounds", "more games are planned")
    tournament: Number
    """Number of the tournament."""
    planned: Number
    """How many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrySuspended(News):
    """A bot plays no more in a tournament: it did not get ready too many times in a row."""

    NOUN = "tournament"
    TOPIC = Topic("tournaments/{tournament}/suspended", "a bot that was suspended")
    tournament: Number
    """Number of the tournament."""
    version: Number
    """Number of the version."""
    name: Name
    """Its name."""
    reason: Text
    """Why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingsChanged(News):
    """The ratings of a pool have changed."""

    NOUN = "pool"
    TOPIC = Topic("ratings/{pool}", "the last result in a pool")
    pool: Name
    """The pool."""
    game: Name
    """The game that changed them."""
    commit_number: Number
    """That result's number among all results."""


# -- versions of bots --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionChanged(News):
    """The state of an uploaded version of a bot."""

    NOUN = "version"
    TOPIC = Topic("versions/{version}/state", "state of an upload", is_public=False)
    version: Number
    """Number of the version."""
    state: Word
    """uploaded, checking, active, failed or retired."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionStep(News):
    """One step of a version's check."""

    NOUN = "version"
    TOPIC = Topic("versions/{version}/step", "a step of its check", is_public=False)
    version: Number
    """Number of the version."""
    line: Text
    """What was tried and how it went."""


# -- the referee -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RefereeChanged(News):
    """What a referee process does."""

    TOPIC = Topic("referees/{from}/status", "what a referee process does", is_retained=True)
    state: RefereeState
    """offline is its Last Will: the broker has lost it."""
    lease_owner: Name = ""
    """Its name in the lease: machine, process, nonce."""


@dataclass(frozen=True, slots=True)
class WorkerNews:
    """One worker: `busy` of its `slots` play; one that is not fit gets no games."""

    __pydantic_config__: ClassVar[ConfigDict] = CONFIG

    name: Name
    """Its name: of its machine, as a rule."""
    slots: Number
    """How many games it plays at once."""
    busy: Number
    """How many it plays now."""
    version: Name = ""
    """Its version of the arena, with the digest of its rules; empty where it is the referee's own."""
    sandbox: Name = ""
    """What its bots are locked up in."""
    is_fit: bool = True
    """Whether it gets games."""
    problem: Text = ""
    """Why it gets none: it is of another version, or was shut out."""
    speed: Number = 0
    """Of one of its slots while all are at work, in leaves of a tree of moves a second; 0 where it was not measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefereeWorkers(News):
    """What a referee process has to play on."""

    TOPIC = Topic("referees/{from}/crew", "its workers and how busy they are", is_public=False)
    lease_owner: Name = ""
    """Its name in the lease: machine, process, nonce."""
    workers: Annotated[tuple[WorkerNews, ...], Field(max_length=1000)]
    """Its workers."""
    cores: Number = 0
    """Cores of the machine it runs on itself."""
    load: Annotated[float, Field(ge=0)] | None = None
    """Load of that machine over a minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefereeWoken(News):
    """There is something new to do. Only a nudge: the referee looks into the database."""

    TOPIC = Topic("referee/wake", "a nudge for whoever is the referee", is_public=False)
    tournament: Number | None = None
    """The tournament it is about, if it is about one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonDecided(News):
    """A person has begun a game, moved, resigned or taken back. Only a nudge: the referee looks into the database."""

    NOUN = "game"
    TOPIC = Topic("people/{game}/decided", "a person has decided something in a game", is_public=False)
    game: Name
    """The game."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotRequest(News):
    """A listener has come, or has missed something: send a snapshot of every running game."""

    TOPIC = Topic("coordinator/snapshots", "a server asks for the running games", is_public=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotStarted(Event):
    """A slot has begun a game; whoever handed it out confirms that with `GameStarted`."""

    game: Name
    """The game."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotFinished(Event):
    """A slot has finished a game: its result is in the spool."""

    game: Name
    """The game."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerConnected(Event):
    """The broker is there, for the first time or again: nobody knows what was missed."""


KINDS: tuple[type[News], ...] = (
    GamePlies,
    GameSnapshot,
    GameEnded,
    GameGone,
    TournamentChanged,
    TournamentGameEnded,
    TournamentPlanned,
    EntrySuspended,
    RatingsChanged,
    VersionChanged,
    VersionStep,
    RefereeChanged,
    RefereeWorkers,
    RefereeWoken,
    PersonDecided,
    SnapshotRequest,
)
"""All kinds of news that go from process to process."""
