"""What a game is before it is played: who, by which rules, on what clock. Frozen, canonical JSON.

Refuses to know how a game is played and where its result goes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Literal

from protocol.capabilities import MOVES_OF_A_GAME
from referee.rules.core import ParseError
from referee.rules.rules import Value


def canonical(data: Any) -> str:
    """Data as canonical JSON: sorted keys, no blanks, UTF-8 text."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(data: Any) -> str:
    """The first 16 hex digits of the SHA-256 of the canonical JSON."""
    return hashlib.sha256(canonical(data).encode()).hexdigest()[:16]


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind)) if hasattr(kind, "__dataclass_fields__") else ()


def _plain(value: Any) -> Any:
    """What `dataclasses.asdict` makes of nested specs, without copies of what nobody changes."""
    kind: Any = type(value)
    names = _names(kind)
    return {name: _plain(getattr(value, name)) for name in names} if names else value


@dataclass(frozen=True, slots=True)
class TimeControl:
    """How long a bot may think: a clock (`10+0.1`, `40/60`), a time per move (`1/move`), `depth:4` or `nodes:10000`.

    `none` is for people alone: no clock at all.
    """

    kind: Literal["clock", "movetime", "depth", "nodes", "none"] = "clock"
    base_ms: int = 10_000
    increment_ms: int = 100
    limit: int = 0
    """The depth or the nodes of those kinds."""
    moves: int = 0
    """Of a clock: the base is added again after so many moves of the side, and after as many more; 0 = never."""

    @property
    def move_ms(self) -> float | None:
        """The time there is for a move, in a game of forty moves a side; None where only a search limit holds."""
        if self.kind == "clock":
            return self.base_ms / min(self.moves or MOVES_OF_A_GAME, MOVES_OF_A_GAME) + self.increment_ms
        return float(self.base_ms) if self.kind == "movetime" else None

    def __str__(self) -> str:
        if self.kind == "clock":
            period = f"{self.moves}/" if self.moves else ""
            return f"{period}{self.base_ms / 1000:g}+{self.increment_ms / 1000:g}"
        if self.kind == "none":
            return "none"
        return f"{self.base_ms / 1000:g}/move" if self.kind == "movetime" else f"{self.kind}:{self.limit}"


_CLOCK = re.compile(r"(?:([1-9]\d{0,2})/)?(\d{1,6}(?:\.\d{1,3})?)(?:\+(\d{1,6}(?:\.\d{1,3})?))?", re.ASCII)
_MOVETIME = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)/move", re.ASCII)
_LIMIT = re.compile(r"(depth|nodes):([1-9]\d{0,11})", re.ASCII)


def read_time_control(text: str) -> TimeControl:
    """A time control such as `10+0.1`, `40/60`, `1/move`, `depth:4`, `nodes:10000` (seconds). Raises ParseError."""
    text = text.strip()
    if found := _LIMIT.fullmatch(text):
        kind: Any = found[1]
        return TimeControl(kind, 0, 0, int(found[2]))
    if found := _MOVETIME.fullmatch(text):
        control = TimeControl("movetime", round(float(found[1]) * 1000), 0)
    elif found := _CLOCK.fullmatch(text):
        base_ms, increment_ms = (round(float(seconds or 0) * 1000) for seconds in found.groups()[1:])
        control = TimeControl("clock", base_ms, increment_ms, moves=int(found[1] or 0))
    else:
        raise ParseError("not a time control", text=text, hint="write 10+0.1, 40/60, 1/move, depth:4 or nodes:10000")
    if control.base_ms <= 0:
        raise ParseError("no time at all", text=text, hint="write a positive number of seconds")
    return control


NO_CLOCK = TimeControl("none", 0, 0)
"""What people play by who take the time they need."""
VERSUS = " v "
"""Between the time controls of the two sides where they differ."""


def read_time_controls(text: str) -> tuple[TimeControl, TimeControl]:
    """What first and second play with, from `GameSpec.time_text`. Raises ParseError."""
    first, _, second = text.partition(VERSUS)
    one, two = (NO_CLOCK if part == "none" else read_time_control(part) for part in (first, second or first))
    return one, two


@dataclass(frozen=True, slots=True)
class Adjudication:
    """When a game is ended before the rules end it. 0 moves = off; scores in hundredths, `moves` per side in a row."""

    draw_moves: int = 0
    draw_score: int = 10
    draw_after_ply: int = 40
    resign_moves: int = 0
    resign_score: int = 1000
    resign_both: bool = True
    """Both bots must agree on who is winning, not the losing one alone."""
    max_plies: int = 0
    """Drawn (`max-plies`) after that many plies whatever the rules say; 0 = no such limit."""
    draw_agreement: bool = True
    """Two offers in a row draw the game."""

    @property
    def changes(self) -> dict[str, int | bool]:
        """What is not as usual: all that a record needs to say."""
        names = _names(Adjudication)
        return {name: getattr(self, name) for name in names if getattr(self, name) != getattr(_USUAL, name)}


_USUAL = Adjudication()


