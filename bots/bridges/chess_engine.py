"""Chess engines that play a variant of one of the families: what the bridges for UCI and XBoard have in common.

The family's `Notation.chess` says how such engines name a variant and write its positions. An engine starts at
`isready`, while no clock runs, and serves until the end of the process. Only the referee measures time: the bridge
waits for a move until the referee sends `stop`, and an engine that does not answer that either is ended.
"""

from __future__ import annotations

import re
import sys
import threading
import time
from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bots.bridges.engine_process import EngineProcess
from bots.bridges.failure import BridgeError, BridgeExit, BridgeParser, guarded, shown
from bots.sdk import Bot, Clock, run
from referee.families import homes
from referee.rules import load
from referee.rules.position import Position
from referee.rules.rules import ChessDialect, Ruleset

START_TIMEOUT_S = 45.0
"""Time for an engine to start and get ready: less than the referee waits for `readyok`."""
STOP_TIMEOUT_S = 0.15
"""Time for an engine to answer after it was stopped: less than the referee waits after `stop`."""
_MOVE = re.compile(r"(?:[a-l][1-9][0-9]?){2}").fullmatch


def report(problem: str) -> None:
    """Write a line to standard error, which the bot's author sees."""
    print(problem, file=sys.stderr, flush=True)


class ChessEngine(Bot):
    """A bot whose moves come from a chess engine; a subclass speaks its protocol.

    `engine_variant` is the engine's name of the variant if the family does not know it. `options` are options of the
    engine, with their values.
    """

    author = "its author"

    def __init__(
        self, command: Sequence[str], family: str, engine_variant: str = "", options: Sequence[tuple[str, str]] = ()
    ) -> None:
        super().__init__()
        self.command, self.engine_options = tuple(command), tuple(options)
        self.dialects = _dialects(family, engine_variant)
        self.engine: EngineProcess | None = None
        self.announced_variants: Collection[str] | None = None
        """The variants that the engine has announced; None if it has no such announcement."""
        self.is_resigning = self.is_offering = False

    # -- what a protocol has ---------------------------------------------------------------------------------------

    @abstractmethod
    def greet(self, engine: EngineProcess) -> None:
        """Set the options of a new engine, and `announced_variants`. Raises BridgeError if it is not ready in time."""

    @abstractmethod
    def begin(self, engine: EngineProcess) -> None:
        """Tell the engine of a new game."""

    @abstractmethod
    def ask(self, engine: EngineProcess, position: Position, clock: Clock) -> str | None:
        """Return the engine's move; None if none came after a `stop`. Raises BridgeError."""

    # -- what the SDK calls ----------------------------------------------------------------------------------------

    def warm_up(self, position: Position) -> None:
        """Start the engine while no clock runs."""
        super().warm_up(position)
        self.running_engine()

    def new_game(self) -> None:
        if self.engine:
            self.begin(self.engine)

    def close(self) -> None:
        if self.engine:
            self.engine.close()

    def resigns(self, position: Position) -> bool:
        return self.is_resigning

    def offers_draw(self, position: Position, move: int) -> bool:
        """Return whether the engine offers a draw with its move."""
        return self.is_offering

    def choose(self, position: Position, clock: Clock) -> int | None:
        """Return the engine's move; None if the referee sent `stop` before it came. Raises BridgeError."""
        if len(position.moves) == 1 and position.moves[0] == position.ruleset.rules.notation.pass_move:
            return position.moves[0]  # these engines have no move for a forced pass
        self.is_resigning = self.is_offering = False
        engine = self.running_engine()
        answer = self.ask(engine, position, clock)
        if self.is_resigning:
            return position.moves[0]
        if answer is None:
            report(f"{engine.name} had no move after {clock.elapsed_ms():.0f} ms")
            engine.kill()
            self.engine = None
            return None
        try:
            return position.read(answer)
        except ValueError as error:
            raise BridgeError(BridgeExit.ANSWER, f"{engine.name} played {shown(answer)}: {error}") from None

    # -- what both protocols need ----------------------------------------------------------------------------------

    def running_engine(self) -> EngineProcess:
        """Return the engine; start it if it does not run. Raises BridgeError."""
        if self.engine is None:
            self.engine = EngineProcess(self.command)
            self.greet(self.engine)
            self.begin(self.engine)
        return self.engine

    def lines_until(self, engine: EngineProcess, awaited: str) -> Iterator[str]:
        """Yield the engine's lines for a while. Raises BridgeError then: the engine did not send `awaited`."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            if line := engine.line(deadline, f"before `{awaited}`"):
                yield line
        raise BridgeError(BridgeExit.LATE, f"{engine.name} did not send `{awaited}` in {START_TIMEOUT_S:g} s")

    def lines_while_thinking(self, engine: EngineProcess, clock: Clock, stop: str) -> Iterator[str]:
        """Yield the engine's lines while it thinks; send `stop` once the referee has stopped the search.

        The lines end soon after that.
        """
        is_stopped = threading.Event()

        def wake() -> None:
            is_stopped.set()
            engine.wake()

        clock.on_stop(wake)
        deadline = None
        while deadline is None or time.monotonic() < deadline:
            if line := engine.line(deadline, "while it was to move"):
                yield line
            elif deadline is None and is_stopped.is_set():
                engine.send(stop)
                deadline = time.monotonic() + STOP_TIMEOUT_S

    def forward_info(self, *, depth: int, nodes: int, score: int | None, win_in: int | None, pv: str) -> None:
        """Send the search information of the engine to the referee."""
        self.info(depth=depth, nodes=nodes, score=score, win_in=win_in, pv=[word for word in pv.split() if _MOVE(word)])

    def choose_dialect(self, ruleset: Ruleset) -> ChessDialect:
        """Return the dialect by which the engine plays these rules, or nearly so. Raises BridgeError."""
        usable: Sequence[ChessDialect]
        if self.announced_variants is None:
            # An engine without a choice of variants plays the one that has no name, or else the preferred one.
            usable = [dialect for dialect in self.dialects if not dialect.name] or self.dialects[:1]
        else:
            usable = [dialect for dialect in self.dialects if dialect.name in self.announced_variants]
        if not usable:
            names = " or ".join(dialect.name for dialect in self.dialects if dialect.name)
            raise BridgeError(
                BridgeExit.MISSING,
                f"{self.command[0]} has no variant {names}; say which it has: --engine-variant NAME",
            )
        return next((dialect for dialect in usable if _is_by(dialect, ruleset)), usable[0])

    def start_and_moves(self, position: Position, dialect: ChessDialect) -> tuple[str, list[str]]:
        """Return where the game began as the engine writes it, and the moves from there."""
        notation, moves, start = position.ruleset.rules.notation, list[str](), position
        while dialect.is_exact and start.previous and start.move is not None and start.move != notation.pass_move:
            moves.insert(0, notation.write_move(start.move))
            start = start.previous
        return dialect.fen(str(start)), moves

    def variant_start(self, position: Position, dialect: ChessDialect) -> str:
        """Return the start of the engine's variant as the engine writes it."""
        return dialect.fen(str(Position.start(position.ruleset.rules.settle(dialect.variant))))


