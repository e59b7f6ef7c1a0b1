"""`python -m bots.bridges.uci --family FAMILY -- ENGINE…`: an engine that speaks UCI, as a UGI bot.

The engine gets `position startpos moves …`, or `position fen …` if the game began elsewhere. It never ponders.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bots.bridges.chess_engine import ChessEngine, report, run_bridge
from bots.bridges.engine_process import EngineProcess
from bots.bridges.failure import BridgeError, BridgeExit, shown
from bots.sdk.clock import Clock
from referee.rules.position import Position

VARIANT_OPTION = "UCI_Variant"
_NO_MOVES = ("", "(none)", "none", "null", "0000")
_INFO = re.compile(r"info .*?\bdepth (\d+).*?\bscore (cp|mate) (-?\d+)(?:.*?\bnodes (\d+))?(?:.*?\bpv (.*))?")
_COMPLAINT = re.compile(r"error|unknown|invalid|illegal", re.IGNORECASE)


class UciEngine(ChessEngine):
    """A bot whose moves come from an engine that speaks UCI."""

    variant = ""
    """The variant that was set last."""

    def greet(self, engine: EngineProcess) -> None:
        """Set the options of a new engine, and find its variants."""
        self.variant = ""
        self._introduce(engine)
        if self.engine_options:
            engine.send(*(f"setoption name {name} value {value}" for name, value in self.engine_options))
            self._introduce(engine)  # an option may have loaded variants

    def _introduce(self, engine: EngineProcess) -> None:
        engine.send("uci")
        for line in self.lines_until(engine, "uciok"):
            if line.startswith(f"option name {VARIANT_OPTION} "):
                self.announced_variants = frozenset(re.split(r"\s+var\s+", line)[1:])
            if line == "uciok":
                return

    def begin(self, engine: EngineProcess) -> None:
        """Tell the engine of a new game, and wait until it is ready."""
        engine.send("ucinewgame", "isready")
        for line in self.lines_until(engine, "readyok"):
            if line == "readyok":
                return

    def ask(self, engine: EngineProcess, position: Position, clock: Clock) -> str | None:
        """Return the engine's move; None if none came after a `stop`. Raises BridgeError."""
        dialect = self.choose_dialect(position.ruleset)
        engine.waiting()  # what came after the answer before
        if self.announced_variants is not None and dialect.name != self.variant:
            engine.send(f"setoption name {VARIANT_OPTION} value {dialect.name}")
            self.variant = dialect.name
        start, moves = self.start_and_moves(position, dialect)
        is_usual = start == self.variant_start(position, dialect)
        question = ["position", "startpos" if is_usual else f"fen {start}", *(["moves", *moves] if moves else ())]
        engine.send(" ".join(question), f"go {limits(clock, dialect.colour(str(position)))}")
        info = None
        for line in self.lines_while_thinking(engine, clock, "stop"):
            if line.startswith("bestmove"):
                if info:
                    self._forward(info)
                return self._move(engine, line)
            info = _INFO.match(line) or info
            if _COMPLAINT.search(line):
                report(f"{engine.name}: {shown(line)}")
        return None

    def _move(self, engine: EngineProcess, line: str) -> str | None:
        """Return the move of an answer; a resignation has none. Raises BridgeError for an answer without a move."""
        move = ([*line.split(), ""])[1]
        if move.lower().startswith("resign"):
            self.is_resigning = True
            return None
        if move.lower() in _NO_MOVES:
            raise BridgeError(BridgeExit.ANSWER, f"{engine.name} answered {shown(line)}, though there are legal moves")
        return move

    def _forward(self, info: re.Match[str]) -> None:
        depth, kind, score, nodes, pv = info.groups(default="")
        value = int(score)
        # In plies: a mate in two moves is three plies away, one against the engine in two is four.
        win_in = None if kind == "cp" else 2 * value - (value > 0)
        self.forward_info(depth=int(depth), nodes=int(nodes or 0), score=value, win_in=win_in, pv=pv)


def limits(clock: Clock, colour: str) -> str:
    """Return the limits of a search as `go` has them, for the engine that plays `colour`."""
    words = []
    if clock.depth is not None:
        words.append(f"depth {clock.depth}")
    if clock.nodes is not None:
        words.append(f"nodes {clock.nodes}")
    if clock.movetime_ms is not None:
        words.append(f"movetime {clock.movetime_ms}")
    elif clock.time_left_ms is not None:
        other = clock.time_left_ms if clock.opponent_left_ms is None else clock.opponent_left_ms
        white, black = (clock.time_left_ms, other) if colour == "w" else (other, clock.time_left_ms)
        words.append(f"wtime {white} btime {black} winc {clock.increment_ms} binc {clock.increment_ms}")
    return " ".join(words) or "infinite"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line."""
    run_bridge(UciEngine, "UCI", argv)


if __name__ == "__main__":
    main()
