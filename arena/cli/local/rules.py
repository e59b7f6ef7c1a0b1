"""`arena rules list|moves|vectors|convert|setup|conformance|new`: list, show and test rules, without any server."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.cli.local import family_package
from arena.cli.terminal import argument, output, text_input
from arena.cli.terminal.actions import Actions
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.printer import Printer, add_output
from referee.rules.core import ParseError, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.rules.rules import GameFormat, GameText, Option, Rules, Ruleset
    from referee.rules.vectors import VectorReport


def add(parser: argparse.ArgumentParser) -> None:
    actions = Actions(parser)

    listing = actions.add("list", _list, "list families with their variants and options")
    listing.add_argument("families", metavar="FAMILY", type=argument.family, nargs="*", help="default: all")

    moves = actions.add(
        "moves",
        _moves,
        "show the legal moves of a position",
        'arena rules moves loa --moves "b1b3 h5f5"',
        'arena rules moves loa --position "8/8/2wb4/8/2b2w2/8/8/8 b - 36"',
    )
    argument.add_rules(moves)
    argument.add_position(moves)
    moves.add_argument("--moves", metavar="MOVES", default="", help="moves to play first, separated by spaces")

    vectors = actions.add(
        "vectors",
        _vectors,
        "check files of test vectors",
        "arena rules vectors tests/data/vectors/loa.json",
        "arena rules vectors --only perft --max-nodes 100000 FILE",
    )
    vectors.add_argument("files", metavar="FILE", nargs="+", type=Path, help="JSON file of test vectors")
    vectors.add_argument("--only", metavar="KIND", help="check one kind of entry: perft, positions, games, ...")
    vectors.add_argument(
        "--max-nodes", metavar="COUNT", type=argument.positive, help="skip perft entries above this number of nodes"
    )

    convert = actions.add(
        "convert",
        _convert,
        "convert game texts from stdin",
        "arena rules convert loa --from loa --to record < game.txt",
        description='Read game texts from stdin and write them to stdout. The format "record" is the arena\'s '
        "own: one JSON object per line and game. List a family's other formats with: arena rules list --json.",
    )
    argument.add_rules(convert)
    convert.add_argument(
        "--from",
        dest="source",
        metavar="FORMAT",
        required=True,
        help="format of stdin; auto: detect it",
    )
    convert.add_argument("--to", dest="target", metavar="FORMAT", required=True, help="format to write")

    setup = actions.add(
        "setup",
        _setup,
        "show the numbers and permutations of a setup",
        "arena rules setup pijersi --name pijersi-8100#17",
        'arena rules setup pijersi --position "a16:RPSRPS / b17:PSR(WW)SRP / f17:prs(ww)rsp / g16:sprspr"',
    )
    setup.add_argument("family", metavar="FAMILY", type=argument.family, help="family with numbered setups")
    which = setup.add_mutually_exclusive_group()
    which.add_argument("--position", metavar="POSITION", help="position string, or setup notation")
    which.add_argument("--name", metavar="NAME", help="variant, or a numbered start of one (default: first variant)")

    family_package.add(actions)
    for command in (listing, moves, vectors, setup):
        add_output(command)


# list


def _values(option: Option) -> list[Any]:
    return [False, True] if option.type == "check" else list(option.names())


def _option_json(option: Option) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": option.name,
        "type": option.type,
        "values": _values(option),
        "default": option.default,
        "changes": option.changes,
        "meaning": option.meaning,
    }
    if option.type == "spin":
        data |= {"minimum": option.minimum, "maximum": option.maximum, "excluded": list(option.excluded)}
    return data


def _family_json(rules: Rules) -> dict[str, Any]:
    return {
        "family": rules.family,
        "title": rules.title,
        "version": rules.version,
        "sides": list(rules.sides),
        "names": list(rules.words.family),
        "words": {name: list(words) for name, words in rules.words.terms.items()},
        "summary": rules.summary,
        "variants": [
            {
                "name": variant.name,
                "options": dict(variant.options),
                "position": variant.position,
                "note": variant.note,
                "names": list(rules.words.variants.get(variant.name, ())),
            }
            for variant in rules.variants
        ],
        "options": [_option_json(option) for option in rules.options],
        "formats": [{"name": form.name, "note": form.note} for form in rules.formats],
    }


def _list(arguments: argparse.Namespace) -> int:
    from referee.rules import families, load

    found = [load(family) for family in arguments.families or families()]
    Printer(arguments).result(
        {"families": [_family_json(rules) for rules in found]}, lambda: _show_families(found), "families"
    )
    return Exit.DONE


def _show_families(found: Sequence[Rules]) -> None:
    for rules in found:
        output.text(f"{output.styled(rules.family, 'bold')}  {rules.title}, rules version {rules.version}")
        output.text(f"First to move: {rules.sides[0]}, then {rules.sides[1]}.")
        if rules.summary:
            output.text(textwrap.fill(rules.summary, output.width()))
        if rules.words.family:
            output.text(f"Also called {', '.join(rules.words.family)}.")
        output.table(
            ("variant", "also", "options", "position"),
            (
                (
                    variant.name,
                    ", ".join(rules.words.variants.get(variant.name, ())),
                    " ".join(f"{name}={value_text(value)}" for name, value in variant.options.items()),
                    variant.position,
                )
                for variant in rules.variants
            ),
            drop=("also",),
            wrap=("options",),
        )
        if not rules.options:
            continue
        output.table(
            ("option", "values", "default", "changes", "meaning"),
            (
                (
                    option.name,
                    " ".join(option.names()),
                    value_text(option.default),
                    option.changes,
                    option.meaning,
                )
                for option in rules.options
            ),
            drop=("changes",),
            wrap=("values", "meaning"),
        )


# moves


def _moves(arguments: argparse.Namespace) -> int:
    position = argument.start(arguments)
    for move in arguments.moves.split():
        position = position.play(move)

    from arena.cli.terminal import board

    def show() -> None:
        output.text(board.drawing(position), "", f"position {position}", board.status(position))
        output.text(f"{len(position.moves)} legal moves")
        if position.moves:
            output.text(textwrap.fill(" ".join(position.texts), output.width(), break_on_hyphens=False))

    Printer(arguments).result(
        {
            "position": str(position),
            "side": position.side,
            "legal_moves": position.texts,
            "result": board.result_json(position.outcome),
        },
        show,
    )
    return Exit.DONE


# vectors


def _report(report: VectorReport, family: str) -> None:
    verdict = output.styled("FAILED", "bold", "red") if report.failed else output.styled("ok", "green")
    output.text(f"{verdict} {report.file}: {report.checked} checked, {report.failed} failed, {report.skipped} skipped")
    for failure in report.failures:
        options = "".join(f" --option {name}={value_text(value)}" for name, value in failure.options.items())
        output.text(f"  {failure.kind}[{failure.index}] {failure.variant}{options}: {failure.problem}")
        output.text(f"    position {failure.position or 'start'}" + (f"  ({failure.note})" if failure.note else ""))
        if failure.kind == "perft":
            variant = f" --variant {failure.variant}" if failure.variant else ""
            position = f' --position "{failure.position}"' if failure.position else ""
            depth = failure.problem.removeprefix("perft ").partition(":")[0]
            output.text(f"    to locate it: arena perft {family}{variant}{options}{position} --divide --depth {depth}")


def _vectors(arguments: argparse.Namespace) -> int:
    from referee.bot.input_file import refuse_special
    from referee.rules.core import UnknownNameError
    from referee.rules.vectors import CHECKS, check_file, read_file

    if arguments.only and arguments.only not in CHECKS:
        raise UnknownNameError("kind of entry", arguments.only, tuple(CHECKS))
    families = []
    for path in arguments.files:  # read all files first, so that a typo is reported before the checks start
        refuse_special(path)
        try:
            families.append(read_file(path)["game"])
        except ValueError as error:
            raise CommandError(str(error)) from None
    printer, reports = Printer(arguments), []
    for path, game in zip(arguments.files, families, strict=True):
        report = check_file(path, arguments.only, arguments.max_nodes)
        reports.append(report)
        if printer.is_for_people:
            _report(report, game)
    printer.result({"files": [report.as_json() for report in reports]}, items="files")
    return Exit.FAILED if any(report.failed for report in reports) else Exit.DONE


# convert


def _format(rules: Rules, name: str) -> GameFormat:
    from arena.collections.record_format import RECORD
    from referee.rules.core import UnknownNameError

    formats = {form.name: form for form in (*rules.formats, RECORD)}
    if name not in formats:
        raise UnknownNameError(f"format of {rules.family}", name, tuple(formats))
    return formats[name]


AUTO = "auto"
"""Value of `--from` that selects the format which reads most moves."""


def _read_any(text: str, ruleset: Ruleset) -> tuple[str, Sequence[GameText]]:
    """Return the name of the format that reads most moves of a text, and the games. Raises ParseError if none can."""
    from arena.collections.record_format import RECORD

    found: list[tuple[str, Sequence[GameText]]] = []
    problems: list[ParseError] = []
    for form in (*ruleset.rules.formats, RECORD):
        try:
            found.append((form.name, form.read(text, ruleset)))
        except ParseError as error:
            problems.append(error)
    if not found:
        raise max(problems, key=lambda error: error.index)
    return max(found, key=lambda each: sum(len(game.moves) for game in each[1]))


def _convert(arguments: argparse.Namespace) -> int:
    ruleset = argument.settle(arguments)
    given = None if arguments.source == AUTO else _format(ruleset.rules, arguments.source)
    target = _format(ruleset.rules, arguments.target)
    text = text_input.read_text("-")
    name, games = (given.name, given.read(text, ruleset)) if given else _read_any(text, ruleset)
    if not games:
        raise CommandError(f"no game in format {name} on stdin; pipe a file into this command")
    for game in games:
        output.text(target.write(game, ruleset).rstrip("\n"))
        if target.name != "record":
            output.text("")
    output.note(f"{len(games)} game{'s' if len(games) > 1 else ''} converted")
    return Exit.DONE


# setup


def _setup(arguments: argparse.Namespace) -> int:
    from referee.rules import load

    rules = load(arguments.family)
    if rules.setups is None:
        raise CommandError(f"{rules.family} has no numbered setups; try: arena rules list {rules.family}")
    ruleset = rules.settle(arguments.name)
    state = ruleset.read(arguments.position)
    position = ruleset.write(state)
    numbers = {family: list(found) for family, found in rules.setups.numbers(position).items()}
    permutations = rules.setups.permutations(position)
    lines = [f"position {position}", f"notation {rules.setups.write(state)}"]
    names = [f"{family}#{number}" for family, found in numbers.items() for number in found]
    lines.append("numbers  " + (" ".join(names) or "none: not a numbered setup"))
    for place, other in enumerate(permutations[1:]):
        found = [f"{family}#{one}" for family, ones in rules.setups.numbers(other).items() for one in ones]
        lines.append(f"{'equals' if place == 0 else '':8} {other}  {' '.join(found)}".rstrip())
    Printer(arguments).result(
        {
            "position": position,
            "notation": rules.setups.write(state),
            "numbers": numbers,
            "permutations": list(permutations),
        },
        lambda: output.text(*lines),
    )
    return Exit.DONE
