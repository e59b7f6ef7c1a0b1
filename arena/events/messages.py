"""The news that processes tell each other over a broker: topics, payloads, who reads them. Version 1.

Every payload is a JSON object with `v` and `from` (the process that says it). What does not follow is refused, never
guessed at; fields that are not known are passed over. Refuses to know MQTT, and what becomes of the news.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import quote, unquote

from pydantic import BaseModel, ConfigDict, Field, ValidationError

VERSION = 1
ROOT = f"arena/v{VERSION}"
MAX_BYTES = 1 << 20
"""The largest payload that is said or listened to."""
MAX_PLIES = 20_000
BATCH_PLIES = 500
"""Most plies of one batch."""
TEXT = 300
"""Most characters of a line for people; what bots have written comes here too."""

Text = Annotated[str, Field(max_length=TEXT)]
Word = Annotated[str, Field(max_length=40)]
Name = Annotated[str, Field(max_length=200)]
Number = Annotated[int, Field(ge=0, lt=2**53)]
Attempt = Annotated[int, Field(ge=1, le=1000)]
Move = Annotated[str, Field(min_length=1, max_length=100)]


class NewsError(ValueError):
    """A message that cannot be believed. `reason` is one of `topic`, `size`, `schema`."""

    def __init__(self, reason: Literal["topic", "size", "schema"], message: str) -> None:
        self.reason = reason
        super().__init__(message)


class News(BaseModel):
    """What all payloads have."""

    model_config = ConfigDict(frozen=True, strict=True, allow_inf_nan=False, extra="ignore")

    v: Literal[1] = Field(description="Version of the payload; the topic has it too.")
    sender: Name = Field(alias="from", description="The process that says it.")


class PlyNews(BaseModel):
    """One ply."""

    model_config = ConfigDict(frozen=True, strict=True, allow_inf_nan=False, extra="ignore")

    move: Move = Field(description="The move, in the notation of its family.")
    ms: float = Field(0, ge=0, description="How long it took, in milliseconds; 0 for opening plies.")
    score: Annotated[int, Field(ge=-(2**31), lt=2**31)] | None = Field(
        None, description="What the bot thought of its position, in hundredths of a piece; null if it did not say."
    )


class Plies(News):
    """The plies of a game since the last batch."""

    attempt: Attempt = Field(description="How often the game has begun; plies of different attempts do not mix.")
    first: Annotated[int, Field(ge=1, le=MAX_PLIES)] = Field(description="Number of the first of these plies.")
    plies: Annotated[list[PlyNews], Field(max_length=BATCH_PLIES)] = Field(description="The plies, in order.")


class Snapshot(News):
    """A running game from its first ply on. An empty payload clears it: the game does not run any more."""

    tournament: Number = Field(description="Number of the tournament.")
    attempt: Attempt = Field(description="How often the game has begun.")
    plies: Annotated[list[PlyNews], Field(max_length=MAX_PLIES)] = Field(description="All plies so far, in order.")


class _Outcome(News):
    tournament: Number = Field(description="Number of the tournament.")
    winner: Literal["first", "second", "draw"] | None = Field(description="Who won; null for a void game.")
    termination: Word = Field(description="How it ended.")
    kind: Word = Field(description="rules, adjudication, forfeit or void.")
    detail: Text = Field("", description="More about the end, for people.")
    committed: Number | None = Field(description="The result's number among all results; null for a void game.")


class Result(_Outcome):
    """How a game ended."""

    state: Literal["finished", "void"] = Field(description="void: given up after several void attempts.")


class GameEnd(_Outcome):
    """The end of one game of a tournament."""

    game: Name = Field(description="The game.")
    state: Literal["finished", "void", "planned"] = Field(description="planned: void, and to be played again.")


class TournamentState(News):
    """The state of a tournament."""

    state: Word = Field(description="scheduled, running, paused, draining, finished or cancelled.")
    problem: Text = Field("", description="Why it was paused, or how it ended.")


class Round(News):
    """A tournament has planned more games."""

    planned: Number = Field(description="How many.")


class RatingChanged(News):
    """The ratings of a pool have changed."""

    game: Name = Field(description="The game that changed them.")
    committed: Number = Field(description="That result's number among all results.")


class VersionState(News):
    """The state of an uploaded version of a bot."""

    state: Word = Field(description="uploaded, checking, active, failed or retired.")


class VersionStep(News):
    """One step of a version's check."""

    line: Text = Field(description="What was tried and how it went.")


class RefereeStatus(News):
    """What a referee process does."""

    state: Literal["starting", "standing by", "acting", "stopping", "stopped", "offline"] = Field(
        description="offline is its Last Will: the broker has lost it."
    )
    holder: Name = Field("", description="Its name in the lease: machine, process, nonce.")


