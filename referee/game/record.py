"""The record of a game: moves, times, result and evidence. Plain data, written to and read from JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import cache
from operator import attrgetter
from typing import Any

from referee.rules.core import Kind, Side, Termination, Winner
from referee.rules.position import Position
from referee.rules.rules import Ruleset, Value, Variation


@dataclass(slots=True)
class Ply:
    """One ply as it was played. Times in milliseconds with three decimals."""

    ms: float = 0.0
    """Thinking time in milliseconds, from the sending of `go` to the arrival of `bestmove`; 0 for opening plies."""
    charged_ms: float = 0.0
    """The part that the clock was charged; 0 without a clock."""
    lag_ms: float = 0.0
    """The part that the machine added (see `referee.bot.process`)."""
    score: int | None = None
    """The bot's evaluation of its position, in centipawns; null if it sent none."""
    depth: int | None = None
    """Search depth in plies; null if the bot sent none."""
    nodes: int | None = None
    """Number of searched positions; null if the bot sent none."""
    book: bool = False
    """True for a ply of the opening."""
    pv: str = ""
    """The bot's principal variation as the bot wrote it, its own move first; left out of the JSON if empty."""
    move: str = ""
    """The move, in the notation of its family. Only news of a game have it, as a record lists its moves apart."""

    @property
    def own_ms(self) -> float:
        """The thinking time without what the machine added: what a clock is charged."""
        return self.ms - self.lag_ms

    def as_json(self) -> dict[str, Any]:
        """Return plain data for the JSON of a record."""
        # A literal takes a third of the time of a loop over the fields; a long game has hundreds of plies.
        data: dict[str, Any] = {
            "ms": self.ms,
            "charged_ms": self.charged_ms,
            "lag_ms": self.lag_ms,
            "score": self.score,
            "depth": self.depth,
            "nodes": self.nodes,
            "book": self.book,
        }
        if self.pv:
            data["pv"] = self.pv
        return data

    def told(self) -> dict[str, Any]:
        """Return plain data for news of a game: the move, and what is known of it for spectators."""
        told: dict[str, Any] = {"move": self.move, "ms": self.ms, "score": self.score}
        if self.lag_ms:
            told["lag_ms"] = self.lag_ms
        if self.depth is not None:
            told["depth"] = self.depth
        if self.nodes is not None:
            told["nodes"] = self.nodes
        if self.pv:
            told["pv"] = self.pv
        return told


_ply_values = attrgetter(*(field.name for field in fields(Ply)))


@dataclass(frozen=True, slots=True)
class NetworkFigures:
    """The connection of a remote side during one game. Times in milliseconds; 0 where an older record has no value."""

    latency_ms: float = 0.0
    """Usual round trip of a message."""
    allowed_ms: float = 0.0
    """The network's part of the thinking times, which the clock was not charged."""
    wait_ms: float = 0.0
    """Time that the game waited at its start until the bot's program ran."""
    losses: int = 0
    """How often the connection was lost."""
    reconnected: int = 0
    """How often it returned within the grace period."""
    paused_ms: float = 0.0
    """Time for which it was lost, and the clock stopped."""
    move_allowance_ms: float = 0.0
    """Bound on the uncharged part of one move."""
    game_allowance_ms: float = 0.0
    """Bound on the uncharged parts of a game."""
    grace_ms: float = 0.0
    """Bound on the time for which the connection may be lost."""


