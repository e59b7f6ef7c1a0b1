"""`arena problems find`: positions of a collection with a short forced win, solved and graded."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from arena.cli.terminal import argument, output, text_input
from arena.cli.terminal.actions import Actions
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.interrupt import interruptible
from arena.cli.terminal.printer import Printer, add_output

if TYPE_CHECKING:
    from arena.collections.collection import CollectedGame, Collection
    from referee.solver.mining import MinedProblem, MiningLimits

MAX_MOVES = 8
MAX_NODES = 10**12


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the sub-commands."""
    actions = Actions(parser)
    find = actions.add(
        "find",
        _find,
        "find problems in games: positions where the side to move wins in a few moves",
        "arena problems find abalone --collection migs.txt --in 2..4 --unique",
        "arena problems find loa --collection games.ndjson --limit 10 -o ndjson",
    )
    argument.add_rules(find)
    find.add_argument(
        "--collection", metavar="FILE", required=True, help="game texts in any notation of the family; - for stdin"
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
        help="moves played for one position before it is passed over (default: 1,000,000)",
    )
    find.add_argument("--limit", metavar="COUNT", type=argument.positive, help="stop after COUNT problems")
    add_output(find)


def _nodes(text: str) -> int:
    return argument.between(text, 1, MAX_NODES)


def _lengths(text: str) -> tuple[int, int]:
    shortest, _, longest = text.partition("..")
    low, high = argument.between(shortest, 1, MAX_MOVES), argument.between(longest or shortest, 1, MAX_MOVES)
    if low > high:
        raise argparse.ArgumentTypeError(f'invalid lengths "{text[:20]}": expected the smaller number first, as 2..5')
    return low, high


def _find(arguments: argparse.Namespace) -> int:
    from referee.solver.mining import MiningLimits

    games = _read(arguments)
    shortest, longest = arguments.lengths
    limits = MiningLimits(shortest, longest, arguments.unique, arguments.nodes)
    found: list[dict[str, Any]] = []
    for number, game in enumerate(games, 1):
        output.progress(f"game {number} of {len(games)}, {len(found)} problems found")
        for problem in interruptible(_mined, game, limits):
            if arguments.limit is None or len(found) < arguments.limit:
                found.append(_item(problem, game))
        if len(found) == arguments.limit:
            break
    output.progress("")
    Printer(arguments).result({"problems": found, "games": len(games)}, lambda: _print_table(found), "problems")
    return Exit.DONE


def _mined(game: CollectedGame, limits: MiningLimits) -> list[MinedProblem]:
    from referee.solver.mining import mine

    return list(mine(game.ruleset, game.game.position, game.game.moves, limits))


def _read(arguments: argparse.Namespace) -> list[CollectedGame]:
    """Return the valid games of the collection, and report the others."""
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


def _item(problem: MinedProblem, game: CollectedGame) -> dict[str, Any]:
    """Return a problem as JSON."""
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
