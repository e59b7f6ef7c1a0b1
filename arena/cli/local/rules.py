"""`arena rules list|moves|vectors|convert|setup|conformance|new`: list, show and test rules, without any server."""

from __future__ import annotations

import argparse
import textwrap
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.cli.local import family_package
from arena.cli.terminal import argument, output, text_input
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import Actions, option, positional
from arena.cli.terminal.printer import ListOutput, Output, Printer
from arena.cli.terminal.rules_arguments import PositionArguments, RulesArguments
from arena.documents.table import Column, text_column
from referee.rules.core import ParseError, value_text
from referee.rules.rules import Variant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.rules.rules import GameFormat, GameText, Option, Rules, Ruleset
    from referee.rules.vectors import VectorReport


@dataclass(frozen=True, kw_only=True)
class FamiliesArguments(ListOutput):
    families: tuple[str, ...] = positional("default: all", "FAMILY", type=argument.family, default=())


@dataclass(frozen=True, kw_only=True)
class MovesArguments(PositionArguments, Output):
    moves: str = option("moves to play first, separated by spaces", metavar="MOVES", default="")


@dataclass(frozen=True, kw_only=True)
class VectorsArguments(Output):
    files: tuple[Path, ...] = positional("JSON file of test vectors", "FILE", nargs="+")
    only: str | None = option("check one kind of entry: perft, positions, games, ...", metavar="KIND")
    max_nodes: int | None = option(
        "skip perft entries above this number of nodes", metavar="COUNT", type=argument.positive
    )


@dataclass(frozen=True, kw_only=True)
class ConvertArguments(RulesArguments):
    source: str = option("format of stdin; auto: detect it", "--from", metavar="FORMAT", default=MISSING)
    target: str = option("format to write", "--to", metavar="FORMAT", default=MISSING)


@dataclass(frozen=True, kw_only=True)
class SetupArguments(Output):
    family: str = positional("family with numbered setups", "FAMILY", type=argument.family)
    position: str | None = option("position string, or setup notation", metavar="POSITION", only_one="start")
    name: str | None = option(
        "variant, or a numbered start of one (default: first variant)", metavar="NAME", only_one="start"
    )


def add(parser: argparse.ArgumentParser) -> None:
    actions = Actions(parser)
    actions.add("list", _list, "list families with their variants and options")
    actions.add(
        "moves",
        _moves,
        "show the legal moves of a position",
        'arena rules moves loa --moves "b1b3 h5f5"',
        'arena rules moves loa --position "8/8/2wb4/8/2b2w2/8/8/8 b - 36"',
    )
    actions.add(
        "vectors",
        _vectors,
        "check files of test vectors",
        "arena rules vectors tests/data/vectors/loa.json",
        "arena rules vectors --only perft --max-nodes 100000 FILE",
    )
    actions.add(
        "convert",
        _convert,
        "convert game texts from stdin",
        "arena rules convert loa --from loa --to record < game.txt",
        description='Read game texts from stdin and write them to stdout. The format "record" is the arena\'s '
        "own: one JSON object per line and game. List a family's other formats with: arena rules list --json.",
    )
    actions.add(
        "setup",
        _setup,
        "show the numbers and permutations of a setup",
        "arena rules setup pijersi --name pijersi-8100#17",
        'arena rules setup pijersi --position "a16:RPSRPS / b17:PSR(WW)SRP / f17:prs(ww)rsp / g16:sprspr"',
    )
    family_package.add(actions)


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


def _list(arguments: FamiliesArguments) -> None:
    from referee.rules import families, load

    chosen = [load(family) for family in arguments.families or families()]
    Printer(arguments).result(
        {"families": [_family_json(rules) for rules in chosen]}, lambda: _show_families(chosen), "families"
    )


def _show_families(families: Sequence[Rules]) -> None:
    for rules in families:
        output.text(f"{output.styled(rules.family, 'bold')}  {rules.title}, rules version {rules.version}")
        output.text(f"First to move: {rules.sides[0]}, then {rules.sides[1]}.")
        if rules.summary:
            output.text(textwrap.fill(rules.summary, output.width()))
        if rules.words.family:
            output.text(f"Also called {', '.join(rules.words.family)}.")
        output.table(_variants(rules), rules.variants)
        if rules.options:
            output.table(_OPTIONS, rules.options)