@dataclass(frozen=True, slots=True)
class GameRecord:
    """One finished game. `winner` is None exactly when the game is void. `position` is the start position."""

    id: str
    family: str
    variant: str
    options: Mapping[str, Value]
    position: str
    first: str
    second: str
    winner: Winner | None
    termination: Termination
    kind: Kind
    moves: tuple[str, ...]
    plies: Sequence[Ply]
    started: str
    finished: str
    sandbox: str = "none"
    event: str = ""
    sequence: int = 0
    round: int = 0
    pair: int = 0
    seed: int = 0
    time: str = ""
    first_version: str = ""
    second_version: str = ""
    detail: str = ""
    """The reason in one sentence with the evidence: stage, offending line, exit code."""
    final_position: str = ""
    anomalies: tuple[int, int] = (0, 0)
    """Lines of each side that broke the protocol without preventing play."""
    logs: Mapping[str, str] = field(default_factory=dict)
    """The ends of the bots' standard error, by side."""
    adjudication: Mapping[str, Value] | None = None
    """The settings (`referee.game.spec.Adjudication`) that differ from the defaults; None in records that do not name
    them.
    """
    pondering: str = ""
    """What a bot was allowed while its opponent thought (`PONDERING` in `referee.game.spec`); empty if not recorded."""
    out_of_turn_ms: tuple[float, float] = (0.0, 0.0)
    """Processor time that each side used out of turn, summed over the turns with a millisecond or more."""
    at_start: bool = False
    """True if the game was lost before play because a bot did not get ready."""
    network: Mapping[str, NetworkFigures] = field(default_factory=dict)
    """The connection of each remote side, by side."""
    clock_scale: float = 1.0
    """Factor by which the clocks were longer than planned because the machine is slower; `time` includes it."""
    worker: str = ""
    """The worker that delivered the record; the arena stores it in a column of its own."""
    marks: Mapping[int, str] = field(default_factory=dict)
    """Annotations of plies (`!`, `?!`) by number; games played here have none."""
    comments: Mapping[int, str] = field(default_factory=dict)
    """Annotators' comments by the ply that they follow; 0: before the first ply."""
    variations: tuple[Variation, ...] = ()
    """Annotators' variations: moves that could have been played instead, in the order of their plies."""

    @property
    def loser(self) -> Side | None:
        """The side that lost; None for a draw or a void game."""
        return {"first": "second", "second": "first"}.get(self.winner or "")  # type: ignore[return-value]

    @property
    def points(self) -> tuple[float, float]:
        """The points of the first and of the second side: 1, ½ or 0 each; 0 for both in a void game."""
        table = {"first": (1.0, 0.0), "second": (0.0, 1.0), "draw": (0.5, 0.5)}
        return table.get(self.winner or "", (0.0, 0.0))

    @property
    def plies_with_moves(self) -> list[Ply]:
        """The plies with their moves, as in news of a game."""
        return [replace(ply, move=move) for move, ply in zip(self.moves, self.plies, strict=True)]

    @property
    def lag(self) -> dict[str, float]:
        """The delay that the machine added: `max_ms` in one ply, `total_ms` in all. None of it was charged to a bot."""
        lags = [ply.lag_ms for ply in self.plies]
        return {"max_ms": max(lags, default=0.0), "total_ms": round(sum(lags, 0.0), 3)}

    def as_json(self) -> dict[str, Any]:
        """Return plain data for `json.dumps`; the derived `lag` is written but not read back."""
        # Not `dataclasses.asdict`: its deep copies took longer than writing the record to a database.
        data: dict[str, Any] = {name: getattr(self, name) for name in _RECORD}
        data["plies"] = [ply.as_json() for ply in self.plies]
        data["options"], data["logs"] = dict(self.options), dict(self.logs)
        data["network"] = {side: asdict(figures) for side, figures in self.network.items()}
        for name in ("marks", "comments"):
            data[name] = {str(ply): words for ply, words in data[name].items()}
        data["variations"] = [_variation_json(variation) for variation in self.variations]
        for name, unsaid in _UNSAID.items():
            if data[name] == unsaid:
                del data[name]
        return {**data, "lag": self.lag}

    def __reduce__(self) -> tuple[Callable[..., GameRecord], tuple[Any, ...]]:
        """Return how to pickle a record: its plies by columns, as an object for each takes several times as long."""
        columns = tuple(zip(*map(_ply_values, self.plies), strict=True))
        return _of_columns, (columns, _others(self))

    def line(self) -> str:
        """Return the record as one line of NDJSON, without the newline."""
        return json.dumps(self.as_json(), separators=(",", ":"), ensure_ascii=False)