@dataclass(frozen=True, slots=True)
class Limits:
    """Every deadline and bound of one bot in one game. Times in milliseconds."""

    start_ms: int = 10_000
    """From the spawn to `ugiok`."""
    ready_ms: int = 60_000
    """Each `isready`; the first one may load books and compile kernels."""
    move_ms: int = 120_000
    """Without a clock (depth, nodes): the longest wait for a `bestmove`."""
    margin_ms: int = 20
    """Added to every clock for scheduling noise; what was charged is recorded per ply."""
    grace_ms: int = 250
    """After the flag: how long to wait for a late answer, to tell `time` from `stalled`."""
    quit_ms: int = 500
    """From `quit` to the kill."""
    line_bytes: int = 8192
    output_bytes: int = 64 * 2**20
    """Standard output and error of one game together."""
    log_bytes: int = 16 * 1024
    """The tail of standard error that is kept."""
    memory_bytes: int = 1024 * 2**20
    processes: int = 64


Pondering = Literal["frozen", "pinned", "allowed"]
PONDERING: tuple[Pondering, ...] = ("frozen", "pinned", "allowed")
"""What a bot may do while its opponent thinks: nothing, so that it slows nobody; what a core of its own allows; what it
likes. The first is usual."""


LEAST_SCALE, MOST_SCALE = 0.5, 4.0
"""By so much clocks are scaled at least and at most."""


@dataclass(frozen=True, slots=True)
class BotSpec:
    """An executable bot: what to run, under which name, and what is known of it.

    `capabilities` is what a check found (see `protocol.capabilities.Capabilities`), empty = assume the full protocol.
    """

    name: str
    command: tuple[str, ...]
    folder: str | None = None
    version: str = ""
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    options: tuple[tuple[str, str], ...] = ()
    """UGI options set before every game, as (name, value)."""
    bundle: str = ""
    """The SHA-256 of the stored bundle the command runs in; empty for a bot of this machine, run in `folder`."""
    time: TimeControl | None = None
    """The bot's own time control, in place of the game's: time odds."""
    place: Literal["", "remote", "person"] = ""
    """What plays at its seat (see `referee.bot.seat`): a process here, a bot on its author's machine, a person."""


@dataclass(frozen=True, slots=True)
class GameSpec:
    """One game to be played. `position` None is the variant's start; `opening` is played before the bots take over."""

    family: str
    variant: str
    first: BotSpec
    second: BotSpec
    options: Mapping[str, Value] = field(default_factory=dict)
    position: str | None = None
    opening: tuple[str, ...] = ()
    time: TimeControl = field(default_factory=TimeControl)
    adjudication: Adjudication = field(default_factory=Adjudication)
    limits: Limits = field(default_factory=Limits)
    pondering: Pondering = "frozen"
    """What a bot may do while its opponent thinks (see `PONDERING`)."""
    event: str = ""
    sequence: int = 0
    round: int = 0
    pair: int = 0
    seed: int = 0
    scale_clocks: bool = False
    """Whether clocks are longer where the machine is slower (see `referee.machine.speed`)."""
    clock_scale: float = 1.0
    """By how much they are, as filled in by the machine that plays."""

    @property
    def controls(self) -> tuple[TimeControl, TimeControl]:
        """What first and second play with."""
        return self.first.time or self.time, self.second.time or self.time

    @property
    def time_text(self) -> str:
        """The time control in words, `10+0.1 v 1+0.01` where the sides have different ones."""
        first, second = self.controls
        return str(first) if first == second else f"{first}{VERSUS}{second}"

    def as_json(self) -> dict[str, Any]:
        """Plain data; what is as usual (a bot's own time, its place, pondering …) has no key: ids are made of this."""
        data: dict[str, Any] = _plain(self)
        if self.pondering == PONDERING[0]:
            del data["pondering"]
        if not self.scale_clocks:
            del data["scale_clocks"]
        if self.clock_scale == 1:
            del data["clock_scale"]
        for bot in (data["first"], data["second"]):
            for name in ("time", "place"):
                if not bot[name]:
                    del bot[name]
        for time in (part["time"] for part in (data, data["first"], data["second"]) if "time" in part):
            if not time["moves"]:
                del time["moves"]
        return data


@dataclass(frozen=True, slots=True)
class PlannedGame:
    """A game that is to be played: its spec, and the id it was given when it was planned.

    The id stays whatever becomes of the spec: a machine that plays it fills in where its bots are.
    """

    id: str
    spec: GameSpec

    @classmethod
    def of(cls, spec: GameSpec) -> PlannedGame:
        """Plan a game. Its id is the content hash of the whole spec: same plan, same ids, everywhere."""
        return cls(digest(spec.as_json()), spec)


_KNOWN = {item.name for item in fields(GameSpec)}


def spec_from_json(data: Mapping[str, Any]) -> GameSpec:
    """The spec of `as_json` after a trip through JSON. Raises ValueError or TypeError for anything else."""

    def bot(part: Mapping[str, Any]) -> BotSpec:
        options = tuple((str(name), str(value)) for name, value in part["options"])
        time = TimeControl(**part["time"]) if part.get("time") else None
        return BotSpec(**{**part, "command": tuple(part["command"]), "options": options, "time": time})

    if unknown := data.keys() - _KNOWN:
        raise ValueError(f"unknown keys in a game spec: {sorted(unknown)}")
    return GameSpec(
        **{
            **data,
            "first": bot(data["first"]),
            "second": bot(data["second"]),
            "opening": tuple(data["opening"]),
            "time": TimeControl(**data["time"]),
            "adjudication": Adjudication(**data["adjudication"]),
            "limits": Limits(**data["limits"]),
        }
    )