class WorkerNews(BaseModel):
    """One worker: `busy` of its `slots` play; one that is not fit is of another version and gets no games."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")
    name: Name
    slots: Number
    busy: Number
    version: Name = ""
    sandbox: Name = ""
    is_fit: bool = True


class RefereeCrew(News):
    """What a referee process has to play on."""

    holder: Name = Field("", description="Its name in the lease: machine, process, nonce.")
    workers: Annotated[list[WorkerNews], Field(max_length=1000)]
    cores: Number = Field(0, description="Cores of the machine it runs on itself.")
    load: Annotated[float, Field(ge=0)] | None = Field(None, description="Load of that machine over a minute.")


class Wake(News):
    """There is something new to do. Only a nudge: the referee looks into the database."""

    tournament: Number | None = Field(None, description="The tournament it is about, if it is about one.")


@dataclass(frozen=True, slots=True)
class Kind:
    """One place of the tree: `*` in `pattern` (below the root) and in `local` is the subject, of the form `subject`."""

    name: str
    pattern: str
    local: str
    subject: str
    model: type[News]
    qos: Literal[0, 1]
    is_retained: bool
    is_public: bool
    about: str

    def topic(self, subject: str = "") -> str:
        """The whole topic about a subject."""
        return f"{ROOT}/{self.pattern.replace('*', quote(subject, safe=''))}"


_GAME, _NUMBER, _PLACE = r"[0-9a-f]{16,32}", r"[0-9]{1,18}", r"[A-Za-z0-9_.%~-]{1,200}"

PLIES = Kind("plies", "games/*/plies", "", _GAME, Plies, 0, False, True, "new plies, four times a second at most")
SNAPSHOT = Kind(
    "snapshot",
    "games/*/snapshot",
    "",
    _GAME,
    Snapshot,
    1,
    True,
    True,
    "the whole game so far, refreshed every few seconds, cleared at the end",
)
RESULT = Kind(
    "result", "games/*/result", "game/*/end", _GAME, Result, 1, True, True, "how it ended; the newest 1,000 are kept"
)
STATE = Kind("state", "tournaments/*/state", "tournament/*/state", _NUMBER, TournamentState, 1, True, True, "its state")
GAMES = Kind(
    "games", "tournaments/*/games", "tournament/*/game", _NUMBER, GameEnd, 0, False, True, "every game that has ended"
)
ROUNDS = Kind(
    "rounds", "tournaments/*/rounds", "tournament/*/round", _NUMBER, Round, 0, False, True, "more games are planned"
)
RATING = Kind("rating", "ratings/*", "rating/*", _PLACE, RatingChanged, 1, True, True, "the last result in a pool")
VERSION_STATE = Kind(
    "version state", "versions/*/state", "version/*/state", _NUMBER, VersionState, 0, False, False, "state of an upload"
)
VERSION_STEP = Kind(
    "version step", "versions/*/step", "version/*/step", _NUMBER, VersionStep, 0, False, False, "a step of its check"
)
STATUS = Kind(
    "status", "referees/*/status", "referee/state", _PLACE, RefereeStatus, 1, True, True, "what a referee process does"
)
CREW = Kind(
    "crew", "referees/*/crew", "referee/crew", _PLACE, RefereeCrew, 0, False, False, "its workers and how busy they are"
)
WAKE = Kind("wake", "referee/wake", "referee/wake", "", Wake, 0, False, False, "a nudge for whoever is the referee")

KINDS = (PLIES, SNAPSHOT, RESULT, STATE, GAMES, ROUNDS, RATING, VERSION_STATE, VERSION_STEP, STATUS, CREW, WAKE)


def _compiled(pattern: str, subject: str) -> re.Pattern[str]:
    return re.compile(re.escape(pattern).replace(r"\*", f"({subject})"))


_TOPICS = [(_compiled(f"{ROOT}/{kind.pattern}", kind.subject), kind) for kind in KINDS]
_LOCAL = [(_compiled(kind.local, ".+"), kind) for kind in KINDS if kind.local]


@dataclass(frozen=True, slots=True)
class Heard:
    """A message that may be believed. `news` is None where a retained one was cleared."""

    kind: Kind
    subject: str
    news: News | None


def read(topic: str, payload: bytes) -> Heard:
    """Check what came over the wire. Raises NewsError."""
    kind, subject = _place(topic)
    if not payload and kind.is_retained:
        return Heard(kind, subject, None)
    if len(payload) > MAX_BYTES:
        raise NewsError("size", f"{topic}: {len(payload)} bytes, {MAX_BYTES} are allowed")
    try:
        return Heard(kind, subject, kind.model.model_validate_json(payload))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])[:100]
        raise NewsError("schema", f"{topic}: {place}: {first['msg'][:200]}") from None


def _place(topic: str) -> tuple[Kind, str]:
    for pattern, kind in _TOPICS:
        if found := pattern.fullmatch(topic):
            return kind, unquote(found[1]) if pattern.groups else ""
    raise NewsError("topic", f"no such topic: {topic[:200]!r}")


def write(kind: Kind, sender: str, payload: Mapping[str, Any]) -> bytes:
    """A payload as it goes over the wire; texts that are too long are cut. Raises NewsError."""
    data = {
        name: value[:TEXT] if isinstance(value, str) and name in ("detail", "problem", "line") else value
        for name, value in payload.items()
    }
    try:
        news = kind.model.model_validate({**data, "v": VERSION, "from": sender})
    except ValidationError as error:
        raise NewsError("schema", f"{kind.name}: {error.errors(include_url=False)[0]['msg']}") from None
    # ASCII only: whoever reads it in a terminal sees no control character of a bot.
    text = json.dumps(news.model_dump(by_alias=True), separators=(",", ":"))
    if len(text) > MAX_BYTES:
        raise NewsError("size", f"{kind.name}: {len(text)} bytes, {MAX_BYTES} are allowed")
    return text.encode("ascii")


def of_local(topic: str) -> tuple[Kind, str] | None:
    """The kind and subject of an event of the bus inside a process; None where it stays there."""
    for pattern, kind in _LOCAL:
        if found := pattern.fullmatch(topic):
            return kind, found[1] if pattern.groups else ""
    return None
