"""`arena book make|check`: make and check opening books, for `arena play --openings FILE` and for tournaments."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.cli.source.database import DatabaseArguments, open_store
from arena.cli.terminal import argument, output, text_input
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import Actions, filters, option, positional
from arena.cli.terminal.printer import Output, Printer
from arena.cli.terminal.rules_arguments import RulesArguments, family_option
from arena.documents.archive import ExplorerQuery

if TYPE_CHECKING:
    from arena.collections.book import BookLine
    from referee.rules.rules import Ruleset

MAX_PLIES = 60
_GAMES = "from games of the archive (without a search)"
_LINE = ("variant", "position", "moves")
"""Fields of the query that choose the position; the others choose games."""


def _share(text: str) -> float:
    """Parse a share of a point. Raises ArgumentTypeError."""
    try:
        if 0 <= (value := float(text)) <= 0.5:
            return value
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number from 0 to 0.5")


@dataclass(frozen=True, kw_only=True)
class MakeArguments(RulesArguments, DatabaseArguments):
    plies: int | None = option(
        "length of the openings (default 4; 0 with --setups)", metavar="COUNT", type=argument.whole
    )
    setups: str | None = option("start from set-ups drawn from this variant", metavar="VARIANT")
    count: int = option("make COUNT openings", metavar="COUNT", type=argument.positive, default=20)
    seed: int = option("seed of the random moves (default 0)", metavar="SEED", type=argument.whole, default=0)
    margin: int = option(
        "centipawns that either side may be ahead", metavar="CENTIPAWNS", type=argument.whole, default=50
    )
    depth: int = option("search to this depth; 0: no search", metavar="PLIES", type=argument.whole, default=4)
    fair: float | None = option(
        "take starts of the atlas in which no side is ahead by SHARE of a point or more, with 95 % confidence",
        metavar="SHARE",
        type=_share,
    )
    output_file: Path | None = option("write the book to FILE (default: stdout)", metavar="FILE")
    from_games: bool = option(
        "choose openings that were played in games, by their results", default=False, group=_GAMES
    )
    games: int = option(
        "take openings with at least COUNT results",
        metavar="COUNT",
        type=argument.positive,
        default=20,
        group=_GAMES,
    )
    balance: float = option(
        "take openings in which the first side's share of points is within SHARE of a half",
        metavar="SHARE",
        type=_share,
        default=0.1,
        group=_GAMES,
    )
    filters: Mapping[str, Any] = filters(ExplorerQuery, without=_LINE, group=_GAMES)


@dataclass(frozen=True, kw_only=True)
class CheckBookArguments(RulesArguments, Output):
    family: str = family_option("family of the openings")
    file: Path = positional("book of openings", "FILE")


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the two subcommands."""
    actions = Actions(parser)
    actions.add(
        "make",
        _make,
        "make a book of openings that a search finds balanced",
        "arena book make loa --plies 6 --count 50 --seed 1 --margin 50 --depth 6 --output-file loa.book",
        "arena book make pijersi --setups pijersi-8100 --count 100 --depth 0 --output-file setups.book",
        "arena book make pijersi --variant standard --fair 0.05 --count 50 --output-file fair.book",
        "arena book make loa --from-games --plies 4 --games 20 --balance 0.1 --count 30 --output-file played.book",
    )
    actions.add("check", _check, "check a book, and report the line of its first error")


def _make(arguments: MakeArguments) -> None:
    from functools import partial

    from arena.analysis.engine import ANALYSIS_ENGINE, EngineError, score_of
    from arena.collections.book import BookError, make_book, write_book
    from referee.play.roster import Roster
    from referee.sandbox import Sandbox

    ruleset = arguments.settle()
    if arguments.fair is not None:
        _make_fair(arguments, ruleset, arguments.fair)
        return
    if arguments.from_games:
        _make_from_games(arguments, ruleset)
        return
    plies = arguments.plies if arguments.plies is not None else 0 if arguments.setups else 4
    if plies > MAX_PLIES:
        raise CommandError(f"--plies {plies} is too long for an opening; choose at most {MAX_PLIES}")

    if arguments.output_file:
        _try(arguments.output_file)

    def tell(line: BookLine, looked_at: int) -> None:
        output.progress(f"opening {len(done) + 1} of {arguments.count}, {looked_at} looked at")
        done.append(line)

    done: list[BookLine] = []
    heading = [f"openings of {ruleset.rules.family} {ruleset.variant.name}: {arguments.count} of {plies} plies"]
    heading[0] += f" from {arguments.setups}" if arguments.setups else ""
    heading[0] += f", seed {arguments.seed}"
    try:
        if arguments.depth:
            heading.append(f"within {arguments.margin} centipawns by {ANALYSIS_ENGINE} at depth {arguments.depth}")
        with Roster(Sandbox("none")) as roster:
            lines = make_book(
                ruleset,
                plies=plies,
                count=arguments.count,
                seed=arguments.seed,
                margin=arguments.margin,
                score_of=partial(score_of, roster=roster, depth=arguments.depth) if arguments.depth else None,
                setups=arguments.setups,
                on_line=tell,
            )
    except EngineError as error:
        raise CommandError(f"the search failed: {error}", Exit.FAILED) from None
    except BookError as error:
        raise CommandError(str(error), Exit.FAILED) from None
    except ValueError as error:
        if type(error) is not ValueError:
            raise
        raise CommandError(str(error)) from None
    heading += [f"option {name} = {value}" for name, value in ruleset.overrides.items()]
    _write(arguments, write_book(lines, ruleset, heading=heading), len(lines))


