"""The events of the arena: one class for each kind, the same inside a process and between processes.

An `Event` is constructed without checks, as plies are frequent; payloads from the broker are validated by the bounds
of `arena.events.payload`. A `BroadcastEvent` has its own topic at the broker; the other kinds stay in their process.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, NamedTuple, TypeAlias

from pydantic import ConfigDict, Field

from arena.data_folder import DiskState
from arena.events.payload import BATCH_PLIES, CONFIG, MAX_PLIES, Name, Number, Text, ToldPly, Word, WorkerPayload
from arena.events.topic import Topic
from referee.game.record import Ply
from referee.rules.core import Winner

GameId = Annotated[Name, Field(description="The game.")]
TournamentId = Annotated[Number, Field(description="Number of the tournament.")]
VersionId = Annotated[Number, Field(description="Number of the version.")]
_ATTEMPT = "Number of this attempt at the game; do not mix plies of different attempts."
Attempt = Annotated[int, Field(ge=1, le=1000, description=_ATTEMPT)]
LeaseOwner = Annotated[Name, Field(description="Name of the process in the lease: machine, process, nonce.")]
EndState = Literal["finished", "void", "planned"]
CoordinatorState = Literal["starting", "standing by", "acting", "stopping", "stopped", "offline"]


class Subject(NamedTuple):
    """The subject of an event, such as `game ab12` or `tournament 7`."""

    noun: str
    name: str | int


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Base class of all events."""

    __pydantic_config__: ClassVar[ConfigDict] = CONFIG
    NOUNS: ClassVar[tuple[str, ...]] = ()
    """The fields with the subjects of the event."""

    @property
    def subjects(self) -> list[Subject]:
        """The nouns that the event is about: their listeners are notified."""
        return [Subject(noun, getattr(self, noun)) for noun in self.NOUNS]


@dataclass(frozen=True, slots=True, kw_only=True)
class BroadcastEvent(Event):
    """An event that is published to other processes and to spectators."""

    TOPIC: ClassVar[Topic]
    COPIES: ClassVar[tuple[Topic, ...]] = ()
    """Further topics for spectators; processes listen to `TOPIC` only."""

    @property
    def topics(self) -> tuple[Topic, ...]:
        """The topics on which the event is published."""
        return (*self.COPIES, self.TOPIC)


# -- games -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class GameStarted(Event):
    """A game has started, for the first time or again."""

    NOUNS = ("game",)
    game: GameId
    tournament: TournamentId = 0
    attempt: Attempt = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class GameMoved(Event):
    """Plies of a running game, as its slot has sent them together. Other processes receive those of watched games."""

    NOUNS = ("game",)
    game: GameId
    first: int
    """Number of the first of these plies; that of the game is 1."""
    plies: tuple[Ply, ...]
    """The plies, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GamePlies(BroadcastEvent):
    """The plies of a game since the previous batch."""

    NOUNS = ("game",)
    TOPIC = Topic("games/{game}/plies", "new plies of a watched game, at most twenty batches a second")
    game: GameId
    attempt: Attempt
    first: Annotated[int, Field(ge=1, le=MAX_PLIES)]
    """Number of the first of these plies."""
    plies: Annotated[tuple[ToldPly, ...], Field(max_length=BATCH_PLIES)]
    """The plies, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameSnapshot(BroadcastEvent):
    """A running game from its first ply on."""

    NOUNS = ("game",)
    TOPIC = Topic("games/{game}/snapshot", "a watched game so far: after a new request to watch it")
    game: GameId
    tournament: TournamentId
    attempt: Attempt
    plies: Annotated[tuple[ToldPly, ...], Field(max_length=MAX_PLIES)]
    """All plies so far, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameWatched(BroadcastEvent):
    """A page or a stream shows a game: its plies are sent for the next 30 seconds. Other games are not sent."""

    TOPIC = Topic("games/{game}/watch", "a server requests the plies of a game")
    game: GameId
    is_new: bool = True
    """Whether the game is needed from its first ply on; false renews an earlier request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameEnded(BroadcastEvent):
    """An attempt at a game has ended: with a result, or void."""

    NOUNS = ("game", "tournament")
    TOPIC = Topic("tournaments/{tournament}/games", "every game that has ended", is_subject_in_payload=True)
    COPIES = (Topic("games/{game}/result", "the result of a watched game", is_subject_in_payload=True),)
    game: GameId
    tournament: TournamentId
    winner: Winner | None
    """The winner; null for a void game."""
    termination: Word
    """Why the game ended."""
    termination_class: Word
    """Class of the termination: rules, adjudication, forfeit or void."""
    detail: Text = ""
    """Details of the termination, for people."""
    commit_number: Number | None
    """Commit number of the result; null for a void game."""
    state: EndState
    """void: the game was given up after several void attempts; planned, only on the topic of the tournament: the
    attempt was void, and the game is played again.
    """

    @property
    def topics(self) -> tuple[Topic, ...]:
        """The topic of the tournament, and that of the game unless the game is played again."""
        return (self.TOPIC,) if self.state == "planned" else (*self.COPIES, self.TOPIC)