def _named_rules(ruleset: Ruleset) -> list[str]:
    """Return the rule options by which the dialects of a family differ."""
    return list(dict.fromkeys(name for dialect in ruleset.rules.notation.chess for name in dialect.rules))


def _is_by(dialect: ChessDialect, ruleset: Ruleset) -> bool:
    """Return whether engines of this dialect play by these rules."""
    own = ruleset.rules.settle(dialect.variant).values
    return all(dialect.rules.get(name, own[name]) == ruleset.values[name] for name in _named_rules(ruleset))


def _dialects(family: str, engine_variant: str) -> tuple[ChessDialect, ...]:
    """Return the dialects of a family, or the preferred one by another name."""
    dialects = load(family).notation.chess
    if not engine_variant:
        return dialects
    return tuple(dialect for dialect in dialects if dialect.name == engine_variant) or (
        replace(dialects[0], name=engine_variant),
    )


def chess_families() -> list[str]:
    return [family for family in homes() if load(family).notation.chess]


def run_bridge(bot: type[ChessEngine], protocol: str, argv: Sequence[str] | None) -> None:
    module = f"bots.bridges.{protocol.lower()}"
    parser = BridgeParser(
        prog=f"python -m {module}",
        usage="%(prog)s --family FAMILY [--name NAME] [--engine-variant NAME] [--option NAME=VALUE] -- ENGINE …",
        description=f"Run an engine that speaks {protocol} and plays a variant of a family, as a bot.",
    )
    parser.add_argument("--family", choices=chess_families(), required=True, help="family of games")
    parser.add_argument("--name", default="", help="name to show (default: that of the program)")
    parser.add_argument(
        "--engine-variant",
        default="",
        metavar="NAME",
        help="the engine's name of the variant (default: the first known one that the engine has)",
    )
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="option of the engine; may be repeated"
    )
    parser.add_argument("engine", nargs="+", metavar="ENGINE", help="command of the engine")
    arguments = parser.parse_args(argv)
    options = [(name, value) for name, _, value in (option.partition("=") for option in arguments.option)]
    for given, option in zip(arguments.option, options, strict=True):
        if not all(option):
            parser.error(f"invalid --option {given!r}: expected NAME=VALUE")
    sys.stdout = sys.stderr

    def work() -> None:
        engine = bot(arguments.engine, arguments.family, arguments.engine_variant, options)
        bot.name = arguments.name or Path(arguments.engine[0]).stem
        bot.variants = tuple(dict.fromkeys(dialect.variant for dialect in engine.dialects))
        bot.rules = _announced_rules(arguments.family, engine.dialects)
        run(engine, ["--family", arguments.family])

    guarded(work, f"{protocol} bridge")


def _announced_rules(family: str, dialects: Sequence[ChessDialect]) -> dict[str, list[str]]:
    """Return the values of the rule options by which the dialects differ, those of the preferred one first."""
    own = load(family).settle(dialects[0].variant)
    return {
        name: list(dict.fromkeys(str(dialect.rules.get(name, own.values[name])) for dialect in dialects))
        for name in _named_rules(own)
    }