def _write(arguments: MakeArguments, text: str, count: int) -> None:
    if arguments.output_file:
        arguments.output_file.write_text(text, encoding="utf-8")
        output.note(
            f"{count} openings written to {arguments.output_file}; play them with --openings {arguments.output_file}"
        )
    else:
        output.text(text.rstrip("\n"))


def _make_from_games(arguments: MakeArguments, ruleset: Ruleset) -> None:
    """Make a book of openings that were played in games, with their results."""
    from contextlib import closing

    from arena.collections.book import BookError, write_book
    from arena.services import explorer
    from arena.services.arena import Arena

    if arguments.setups or arguments.options:
        raise CommandError("--from-games takes games of a variant; leave out --setups and --option")
    if arguments.output_file:
        _try(arguments.output_file)
    plies = 4 if arguments.plies is None else arguments.plies
    query = ExplorerQuery(variant=ruleset.variant.name, **arguments.filters)
    demand = explorer.BookCriteria(plies, arguments.games, arguments.balance)
    settings = arguments.read()
    try:
        with closing(open_store(settings)) as store:
            lines = explorer.make_from_games(
                Arena(store, settings),
                ruleset.rules.family,
                query,
                demand,
                count=arguments.count,
                seed=arguments.seed,
                on_examine=lambda examined: output.progress(f"{examined} positions examined"),
            )
    except BookError as error:
        raise CommandError(str(error), Exit.FAILED) from None
    chosen = ", ".join(f"{name} {value}" for name, value in arguments.filters.items() if value is not None) or "all"
    heading = [
        f"openings of {ruleset.rules.family} {ruleset.variant.name}: {len(lines)} lines of {plies} plies that were "
        f"played, seed {arguments.seed}",
        f"each in {demand.games} games or more, the first side's share of points within {demand.balance:g} of a half",
        f"games: {chosen}; behind each line its games, results, and that share with its 95 % interval",
    ]
    _write(arguments, write_book(lines, ruleset, heading=heading), len(lines))


def _make_fair(arguments: MakeArguments, ruleset: Ruleset, share: float) -> None:
    from arena.collections.book import BookLine, write_book
    from referee.game.starts import fair, fair_openings

    if arguments.setups or arguments.plies or arguments.from_games:
        raise CommandError("--fair takes starts as they are; leave out --setups, --plies and --from-games")
    family = ruleset.rules.family
    known = {start.variant: start for start in fair(family, share)}
    lines = []
    for opening in fair_openings(ruleset, share, arguments.seed)[: arguments.count]:
        start = known[opening.variant]
        evidence = (
            f"{start.shrunk:+z.1%} ({start.shrunk_low:+z.1%} to {start.shrunk_high:+z.1%}) of {start.games} games"
        )
        if opening.variant == ruleset.variant.name:
            opening = replace(opening, position=ruleset.write(ruleset.read()))
        lines.append(BookLine(opening, None, evidence))
    heading = [
        f"starts of {family} in which no side is ahead by {share:g} of a point or more, with 95 %",
        f"by the atlas of the family (arena atlas show {family}), seed {arguments.seed}; behind each the first side's",
        "advantage with its interval",
    ]
    _write(arguments, write_book(lines, ruleset, heading=heading), len(lines))


def _try(out: Path) -> None:
    """Check before the search whether the file can be written. Raises OSError."""
    is_there = out.exists()
    out.open("a").close()
    if not is_there:
        out.unlink()


def _check(arguments: CheckBookArguments) -> None:
    from referee.game.openings import read_book
    from referee.rules.core import ParseError

    ruleset = arguments.settle()
    text = text_input.read_text(arguments.file)
    try:
        book = read_book(ruleset, text)
    except ParseError as error:
        raise CommandError(f"{arguments.file}: {error}") from None
    openings = [
        {"variant": opening.variant, "position": opening.position, "moves": list(opening.moves)} for opening in book
    ]
    plural = "s" if len(book) > 1 else ""
    line = f"{arguments.file}: {len(book)} opening{plural} of {ruleset.rules.family}, all different"
    Printer(arguments).result({"openings": openings}, lambda: output.text(line), "openings")