@dataclass(frozen=True, slots=True, kw_only=True)
class GameAborted(BroadcastEvent):
    """A game was aborted without a result: it was cancelled, or was void and will be played again."""

    NOUNS = ("game",)
    TOPIC = Topic("games/{game}/gone", "the game was aborted without a result")
    game: GameId


GameEvent: TypeAlias = GameStarted | GameMoved | GamePlies | GameSnapshot | GameEnded | GameAborted
"""The events of one game."""


# -- tournaments -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentChanged(BroadcastEvent):
    """The state of a tournament has changed."""

    NOUNS = ("tournament",)
    TOPIC = Topic("tournaments/{tournament}/state", "state of the tournament")
    tournament: TournamentId
    state: Word
    """scheduled, running, paused, draining, finished or cancelled."""
    problem: Text = ""
    """Why the tournament was paused, or how it ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentPlanned(BroadcastEvent):
    """More games of a tournament were planned."""

    NOUNS = ("tournament",)
    TOPIC = Topic("tournaments/{tournament}/rounds", "more games are planned")
    tournament: TournamentId
    planned: Number
    """Number of new games."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrySuspended(BroadcastEvent):
    """A bot was suspended from a tournament: it failed to get ready too many times in a row."""

    NOUNS = ("tournament",)
    TOPIC = Topic("tournaments/{tournament}/suspended", "a bot was suspended")
    tournament: TournamentId
    version: VersionId
    name: Name
    """Name of the version."""
    reason: Text
    """Reason of the suspension."""


# -- ratings -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingsChanged(BroadcastEvent):
    """The ratings of a pool have changed by one or more results: the event names the last of them."""

    NOUNS = ("pool",)
    TOPIC = Topic("ratings/{pool}", "the latest result in a pool")
    pool: Name
    """The pool."""
    game: Name
    """The game whose result changed the ratings last."""
    commit_number: Number
    """Commit number of that result."""


# -- versions of bots --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionChanged(BroadcastEvent):
    """The state of an uploaded version of a bot has changed."""

    NOUNS = ("version",)
    TOPIC = Topic("versions/{version}/state", "state of an upload", is_public=False)
    version: VersionId
    state: Word
    """uploaded, checking, active, failed or retired."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionStep(BroadcastEvent):
    """One step of the check of a version."""

    NOUNS = ("version",)
    TOPIC = Topic("versions/{version}/step", "a step of the check of an upload", is_public=False)
    version: VersionId
    line: Text
    """The step of the check and its result."""


# -- the coordinator ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorChanged(BroadcastEvent):
    """The state of a coordinator process has changed."""

    TOPIC = Topic("referees/{from}/status", "state of a coordinator process", is_retained=True)
    state: CoordinatorState
    """The state; offline is the Last Will: the broker has lost the process."""
    lease_owner: LeaseOwner = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorWorkers(BroadcastEvent):
    """The workers of a coordinator process."""

    TOPIC = Topic("referees/{from}/workers", "the workers of a coordinator process, and their load", is_public=False)
    lease_owner: LeaseOwner = ""
    workers: Annotated[tuple[WorkerPayload, ...], Field(max_length=1000)]
    """The workers of the process."""
    cores: Number = 0
    """Cores of the coordinator's own machine."""
    load: Annotated[float, Field(ge=0)] | None = None
    """Load average of the coordinator's machine over one minute."""
    disk: DiskState = "ok"
    """Whether the disk of the coordinator's spool accepts results: `ok`, `full` or `unwritable`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorWakeup(BroadcastEvent):
    """The coordinator has new work. This event is only a hint: the coordinator reads the work from the database."""

    TOPIC = Topic("coordinator/wakeup", "wakes the active coordinator", is_public=False)
    tournament: Number | None = None
    """The tournament with new work, if there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotRequest(BroadcastEvent):
    """A listener is new, or has missed events: send a snapshot of every running game that is watched."""

    TOPIC = Topic("coordinator/snapshots", "a server requests the watched games", is_public=False)


# -- games of people ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanActed(BroadcastEvent):
    """A human has started a game, or has made a move or another decision in it. This event is only a hint: the
    coordinator reads the action from the database.
    """

    NOUNS = ("game",)
    TOPIC = Topic("human_games/{game}/action", "a human has acted in a game", is_public=False)
    game: GameId


# -- slots -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotStarted(Event):
    """A slot has started a game; its coordinator confirms that with `GameStarted`."""

    game: GameId


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotFinished(Event):
    """A slot has finished a game: its result or void attempt is in the spool."""

    game: GameId


# -- the broker --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerConnected(Event):
    """The broker is connected, for the first time or again. Events may have been missed."""


KINDS: tuple[type[BroadcastEvent], ...] = (
    GamePlies,
    GameSnapshot,
    GameWatched,
    GameEnded,
    GameAborted,
    TournamentChanged,
    TournamentPlanned,
    EntrySuspended,
    RatingsChanged,
    VersionChanged,
    VersionStep,
    CoordinatorChanged,
    CoordinatorWorkers,
    CoordinatorWakeup,
    HumanActed,
    SnapshotRequest,
)
"""All events that go from process to process."""
