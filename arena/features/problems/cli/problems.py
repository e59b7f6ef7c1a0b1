"""`arena problems find|add|list|show|solve|month|remove`: find problems in games, add them to
an arena, and solve them.

The problems and games of an arena are those of this machine's data folder; with `--server`, those of a server.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena.cli.source.source import SourceArguments
from arena.cli.terminal import argument, game_view, output, text_input
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import Actions, filters, option, positional
from arena.cli.terminal.printer import ListOutput, Output, Printer
from arena.cli.terminal.rules_arguments import RulesArguments
from arena.documents.table import Column, text_column
from arena.features.problems.cli.find import find
from arena.features.problems.cli.source import ProblemSource, open_problems
from arena.features.problems.documents import (
    MAX_MOVES,
    FoundProblem,
    WinProblemItem,
    WinProblemQuery,
    WinProblemRequest,
    written_options,
)
from referee.errors import ArenaError

if TYPE_CHECKING:
    from referee.rules.position import Position

_LENGTH = argument.up_to(MAX_MOVES)


@dataclass(frozen=True, kw_only=True)
class AddProblemArguments(RulesArguments, SourceArguments, Output):
    position: str | None = option("position in which the side to move wins", metavar="POSITION", only_one="which!")
    file: str | None = option(
        'output of "arena problems find -o ndjson"; - for stdin', metavar="FILE", only_one="which!"
    )
    max_moves: int = option(
        "longest win allowed, in moves of the winning side", "--in", metavar="MOVES", type=_LENGTH, default=5
    )
    condition: str = option(
        "limit on a count over all moves of the winning side, such as marbles<=7",
        metavar="COUNTER<=NUMBER",
        default="",
    )
    title: str = option("title of the problem", metavar="TEXT", default="")
    text: str = option("description of the problem", metavar="TEXT", default="")
    source: str = option("source of the problem, such as a game", metavar="TEXT", default="")


@dataclass(frozen=True, kw_only=True)
class ProblemsArguments(SourceArguments, ListOutput):
    filters: Mapping[str, Any] = filters(WinProblemQuery, without=("after",))


@dataclass(frozen=True, kw_only=True)
class ProblemArguments(SourceArguments, Output):
    """Arguments of `arena problems show` and `remove`, and of others as well."""

    number: int = positional("number of the problem", "NUMBER", type=argument.positive)


@dataclass(frozen=True, kw_only=True)
class AnswerArguments(ProblemArguments):
    moves: str | None = option(
        "judge these moves, of which the last is yours, and exit", metavar="MOVES", only_one="how"
    )
    solution: bool = option("print all solutions", default=False, only_one="how")


@dataclass(frozen=True, kw_only=True)
class MonthArguments(ProblemArguments):
    month: str | None = option("the month (default: the present one)", metavar="YYYY-MM")


def add(parser: argparse.ArgumentParser) -> None:
    add = Actions(parser).add
    add(
        "find",
        find,
        "find problems in games: positions where the side to move wins in a few moves",
        "arena problems find abalone --collection migs.txt --in 2..4 --unique",
        "arena problems find loa --arena --games 500 --limit 10 -o ndjson",
    )
    add(
        "add",
        _add,
        'add problems: one by its position, or those that "find" printed',
        'arena problems add loa --position "8/2w2w2/8/3bb3/2b1w3/8/3b4/8 b - 1" --in 3 --title "Close up"',
        "arena problems find loa --arena --unique -o ndjson | arena problems add loa --file -",
    )
    add("list", _list, "list problems, the latest first", "arena problems list --family loa --level hard")
    add("show", _show, "draw the position of a problem", "arena problems show 12")
    add(
        "solve",
        _solve,
        "solve a problem: enter moves, the best defence replies",
        "arena problems solve 12",
        'arena problems solve 12 --moves "b1b3" --json',
        "arena problems solve 12 --solution",
    )
    add("month", _month, "choose the problem of a month", "arena problems month 12 --month 2026-12")
    add(
        "remove",
        _remove,
        "remove a problem; the ratings of those who tried it stay",
        "arena problems remove 12",
        "arena problems remove 12 --server https://arena.example",
    )


def _add(arguments: AddProblemArguments) -> int:
    if arguments.file:
        lines = [line for line in text_input.read_text(arguments.file).splitlines() if line.strip()]
        requests = [FoundProblem.read(_json_object(line)).request for line in lines]
    else:
        request = WinProblemRequest(
            family=arguments.family,
            variant=arguments.variant,
            options=written_options(argument.read_options(arguments.options)),
            position=arguments.position or "",
            max_moves=arguments.max_moves,
            condition=arguments.condition,
            title=arguments.title,
            text=arguments.text,
            source=arguments.source,
        )
        requests = [request]
    added: list[dict[str, Any]] = []
    with open_problems(arguments) as source:
        for number, request in enumerate(requests, 1):
            output.progress(f"problem {number} of {len(requests)}")
            try:
                added.append(source.add_problem(request))
            except ArenaError as error:
                if len(requests) == 1 or error.kind != "conflict":
                    raise
                output.note(f"left out: {error}")
    output.progress("")

    def show() -> None:
        for problem in added:
            reason = f": {problem['problem']}" if problem["problem"] else ""
            output.text(f"problem {problem['id']}: {problem['state']}{reason}")

    Printer(arguments).result({"problems": added}, show, "problems")
    return Exit.FAILED if any(problem["state"] == "refused" for problem in added) else Exit.DONE


def _json_object(line: str) -> Mapping[str, Any]:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise CommandError(f"not JSON: {line[:60]!r}: {error}") from None
    return value if isinstance(value, dict) else {}


_COLUMNS: tuple[Column[WinProblemItem], ...] = (
    Column("id", "number", lambda problem: problem.id),
    text_column("family", "family", lambda problem: problem.family),
    Column("moves", "in", lambda problem: problem.moves),
    text_column("level", "level", lambda problem: problem.level),
    Column("rating", "strength", lambda problem: problem.rating, "strength"),
    Column("solved", "solved", lambda problem: problem.solved),
    Column("attempts", "attempts", lambda problem: problem.attempts, drop=2),
    text_column("month", "month", lambda problem: problem.month, drop=1),
    text_column("title", "title", lambda problem: problem.title),
    text_column("source", "source", lambda problem: problem.source, drop=3),
)


def _list(arguments: ProblemsArguments) -> None:
    with open_problems(arguments) as source:
        items = source.problems(WinProblemQuery(**arguments.filters))
    empty = "no problem matches; find some with `arena problems find FAMILY --arena`"
    Printer(arguments).rows(items, _COLUMNS, WinProblemItem, empty=empty)


def _show(arguments: ProblemArguments) -> None:
    with open_problems(arguments) as source:
        found = source.problem(arguments.number)
    Printer(arguments).result(found, lambda: output.text(*_question(found)))


def _position(found: Mapping[str, Any]) -> Position:
    from referee.rules import load
    from referee.rules.position import Position

    return Position.start(load(found["family"]).settle(found["variant"], found["options"]), found["position"])


def _question(problem: Mapping[str, Any]) -> list[str]:
    """Format a problem as lines: its title, its position and the question."""
    position = _position(problem)
    limit = f" with {problem['condition']}" if problem["condition"] else ""
    length = problem["moves"] or f"at most {problem['max_moves']}"
    head = [text for text in (problem["title"], problem["text"]) if text]
    question = f"{game_view.side_name(position.ruleset, problem['side'])} to move wins in {length}{limit}"
    state = [] if problem["state"] == "accepted" else [f"{problem['state']} {problem['problem']}".strip()]
    return [*head, game_view.drawing(position), f"position {problem['position']}", question, *state]


def _solve(arguments: AnswerArguments) -> int:
    printer = Printer(arguments)
    with open_problems(arguments) as source:
        if arguments.solution:
            solution = source.solution(arguments.number)
            printer.result(solution, lambda: output.text(solution["text"]))
            return Exit.DONE
        if arguments.moves is not None:
            answer = source.attempt(arguments.number, arguments.moves.split())
            printer.result(answer, lambda: output.text(_answer(answer)))
            return Exit.FAILED if answer["state"] == "wrong" else Exit.DONE
        problem = source.problem(arguments.number)
        output.text(*_question(problem))
        answer = _solve_by_dialogue(source, arguments.number)
        printer.result(answer)
        return Exit.FAILED if answer.get("state") != "solved" else Exit.DONE


def _solve_by_dialogue(source: ProblemSource, number: int) -> dict[str, Any]:
    """Read moves from standard input until the problem is solved or the input ends; return the last verdict."""
    moves: list[str] = []
    answer: dict[str, Any] = {}
    output.note("enter a move; end with Ctrl-D")
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            answer = source.attempt(number, [*moves, *line.split()])
        except ArenaError as error:
            output.note(f"{error}; {error.hint}" if error.hint else str(error))
            continue
        output.text(_answer(answer))
        if answer["state"] == "solved":
            break
        if answer["state"] == "continue":
            moves = answer["moves"]
    return answer


def _answer(answer: Mapping[str, Any]) -> str:
    """Format the verdict on a line of play."""
    if answer["state"] == "wrong":
        return f"{answer['moves'][-1]} does not win in time"
    if answer["state"] == "solved":
        return f"solved: {' '.join(answer['moves'])}"
    return f"right; the defence plays {answer['moves'][-1]}, moves left: {answer['left']}"


def _month(arguments: MonthArguments) -> None:
    with open_problems(arguments) as source:
        found = source.choose_of_month(arguments.number, arguments.month)
    Printer(arguments).result(found, lambda: output.text(f"problem {found['id']} is that of {found['month']}"))


def _remove(arguments: ProblemArguments) -> None:
    with open_problems(arguments) as source:
        source.remove_problem(arguments.number)
    found = {"id": arguments.number, "state": "removed"}
    Printer(arguments).result(found, lambda: output.text(f"problem {arguments.number} removed"))