_RECORD = tuple(one.name for one in fields(GameRecord))
_OTHERS = tuple(name for name in _RECORD if name != "plies")
_others = attrgetter(*_OTHERS)


def _of_columns(columns: Sequence[Sequence[Any]], others: Sequence[Any]) -> GameRecord:
    """Return the record whose plies the columns hold, and whose `others` are all other values."""
    plies = tuple(map(Ply, *columns)) if columns else ()
    return GameRecord(plies=plies, **dict(zip(_OTHERS, others, strict=True)))


_UNSAID: Mapping[str, Any] = {
    **{"adjudication": None, "pondering": "", "out_of_turn_ms": (0.0, 0.0), "at_start": False, "worker": ""},
    **{"marks": {}, "comments": {}, "network": {}, "clock_scale": 1.0, "variations": []},
}
"""Values that are left out of the JSON."""


def _variation_json(variation: Variation) -> dict[str, Any]:
    """Return a variation as plain data, without its empty parts."""
    data: dict[str, Any] = {"ply": variation.ply, "moves": list(variation.moves)}
    for name in ("marks", "comments"):
        if words := getattr(variation, name):
            data[name] = {str(ply): word for ply, word in words.items()}
    if variation.variations:
        data["variations"] = [_variation_json(inner) for inner in variation.variations]
    return data


def now() -> str:
    """Return the present time in UTC as ISO 8601 with milliseconds, the format of `started` and `finished`."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class RecordError(ValueError):
    """A record that cannot be read, or that contradicts the rules."""


@cache
def _adapter() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(GameRecord)


def read_record(text: str | bytes) -> GameRecord:
    """Parse a record from its JSON. Raises RecordError naming the field."""
    from pydantic import ValidationError

    try:
        record: GameRecord = _adapter().validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the record"
        problem = {"missing": "is missing", "json_invalid": "is not JSON"}.get(first["type"], "cannot be used")
        raise RecordError(f"not a game record: {place} {problem}") from None
    record = replace(record, plies=tuple(record.plies))
    if len(record.moves) != len(record.plies):
        raise RecordError(f"not a game record: {len(record.moves)} moves but {len(record.plies)} plies")
    if record.kind is not record.termination.kind or (record.winner is None) != (record.kind is Kind.VOID):
        raise RecordError(f"not a game record: {record.termination} contradicts {record.kind} or {record.winner}")
    return record


@cache
def _variations_adapter() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(tuple[Variation, ...])


def read_variations(data: Any) -> tuple[Variation, ...]:
    """Convert the variations of a record's JSON. Raises RecordError."""
    from pydantic import ValidationError

    try:
        variations: tuple[Variation, ...] = _variations_adapter().validate_python(data)
    except (ValidationError, RecursionError):
        raise RecordError('"variations" is not a list of objects with "ply" and "moves"') from None
    return variations


def ruleset_of(record: GameRecord) -> Ruleset:
    """Return the rules by which a recorded game was played. Raises UnknownNameError or ParseError."""
    from referee.rules import load

    return load(record.family).settle(record.variant, record.options)


def positions(record: GameRecord) -> list[Position]:
    """Replay the game and return its positions, the start first. Raises RecordError naming ply, move and position."""
    ruleset = ruleset_of(record)
    reached = [Position.start(ruleset, record.position)]
    for number, move in enumerate(record.moves, 1):
        if reached[-1].outcome is not None:
            raise RecordError(f"over before ply {number} ({move}) in {reached[-1]}")
        try:
            reached.append(reached[-1].play(move))
        except ValueError as error:
            raise RecordError(f"ply {number}: {error}") from None
    return reached
