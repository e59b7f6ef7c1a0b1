"""`arena solve`: find the shortest forced win of a side, all first moves that achieve it, and the main line."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.cli.terminal import argument, game_view, output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import option
from arena.cli.terminal.interrupt import interruptible
from arena.cli.terminal.printer import Output, Printer
from arena.cli.terminal.rules_arguments import PositionArguments

if TYPE_CHECKING:
    from collections.abc import Iterable

    from referee.rules.core import Side
    from referee.rules.position import Position
    from referee.solver.proofs import Condition, WinProblem
    from referee.solver.solver import Solution

MAX_MOVES = 60
NODES, _MOVES = argument.up_to(10**12), argument.up_to(MAX_MOVES)


@dataclass(frozen=True, kw_only=True)
class SolveArguments(PositionArguments, Output):
    side: str | None = option(
        "the side that is to win: first, second or its name (default: the side to move)", metavar="SIDE"
    )
    moves: int | None = option(
        "look for a win in at most MOVES moves of the winning side; if a move of the other side completes the win, it "
        "counts as one more move of the winning side (default: look until the nodes are used up)",
        "--in",
        metavar="MOVES",
        type=_MOVES,
    )
    condition: str | None = option(
        "limit on a count over all moves of the winning side, such as marbles<=7", metavar="COUNTER<=NUMBER"
    )
    all: bool = option("also list the other first moves that win within --in MOVES", default=False)
    nodes: int = option("give up after playing COUNT moves", metavar="COUNT", type=NODES, default=100_000_000)


def run(arguments: SolveArguments) -> int:
    """Solve and print. Exit with 0 if the win is proved or refuted, 1 if it stays unknown."""
    from referee.solver.proofs import WinProblem
    from referee.solver.solver import FinishedPositionError, compile_solver, solve

    if arguments.all and arguments.moves is None:
        raise CommandError("--all needs --in MOVES, up to which other winning moves are looked for")
    start = arguments.start()
    condition = _condition(arguments.condition, start)
    problem = WinProblem(
        start.ruleset,
        start.state,
        _side(arguments.side, start),
        arguments.moves or MAX_MOVES,
        condition,
        wants_all=arguments.all,
        max_nodes=arguments.nodes,
    )
    compile_solver(start.ruleset)
    started = time.perf_counter()

    def report(moves: int, nodes: int) -> None:
        output.progress(f"looking for a win in {moves}, {nodes:,} nodes so far")

    try:
        solution = interruptible(solve, problem, report)
    except FinishedPositionError as error:
        raise CommandError(str(error)) from None
    seconds = time.perf_counter() - started
    output.progress("")
    _print(Printer(arguments), problem, solution, start, seconds)
    return Exit.FAILED if solution.result == "unknown" else Exit.DONE


def _condition(text: str | None, start: Position) -> Condition | None:
    if text is None:
        return None
    from referee.solver.proofs import Condition

    condition = Condition.read(text)
    condition.index(start.ruleset)
    return condition


def _side(text: str | None, start: Position) -> Side:
    """Return the side that `--side` names, by default the side to move. Raises CommandError."""
    from referee.rules.core import SIDES

    if text is None:
        return start.side
    side = start.ruleset.side_named(text)
    if side is None:
        names = " or ".join((*SIDES, *start.ruleset.sides))
        raise CommandError(f'invalid --side "{text[:40]}": expected {names}')
    return SIDES[side]


def _print(printer: Printer, problem: WinProblem, solution: Solution, start: Position, seconds: float) -> None:
    write = start.ruleset.rules.notation.write_move

    def written(moves: Iterable[int]) -> list[str]:
        return [write(move) for move in moves]

    lines = [*_lines(problem, solution, start), f"{solution.nodes:,} nodes in {seconds:.2f} s"]
    printer.result(
        {
            "position": str(start),
            "side": problem.side,
            "condition": str(problem.condition) if problem.condition else None,
            "result": solution.result,
            "in": solution.moves,
            "keys": sorted(written(solution.keys)),
            "unique": solution.is_unique,
            "later": {write(move): moves for move, moves in solution.later.items()},
            "defences": sorted(written(solution.defences)),
            "line": written(solution.line),
            "no_win_in": solution.refuted,
            "complete": solution.is_complete,
            "nodes": solution.nodes,
            "seconds": round(seconds, 3),
        },
        lambda: output.text(*lines),
    )


def _lines(problem: WinProblem, solution: Solution, start: Position) -> list[str]:
    name = game_view.side_name(start.ruleset, problem.side)
    if solution.result == "unknown":
        tried = f"no win in {solution.refuted}" if solution.refuted else "nothing proved"
        return [f"{name}: {tried}; longer wins are unknown. Raise --nodes to look further"]
    if solution.result == "no-win":
        lines = [f"{name} has no win in {solution.refuted}"]
        if solution.defences:
            lines.append(f"moves that prevent it: {_displayed(solution.defences, start)}")
        return lines
    lines = [f"{name} wins in {solution.moves}"]
    if solution.keys:
        only = ", the only one" if solution.is_unique else ""
        lines.append(f"{'keys' if len(solution.keys) > 1 else 'key'}: {_displayed(solution.keys, start)}{only}")
    if solution.later:
        later = ", ".join(f"{start.display(move)} (in {moves})" for move, moves in solution.later.items())
        lines.append(f"wins later: {later}")
    if solution.line:
        lines.append(f"main line: {_played(solution.line, start)}")
    if not solution.is_complete:
        lines.append("the nodes ran out before all was examined; raise --nodes")
    return lines


def _displayed(moves: Iterable[int], start: Position) -> str:
    return " ".join(sorted(start.display(move) for move in moves))


def _played(line: Iterable[int], position: Position) -> str:
    """Format a line of play in the notation for people."""
    words = []
    for move in line:
        words.append(position.display(move))
        position = position.play(move)
    return " ".join(words)