def _variants(rules: Rules) -> tuple[Column[Variant], ...]:
    return (
        text_column("name", "variant", lambda variant: variant.name),
        text_column("also", "also", lambda variant: ", ".join(rules.words.variants.get(variant.name, ())), drop=1),
        text_column(
            "options",
            "options",
            lambda variant: " ".join(f"{name}={value_text(value)}" for name, value in variant.options.items()),
            wraps=True,
        ),
        text_column("position", "position", lambda variant: variant.position),
    )


_OPTIONS: tuple[Column[Option], ...] = (
    text_column("name", "option", lambda option: option.name),
    text_column("values", "values", lambda option: [value_text(value) for value in _values(option)], wraps=True),
    text_column("default", "default", lambda option: value_text(option.default)),
    text_column("changes", "changes", lambda option: option.changes, drop=1),
    text_column("meaning", "meaning", lambda option: option.meaning, wraps=True),
)


# moves


def _moves(arguments: MovesArguments) -> None:
    position = arguments.start()
    for move in arguments.moves.split():
        position = position.play(move)

    from arena.cli.terminal import game_view

    def show() -> None:
        output.text(game_view.drawing(position), "", f"position {position}", game_view.status(position))
        output.text(f"{len(position.moves)} legal moves")
        if position.moves:
            output.text(textwrap.fill(" ".join(position.texts), output.width(), break_on_hyphens=False))

    Printer(arguments).result(
        {
            "position": str(position),
            "side": position.side,
            "legal_moves": position.texts,
            "result": game_view.result_json(position.outcome),
        },
        show,
    )


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
            output.text(
                f"    to locate it: `arena perft {family}{variant}{options}{position} --divide --depth {depth}`"
            )


def _vectors(arguments: VectorsArguments) -> int:
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
    from arena.collections.recorded import RECORD
    from referee.rules.core import UnknownNameError

    formats = {form.name: form for form in (*rules.formats, RECORD)}
    if name not in formats:
        raise UnknownNameError(f"format of {rules.family}", name, tuple(formats))
    return formats[name]


AUTO = "auto"
"""Value of `--from` that selects the format which reads most moves."""


def _read_any(text: str, ruleset: Ruleset) -> tuple[str, Sequence[GameText]]:
    """Return the name of the format that reads most moves of a text, and the games. Raises ParseError if none can."""
    from arena.collections.recorded import RECORD

    readings: list[tuple[str, Sequence[GameText]]] = []
    problems: list[ParseError] = []
    for form in (*ruleset.rules.formats, RECORD):
        try:
            readings.append((form.name, form.read(text, ruleset)))
        except ParseError as error:
            problems.append(error)
    if not readings:
        raise max(problems, key=lambda error: error.index)
    return max(readings, key=lambda reading: sum(len(game.moves) for game in reading[1]))


def _convert(arguments: ConvertArguments) -> None:
    ruleset = arguments.settle()
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
    unread = sum(game.unread for game in games)
    many = "s" * (unread > 1)
    told = f"; {unread} variation{many} kept as comment{many}" if unread else ""
    output.note(f"{len(games)} game{'s' if len(games) > 1 else ''} converted{told}")


# setup


def _setup(arguments: SetupArguments) -> None:
    from referee.rules import load

    rules = load(arguments.family)
    if rules.setups is None:
        raise CommandError(f"{rules.family} has no numbered setups; try `arena rules list {rules.family}`")
    ruleset = rules.settle(arguments.name)
    state = ruleset.read(arguments.position)
    position = ruleset.write(state)
    numbers = {family: list(places) for family, places in rules.setups.numbers(position).items()}
    permutations = rules.setups.permutations(position)
    lines = [f"position {position}", f"notation {rules.setups.write(state)}"]
    names = [f"{family}#{number}" for family, places in numbers.items() for number in places]
    lines.append("numbers  " + (" ".join(names) or "none: not a numbered setup"))
    for place, other in enumerate(permutations[1:]):
        others = [f"{family}#{number}" for family, ones in rules.setups.numbers(other).items() for number in ones]
        lines.append(f"{'equals' if place == 0 else '':8} {other}  {' '.join(others)}".rstrip())
    Printer(arguments).result(
        {
            "position": position,
            "notation": rules.setups.write(state),
            "numbers": numbers,
            "permutations": list(permutations),
        },
        lambda: output.text(*lines),
    )
