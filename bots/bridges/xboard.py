"""`python -m bots.bridges.xboard --family FAMILY -- ENGINE…`: an engine that speaks the XBoard protocol, as a UGI bot.

The engine stays in force mode while the opponent thinks, so it never ponders and never moves by itself. Its time comes
by `level` and `time`: a time for each move is a time control of one move. A result that it claims instead of a move
decides nothing: the engine gets the position again, without the moves before it.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Sequence

from bots.bridges.chess_engine import ChessEngine, report, run_bridge
from bots.bridges.engine_process import EngineProcess
from bots.bridges.failure import BridgeError, BridgeExit, shown
from bots.sdk.clock import Clock
from referee.rules.position import Position
from referee.rules.rules import ChessDialect

FEATURES_TIMEOUT_S = 10.0
"""Time for the first `feature`: engines of protocol version 1 never send one. The protocol allows two seconds, which an
engine that loads variants exceeds on a busy machine.
"""
UNLIMITED_MS = 3_600_000
"""The time of an engine that no clock limits."""
_FEATURE = re.compile(r'(\w+)=("[^"]*"|\S+)')
_RESULT = re.compile(r"(1-0|0-1|1/2-1/2)\b")
_THOUGHT = re.compile(r"(\d+)\S*\s+(-?\d+)\s+\d+\s+(\d+)\b(.*)")
"""Depth, score in centipawns, time in centiseconds, nodes, and the rest of the line."""
_REFUSED = re.compile(r"Illegal (?:move|position)|tellusererror", re.IGNORECASE)
_COMPLAINT = re.compile(r"Error|tell", re.IGNORECASE)


class XboardEngine(ChessEngine):
    """A bot whose moves come from an engine that speaks the XBoard protocol."""

    def greet(self, engine: EngineProcess) -> None:
        """Set the options of a new engine, and find its features."""
        self.features: dict[str, str] = {}
        self.setup: tuple[object, ...] = ()
        """The variant and the kind of time control that were sent last."""
        self.start = ""
        self.moves: list[str] = []
        """The start and the moves that the engine knows, its own among them."""
        self._pings = itertools.count(1)
        engine.send("xboard")
        self._introduce(engine)
        if self.engine_options:
            engine.send(*(f"option {name}={value}" for name, value in self.engine_options))
            self._introduce(engine)  # an option may have loaded variants
        engine.send("easy", "post")
        names = self.features.get("variants", "")
        self.announced_variants = frozenset(name.strip() for name in names.split(",")) if names else None

    def _introduce(self, engine: EngineProcess) -> None:
        """Read the features until the engine has sent all."""
        engine.send("protover 2")
        deadline = time.monotonic() + FEATURES_TIMEOUT_S
        self.features.pop("done", None)
        while self.features.get("done") != "1":
            if self.features.get("done") == "0":  # it asks for more time
                line = next(self.lines_until(engine, "feature done=1"))
            elif not (line := engine.line(deadline, "before its features")) and time.monotonic() >= deadline:
                return
            if line.startswith("feature "):
                for name, value in _FEATURE.findall(line):
                    self.features[name] = value.strip('"')
                    engine.send(f"accepted {name}")

    @property
    def sets_up(self) -> bool:
        """True if the engine can set up positions. Then it gets the start as one: some fail without."""
        return self.features.get("setboard") == "1"

    def begin(self, engine: EngineProcess) -> None:
        """Forget the game so far, and wait until the engine is ready."""
        self.setup = ()
        engine.send("force")
        self._wait(engine)

    def _wait(self, engine: EngineProcess) -> None:
        """Wait until the engine has read everything, if it has the feature `ping`."""
        if self.features.get("ping") != "1":
            return
        answer = f"pong {next(self._pings)}"
        engine.send(answer.replace("pong", "ping"))
        for line in self.lines_until(engine, answer):
            if line == answer:
                return

    def ask(self, engine: EngineProcess, position: Position, clock: Clock) -> str | None:
        """Return the engine's move; None if none came after a `stop`. Raises BridgeError."""
        dialect = self.choose_dialect(position.ruleset)
        own_loss = "0-1" if dialect.colour(str(position)) == "w" else "1-0"
        self._check(engine, engine.waiting())
        start, moves = self.start_and_moves(position, dialect)
        if not self.sets_up and start != self.variant_start(position, dialect):
            raise BridgeError(BridgeExit.ANSWER, f"{engine.name} cannot set up positions: it has no feature setboard")
        self._go(engine, dialect, (start, moves), clock)
        thought = claim = None
        for line in self.lines_while_thinking(engine, clock, "?"):
            result = _RESULT.match(line)
            if line.startswith("move "):
                if thought:
                    self._forward(thought)
                engine.send("force")
                self.moves.append(line.split()[1])
                return self.moves[-1]
            if line == "resign" or (result and result[1] == own_loss):
                self.is_resigning = True
                return None
            if result:
                if claim or not self.sets_up:
                    raise BridgeError(BridgeExit.ANSWER, f"{engine.name} claimed {shown(line)} instead of a move")
                claim = line
                report(f"{engine.name} claimed {shown(line)}; it gets the position again, without the moves before")
                self._go(engine, dialect, (dialect.fen(str(position)), []), clock)
            thought = _THOUGHT.match(line) or thought
            self.is_offering |= line.startswith("offer draw")
            self._check(engine, [line])
        return None

    def _go(self, engine: EngineProcess, dialect: ChessDialect, game: tuple[str, list[str]], clock: Clock) -> None:
        """Bring the engine to the end of a game, given by start and moves, and let it think. Raises BridgeError."""
        start, moves = game
        setup = (dialect.name, clock.movetime_ms is None, clock.time_left_ms is None, clock.increment_ms, clock.depth)
        continues = (setup, start, self.moves) == (self.setup, self.start, moves[: len(self.moves)])
        lines: list[str] = []
        if setup != self.setup or not (self.sets_up or continues):
            lines += ["new", *([f"variant {dialect.name}"] if self.announced_variants else ()), *_level(clock)]
        lines.append("force")
        if self.sets_up and not continues:
            lines.append(f"setboard {start}")
        prefix = "usermove " if self.features.get("usermove") == "1" else ""
        lines += [f"{prefix}{move}" for move in (moves[len(self.moves) :] if continues else moves)]
        self.setup, self.start, self.moves = setup, start, list(moves)
        own_ms = clock.movetime_ms or clock.time_left_ms or UNLIMITED_MS
        other_ms = clock.opponent_left_ms or own_ms
        if self.features.get("time") != "0":
            lines += [f"time {max(1, own_ms // 10)}", f"otim {max(1, other_ms // 10)}"]
        engine.send(*lines, "go")

    def _check(self, engine: EngineProcess, lines: Sequence[str]) -> None:
        """Report complaints of the engine. Raises BridgeError if it refuses a move or position of the game."""
        for line in lines:
            if _REFUSED.match(line):
                raise BridgeError(BridgeExit.ANSWER, f"{engine.name} refused the game so far: {shown(line)}")
            if _COMPLAINT.match(line):
                report(f"{engine.name}: {shown(line)}")

    def _forward(self, thought: re.Match[str]) -> None:
        depth, score, nodes, rest = thought.groups()
        self.forward_info(depth=int(depth), nodes=int(nodes), score=int(score), win_in=None, pv=rest)


def _level(clock: Clock) -> tuple[str, ...]:
    """Return the lines that announce the limits of a game."""
    depth = () if clock.depth is None else (f"sd {clock.depth}",)
    if clock.movetime_ms is not None:
        return (f"level 1 {_minutes(clock.movetime_ms)} 0", *depth)
    if clock.time_left_ms is not None:
        return (f"level 0 {_minutes(clock.time_left_ms)} {clock.increment_ms // 1000}", *depth)
    return (f"level 0 {_minutes(UNLIMITED_MS)} 0", *depth)


def _minutes(ms: int) -> str:
    """Return a time as minutes and seconds, rounded up to a whole second."""
    minutes, seconds = divmod(-(-ms // 1000), 60)
    return f"{minutes}:{seconds:02}"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    run_bridge(XboardEngine, "XBoard", argv)


if __name__ == "__main__":
    main()
