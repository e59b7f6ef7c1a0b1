"""`arena problems find|add|list|show|solve|month|remove`: find problems in games, add them to
an arena, and solve them.

The problems and games of an arena are those of this machine's data folder; with `--server`, those of a server.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from arena.cli.source.source import Source, add_source, open_source
from arena.cli.terminal import argument, board, output, text_input
from arena.cli.terminal.actions import Actions
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.interrupt import interruptible
from arena.cli.terminal.printer import Printer, add_output
from arena.cli.terminal.query_options import add_options, read_options
from arena.documents.archive import ArchiveQuery
from arena.documents.win_problem import MAX_MOVES, WinProblemQuery, WinProblemRequest
from arena.errors import ArenaError

if TYPE_CHECKING:
    from arena.collections.collection import CollectedGame, Collection
    from referee.rules.position import Position
    from referee.rules.rules import Ruleset
    from referee.solver.mining import MinedProblem, MiningLimits

MAX_NODES = 10**12


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    actions = Actions(parser)
    find = actions.add(
        "find",
        _find,
        "find problems in games: positions where the side to move wins in a few moves",
        "arena problems find abalone --collection migs.txt --in 2..4 --unique",
        "arena problems find loa --arena --games 500 --limit 10 -o ndjson",
    )
    argument.add_rules(find)
    where = find.add_mutually_exclusive_group(required=True)
    where.add_argument("--collection", metavar="FILE", help="game texts in any notation of the family; - for stdin")
    where.add_argument("--arena", action="store_true", help="examine games of the archive, the latest first")
    find.add_argument(
        "--games",
        metavar="COUNT",
        type=argument.positive,
        default=1000,
        help="with --arena: examine COUNT games (default: 1,000)",
    )
    find.add_argument(
        "--in",
        dest="lengths",
        metavar="MOVES",
        type=_lengths,
        default=(2, 5),
        help="length of the win in moves of the winning side: N or N..M (default: 2..5)",
    )
    find.add_argument("--unique", action="store_true", help="only problems with a single key move")
    find.add_argument(
        "--nodes",
        metavar="COUNT",
        type=_nodes,
        default=1_000_000,
        help="give up on a position after playing COUNT moves (default: 1,000,000)",
    )
    find.add_argument("--limit", metavar="COUNT", type=argument.positive, help="stop after COUNT problems")

    setting = actions.add(
        "add",
        _add,
        'add problems: one by its position, or those that "find" printed',
        'arena problems add loa --position "8/2w2w2/8/3bb3/2b1w3/8/3b4/8 b - 1" --in 3 --title "Close up"',
        "arena problems find loa --arena --unique -o ndjson | arena problems add loa --file -",
    )
    argument.add_rules(setting)
    which = setting.add_mutually_exclusive_group(required=True)
    which.add_argument("--position", metavar="POSITION", help="position in which the side to move wins")
    which.add_argument("--file", metavar="FILE", help='output of "arena problems find -o ndjson"; - for stdin')
    setting.add_argument(
        "--in",
        dest="max_moves",
        metavar="MOVES",
        type=_length,
        default=5,
        help="longest win allowed, in moves of the winning side (default: 5)",
    )
    setting.add_argument(
        "--condition",
        metavar="COUNTER<=NUMBER",
        default="",
        help="limit on a count over all moves of the winning side, such as marbles<=7",
    )
    setting.add_argument("--title", metavar="TEXT", default="", help="title of the problem")
    setting.add_argument("--text", metavar="TEXT", default="", help="description of the problem")
    setting.add_argument("--source", metavar="TEXT", default="", help="source of the problem, such as a game")

    listing = actions.add(
        "list", _list, "list problems, the latest first", "arena problems list --family loa --level hard"
    )
    add_options(listing, WinProblemQuery, without=("after",))

    show = actions.add("show", _show, "draw the position of a problem", "arena problems show 12")
    solve = actions.add(
        "solve",
        _solve,
        "solve a problem: enter moves, the best defence replies",
        "arena problems solve 12",
        'arena problems solve 12 --moves "b1b3" --json',
        "arena problems solve 12 --solution",
    )
    month = actions.add("month", _month, "choose the problem of a month", "arena problems month 12 --month 2026-12")
    remove = actions.add(
        "remove",
        _remove,
        "remove a problem; the ratings of those who tried it stay",
        "arena problems remove 12",
        "arena problems remove 12 --server https://arena.example",
    )
    for command in (show, solve, month, remove):
        command.add_argument("number", metavar="NUMBER", type=argument.positive, help="number of the problem")
    how = solve.add_mutually_exclusive_group()
    how.add_argument("--moves", metavar="MOVES", help="judge these moves, of which the last is yours, and exit")
    how.add_argument("--solution", action="store_true", help="print all solutions")
    month.add_argument("--month", metavar="YYYY-MM", help="the month (default: the present one)")
    for command in (find, setting, listing, show, solve, month, remove):
        add_source(command)
        add_output(command)


def _nodes(text: str) -> int:
    return argument.between(text, 1, MAX_NODES)


def _lengths(text: str) -> tuple[int, int]:
    shortest, _, longest = text.partition("..")
    low, high = argument.between(shortest, 1, MAX_MOVES), argument.between(longest or shortest, 1, MAX_MOVES)
    if low > high:
        raise argparse.ArgumentTypeError(f'invalid lengths "{text[:20]}": expected the smaller number first, as 2..5')
    return low, high


def _length(text: str) -> int:
    return argument.between(text, 1, MAX_MOVES)


def _find(arguments: argparse.Namespace) -> int:
    from referee.solver.mining import MiningLimits

    shortest, longest = arguments.lengths
    limits = MiningLimits(shortest, longest, arguments.unique, arguments.nodes)
    found: list[dict[str, Any]] = []
    count = 0
    with contextlib.ExitStack() as stack:
        for game in _games(arguments, stack):
            count += 1
            output.progress(f"game {count}, {len(found)} problems found")
            for problem in interruptible(_mined, game, limits):
                if arguments.limit is None or len(found) < arguments.limit:
                    found.append(_item(problem, game))
            if len(found) == arguments.limit:
                break
    output.progress("")
    Printer(arguments).result({"problems": found, "games": count}, lambda: _print_table(found), "problems")
    return Exit.DONE


@dataclass(frozen=True, slots=True)
class _Game:
    """A game to search for problems: `name` describes it, `line` is its place in the file (0 in the archive)."""

    ruleset: Ruleset
    start: str | None
    moves: Sequence[str]
    name: str
    line: int = 0


def _games(arguments: argparse.Namespace, stack: contextlib.ExitStack) -> Iterator[_Game]:
    """Yield the games of the file, or those of the archive."""
    if arguments.collection:
        if arguments.data or arguments.server:
            raise CommandError("--collection is a file; remove --data and --server, or choose --arena")
        for game in _read(arguments):
            yield _Game(game.ruleset, game.game.position, game.game.moves, _players(game.game.tags), game.line)
        return
    from referee.game.record import read_record, ruleset_of

    query = ArchiveQuery(family=arguments.family, variant=arguments.variant, order="falling")
    source = stack.enter_context(open_source(arguments))
    for text in islice(source.texts(query, "record"), arguments.games):
        record = read_record(text)
        yield _Game(ruleset_of(record), record.position, record.moves, f"{record.first} - {record.second}")


def _players(tags: Mapping[str, str]) -> str:
    """Format the players of a game; empty unless its tags name both."""
    names = [tags.get(name, "") for name in ("First", "Second")]
    return " - ".join(names) if all(names) else ""


def _mined(game: _Game, limits: MiningLimits) -> list[MinedProblem]:
    from referee.solver.mining import mine

    return list(mine(game.ruleset, game.start, game.moves, limits))


def _read(arguments: argparse.Namespace) -> list[CollectedGame]:
    """Return the valid games of the collection, and report the invalid ones."""
    from arena.collections.collection import best_reading
    from arena.collections.record_format import RECORD

    ruleset = argument.settle(arguments)
    text = text_input.read_text(arguments.collection)
    try:
        collection: Collection = best_reading(text, ruleset, (*ruleset.rules.formats, RECORD))
    except ValueError as error:
        raise CommandError(f"{arguments.collection}: {error}") from None
    output.note(*(f"{arguments.collection}: {problem}" for problem in collection.problems))
    return list(collection.games)


def _item(problem: MinedProblem, game: _Game) -> dict[str, Any]:
    """Convert a mined problem to JSON data."""
    write, solution = game.ruleset.rules.notation.write_move, problem.solution
    return {
        "family": game.ruleset.rules.family,
        "variant": game.ruleset.variant.name,
        "options": game.ruleset.overrides,
        "position": str(problem.position),
        "side": problem.position.side,
        "in": solution.moves,
        "keys": sorted(map(write, solution.keys)),
        "unique": solution.is_unique,
        "line": list(map(write, solution.line)),
        "quiet": problem.is_quiet,
        "tries": problem.tries,
        "level": problem.level,
        "source": f"{game.name}, ply {problem.ply}".removeprefix(", ")[-80:],
        "game_line": game.line,
        "ply": problem.ply,
    }


def _print_table(found: list[dict[str, Any]]) -> None:
    output.table(
        ("in", "level", "unique", "quiet", "tries", "key", "side", "position"),
        [
            (
                str(one["in"]),
                one["level"],
                "yes" if one["unique"] else "no",
                "yes" if one["quiet"] else "no",
                str(one["tries"]),
                " ".join(one["keys"][:3]) + (" …" if len(one["keys"]) > 3 else ""),
                one["side"],
                one["position"],
            )
            for one in found
        ],
        numbers=("in", "tries"),
    )


# setting and solving


def _add(arguments: argparse.Namespace) -> int:
    from arena.services.problems import request_of

    if arguments.file:
        lines = [line for line in text_input.read_text(arguments.file).splitlines() if line.strip()]
        requests = [request_of(_document(line)) for line in lines]
    else:
        known = ("position", "max_moves", "condition", "title", "text", "source")
        options = ",".join(f"{name}={value}" for name, value in argument.read_options(arguments.options).items())
        given = {name: getattr(arguments, name) for name in known}
        requests = [WinProblemRequest(family=arguments.family, variant=arguments.variant, options=options, **given)]
    added: list[dict[str, Any]] = []
    with open_source(arguments, creates=True) as source:
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
        for one in added:
            reason = f": {one['problem']}" if one["problem"] else ""
            output.text(f"problem {one['id']}: {one['state']}{reason}")

    Printer(arguments).result({"problems": added}, show, "problems")
    return Exit.FAILED if any(one["state"] == "refused" for one in added) else Exit.DONE


def _document(line: str) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise CommandError(f"not JSON: {line[:60]!r}: {error}") from None
    return found if isinstance(found, dict) else {}


_COLUMNS = (
    ("number", "id"),
    ("family", "family"),
    ("in", "moves"),
    ("level", "level"),
    ("strength", "rating"),
    ("solved", "solved"),
    ("attempts", "attempts"),
    ("month", "month"),
    ("title", "title"),
    ("source", "source"),
)


def _list(arguments: argparse.Namespace) -> int:
    query = WinProblemQuery(**read_options(arguments, WinProblemQuery, without=("after",)))
    with open_source(arguments) as source:
        items = source.problems(query)
    empty = "no problem matches; find some with: arena problems find"
    Printer(arguments).rows(items, _COLUMNS, empty=empty, drop=("source", "attempts", "month"))
    return Exit.DONE


def _show(arguments: argparse.Namespace) -> int:
    with open_source(arguments) as source:
        found = source.problem(arguments.number)
    Printer(arguments).result(found, lambda: output.text(*_question(found)))
    return Exit.DONE


def _position(found: Mapping[str, Any]) -> Position:
    from referee.rules import load
    from referee.rules.position import Position

    return Position.start(load(found["family"]).settle(found["variant"], found["options"]), found["position"])


def _question(found: Mapping[str, Any]) -> list[str]:
    """Format a problem as lines: its title, its position and the question."""
    position = _position(found)
    limit = f" with {found['condition']}" if found["condition"] else ""
    length = found["moves"] or f"at most {found['max_moves']}"
    head = [text for text in (found["title"], found["text"]) if text]
    question = f"{board.side_name(position.ruleset, found['side'])} to move wins in {length}{limit}"
    state = [] if found["state"] == "accepted" else [f"{found['state']} {found['problem']}".strip()]
    return [*head, board.drawing(position), f"position {found['position']}", question, *state]


def _solve(arguments: argparse.Namespace) -> int:
    printer = Printer(arguments)
    with open_source(arguments) as source:
        if arguments.solution:
            found = source.solution(arguments.number)
            printer.result(found, lambda: output.text(found["text"]))
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


def _solve_by_dialogue(source: Source, number: int) -> dict[str, Any]:
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


def _month(arguments: argparse.Namespace) -> int:
    with open_source(arguments) as source:
        found = source.choose_of_month(arguments.number, arguments.month)
    Printer(arguments).result(found, lambda: output.text(f"problem {found['id']} is that of {found['month']}"))
    return Exit.DONE


def _remove(arguments: argparse.Namespace) -> int:
    with open_source(arguments) as source:
        source.remove_problem(arguments.number)
    found = {"id": arguments.number, "state": "removed"}
    Printer(arguments).result(found, lambda: output.text(f"problem {arguments.number} removed"))
    return Exit.DONE
