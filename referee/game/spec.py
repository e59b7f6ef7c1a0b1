"""The specification of a game before it is played: players, rules and clock. Frozen, canonical JSON."""

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
    """Return data as canonical JSON: sorted keys, no blanks, UTF-8 text."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(data: Any) -> str:
    """Return the first 16 hex digits of the SHA-256 of data as canonical JSON."""
    return hashlib.sha256(canonical(data).encode()).hexdigest()[:16]


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind)) if hasattr(kind, "__dataclass_fields__") else ()


def _plain(value: Any) -> Any:
    """Return the same as `dataclasses.asdict`, without deep copies of immutable leaves."""
    kind: Any = type(value)
    names = _names(kind)
    return {name: _plain(getattr(value, name)) for name in names} if names else value


@dataclass(frozen=True, slots=True)
class TimeControl:
    """A bot's thinking time: a clock (`10+0.1`, `40/60`), a time per move (`1/move`), `depth:4` or `nodes:10000`.

    `none` means no clock at all and is for games between people.
    """

    kind: Literal["clock", "movetime", "depth", "nodes", "none"] = "clock"
    base_ms: int = 10_000
    increment_ms: int = 100
    limit: int = 0
    """The depth, or the number of nodes, of the kinds `depth` and `nodes`."""
    moves: int = 0
    """Moves per period of a clock: the base time is added again after each period; 0 = no periods."""

    @property
    def move_ms(self) -> float | None:
        """The average time per move in a game of forty moves a side; None for a search limit or no clock."""
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
    """Parse `10+0.1`, `40/60`, `1/move` (seconds), `depth:4` or `nodes:10000`. Raises ParseError."""
    text = text.strip()
    if match := _LIMIT.fullmatch(text):
        kind: Any = match[1]
        return TimeControl(kind, 0, 0, int(match[2]))
    if match := _MOVETIME.fullmatch(text):
        control = TimeControl("movetime", round(float(match[1]) * 1000), 0)
    elif match := _CLOCK.fullmatch(text):
        base_ms, increment_ms = (round(float(seconds or 0) * 1000) for seconds in match.groups()[1:])
        control = TimeControl("clock", base_ms, increment_ms, moves=int(match[1] or 0))
    else:
        raise ParseError("not a time control", text=text, hint="write 10+0.1, 40/60, 1/move, depth:4 or nodes:10000")
    if control.base_ms <= 0:
        raise ParseError("the time control gives no time", text=text, hint="write a positive number of seconds")
    return control


NO_CLOCK = TimeControl("none", 0, 0)
"""The time control of games between people without a clock."""
VERSUS = " v "
"""Separates the time controls of the two sides where they differ."""


def read_time_controls(text: str) -> tuple[TimeControl, TimeControl]:
    """Parse the time controls of both sides, first side first, from `GameSpec.time_text`. Raises ParseError."""
    first, _, second = text.partition(VERSUS)
    one, two = (NO_CLOCK if part == "none" else read_time_control(part) for part in (first, second or first))
    return one, two


@dataclass(frozen=True, slots=True)
class Adjudication:
    """The settings by which a game is ended early. Scores are in centipawns; 0 moves = off."""

    draw_moves: int = 0
    """Moves in a row by each side with a score near 0 that draw the game; 0 = off."""
    draw_score: int = 10
    """Greatest distance from 0, in centipawns, of a score near 0."""
    draw_after_ply: int = 40
    """The first ply after which a game can be drawn by score."""
    resign_moves: int = 0
    """Moves in a row with a lost score that lose the game; 0 = off."""
    resign_score: int = 1000
    """A score of at most minus this many centipawns is lost."""
    resign_both: bool = True
    """The scores of both bots must show the win, not that of the losing bot alone."""
    max_plies: int = 0
    """The game is drawn (`max-plies`) after this many plies; 0 = no limit."""
    draw_agreement: bool = True
    """Two offers in a row draw the game."""

    @property
    def changes(self) -> dict[str, int | bool]:
        """The settings that differ from the defaults: all that a record needs."""
        names = _names(Adjudication)
        return {name: getattr(self, name) for name in names if getattr(self, name) != getattr(_USUAL, name)}


_USUAL = Adjudication()


@dataclass(frozen=True, slots=True)
class BotLimits:
    """Every deadline and bound of one bot in one game. Times in milliseconds."""

    start_ms: int = 10_000
    """Time from the spawn to `ugiok`."""
    ready_ms: int = 60_000
    """Time for the answer to each `isready`; at the first one, a bot may load books and compile kernels."""
    move_ms: int = 120_000
    """Time for a `bestmove` without a clock (depth, nodes)."""
    margin_ms: int = 20
    """Time by which a side may exceed its clock, for scheduling noise; the record says what each ply was charged."""
    grace_ms: int = 250
    """Time to wait for a late answer after the flag fell, to distinguish `time` from `stalled`."""
    quit_ms: int = 500
    """Time from `quit` to the kill."""
    line_bytes: int = 8192
    """Longest line of a bot."""
    output_bytes: int = 64 * 2**20
    """Limit of standard output and error of one game together."""
    log_bytes: int = 16 * 1024
    """Size of the end of standard error that is kept."""
    memory_bytes: int = 1024 * 2**20
    """Memory of all processes of a bot together."""
    processes: int = 64
    """Processes and threads of a bot together."""


Pondering = Literal["frozen", "pinned", "allowed"]
PONDERING: tuple[Pondering, ...] = ("frozen", "pinned", "allowed")
"""What a bot may do while its opponent thinks: nothing (the default), run on one core, or anything."""


MIN_SCALE, MAX_SCALE = 0.5, 4.0
"""Bounds of the clock scale."""


@dataclass(frozen=True, slots=True)
class BotSpec:
    """An executable bot: its name, its command and its known capabilities.

    `capabilities` is what a check found (see `protocol.capabilities.Capabilities`); empty means the full protocol.
    """

    name: str
    command: tuple[str, ...]
    folder: str | None = None
    version: str = ""
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    options: tuple[tuple[str, str], ...] = ()
    """UGI options set before every game, as (name, value)."""
    bundle: str = ""
    """The SHA-256 of the stored bundle that the command runs in; empty for a local bot, which runs in `folder`."""
    time: TimeControl | None = None
    """The bot's own time control, in place of the game's (time odds)."""
    network: Literal["", "loopback"] = ""
    """Whether the bot may connect its own programs by TCP on a network of its own (see `referee.sandbox`)."""
    place: Literal["", "remote", "person"] = ""
    """Where the player is (see `referee.bot.seat`): empty for a process here, else a remote machine, or a person."""


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
    limits: BotLimits = field(default_factory=BotLimits)
    pondering: Pondering = "frozen"
    """What a bot may do while its opponent thinks (see `PONDERING`)."""
    event: str = ""
    sequence: int = 0
    round: int = 0
    pair: int = 0
    seed: int = 0
    scale_clocks: bool = False
    """True to lengthen the clocks on a slower machine (see `referee.machine.speed`)."""
    clock_scale: float = 1.0
    """The factor by which the clocks were lengthened, filled in by the machine that plays."""

    @property
    def controls(self) -> tuple[TimeControl, TimeControl]:
        """The time controls of the first and of the second side."""
        return self.first.time or self.time, self.second.time or self.time

    @property
    def time_text(self) -> str:
        """The time control as text, `10+0.1 v 1+0.01` where the sides differ."""
        first, second = self.controls
        return str(first) if first == second else f"{first}{VERSUS}{second}"

    def as_json(self) -> dict[str, Any]:
        """Return plain data, from which the game's id is computed.

        `time`, `network`, `pondering` … are left out if they have their default values.
        """
        data: dict[str, Any] = _plain(self)
        if self.pondering == PONDERING[0]:
            del data["pondering"]
        if not self.scale_clocks:
            del data["scale_clocks"]
        if self.clock_scale == 1:
            del data["clock_scale"]
        for bot in (data["first"], data["second"]):
            for name in bot.keys() - _ALWAYS:
                if not bot[name]:
                    del bot[name]
        for time in (part["time"] for part in (data, data["first"], data["second"]) if "time" in part):
            if not time["moves"]:
                del time["moves"]
        return data


@dataclass(frozen=True, slots=True)
class PlannedGame:
    """A game to be played: its spec, and the id that it was given when it was planned.

    The id stays the same when the machine that plays the game fills in the locations of the bots in the spec.
    `attempt` is the number of this attempt at the game, from 1.
    """

    id: str
    spec: GameSpec
    attempt: int = 1

    @classmethod
    def of(cls, spec: GameSpec) -> PlannedGame:
        """Plan a game. Its id is the hash of its whole spec, so that the same plan has the same ids everywhere."""
        return cls(digest(spec.as_json()), spec)


_ALWAYS = {"name", "command", "folder", "version", "capabilities", "options", "bundle"}
"""The keys of a bot that are written even if empty. A later key is not, so that the ids of games stay the same."""
_KNOWN = {item.name for item in fields(GameSpec)}


def spec_from_json(data: Mapping[str, Any]) -> GameSpec:
    """Return the spec whose `as_json` was stored as JSON. Raises ValueError or TypeError for any other data."""

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
            "limits": BotLimits(**data["limits"]),
        }
    )
