"""`arena book make|check`: make and check opening books, for `arena play --openings FILE` and for tournaments."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from arena.cli.source.database import add_database, open_store, settings_of
from arena.cli.terminal import argument, output, text_input
from arena.cli.terminal.actions import Actions
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.printer import Printer, add_output
from arena.cli.terminal.query_options import add_options, read_options
from arena.documents.explorer import ExplorerQuery

if TYPE_CHECKING:
    from arena.collections.book import BookLine
    from referee.rules.rules import Ruleset

MAX_PLIES = 60
_LINE = ("variant", "position", "moves")
"""Fields of the query that choose the position; the others choose games."""


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the two subcommands."""
    actions = Actions(parser)
    make = actions.add(
        "make",
        _make,
        "make a book of openings that a search finds balanced",
        "arena book make loa --plies 6 --count 50 --seed 1 --margin 50 --depth 6 --output-file loa.book",
        "arena book make pijersi --setups pijersi-8100 --count 100 --depth 0 --output-file setups.book",
        "arena book make pijersi --variant standard --fair 0.05 --count 50 --output-file fair.book",
        "arena book make loa --from-games --plies 4 --games 20 --balance 0.1 --count 30 --output-file played.book",
    )
    argument.add_rules(make)
    make.add_argument(
        "--plies", type=argument.whole, metavar="COUNT", help="length of the openings (default 4; 0 with --setups)"
    )
    make.add_argument("--setups", metavar="VARIANT", help="start from set-ups drawn from this variant")
    make.add_argument(
        "--count", type=argument.positive, default=20, metavar="COUNT", help="make COUNT openings (default 20)"
    )
    make.add_argument(
        "--seed", type=argument.whole, default=0, metavar="SEED", help="seed of the random moves (default 0)"
    )
    make.add_argument(
        "--margin",
        type=argument.whole,
        default=50,
        metavar="CENTIPAWNS",
        help="centipawns that either side may be ahead (default 50)",
    )
    make.add_argument(
        "--depth",
        type=argument.whole,
        default=4,
        metavar="PLIES",
        help="search to this depth; 0: no search (default 4)",
    )
    make.add_argument(
        "--fair",
        type=_share,
        metavar="SHARE",
        help="take starts of the atlas in which no side is ahead by SHARE of a point or more, with 95 %% confidence",
    )
    make.add_argument("--output-file", type=Path, metavar="FILE", help="write the book to FILE (default: stdout)")
    games = make.add_argument_group("from games of the archive (without a search)")
    games.add_argument(
        "--from-games", action="store_true", help="choose openings that were played in games, by their results"
    )
    games.add_argument(
        "--games",
        type=argument.positive,
        default=20,
        metavar="COUNT",
        help="take openings with at least COUNT results (default 20)",
    )
    games.add_argument(
        "--balance",
        type=_share,
        default=0.1,
        metavar="SHARE",
        help="take openings in which the first side's share of points is within SHARE of a half (default 0.1)",
    )
    add_options(games, ExplorerQuery, without=_LINE)
    add_database(make)

    check = actions.add("check", _check, "check a book, and report the line of its first error")
    check.add_argument("file", type=Path, metavar="FILE", help="book of openings")
    check.add_argument("--family", required=True, metavar="FAMILY", type=argument.family, help="family of the openings")
    argument.add_rules(check, has_family=False)
    add_output(check)


def _make(arguments: argparse.Namespace) -> int:
    from functools import partial

    from arena.analysis.engine import ANALYSIS_ENGINE, EngineError, score_of
    from arena.collections.book import BookError, make_book, write_book
    from referee.play.roster import Roster
    from referee.sandbox import Sandbox

    ruleset = argument.settle(arguments)
    if arguments.fair is not None:
        return _make_fair(arguments, ruleset)
    if arguments.from_games:
        return _make_from_games(arguments, ruleset)
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
    return Exit.DONE


def _write(arguments: argparse.Namespace, text: str, count: int) -> None:
    if arguments.output_file:
        arguments.output_file.write_text(text, encoding="utf-8")
        output.note(
            f"{count} openings written to {arguments.output_file}; play them with --openings {arguments.output_file}"
        )
    else:
        output.text(text.rstrip("\n"))


def _make_from_games(arguments: argparse.Namespace, ruleset: Ruleset) -> int:
    """Make a book of openings that were played in games, with their results."""
    from contextlib import closing

    from arena.collections.book import BookError, write_book
    from arena.services import book
    from arena.services.arena import Arena

    if arguments.setups or arguments.options:
        raise CommandError("--from-games takes games of a variant; leave out --setups and --option")
    if arguments.output_file:
        _try(arguments.output_file)
    plies = 4 if arguments.plies is None else arguments.plies
    filters = read_options(arguments, ExplorerQuery, without=_LINE)
    query = ExplorerQuery(variant=ruleset.variant.name, **filters)
    demand = book.BookCriteria(plies, arguments.games, arguments.balance)
    settings = settings_of(arguments)
    try:
        with closing(open_store(settings)) as store:
            lines = book.make_from_games(
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
    chosen = ", ".join(f"{name} {value}" for name, value in filters.items() if value is not None) or "all"
    heading = [
        f"openings of {ruleset.rules.family} {ruleset.variant.name}: {len(lines)} lines of {plies} plies that were "
        f"played, seed {arguments.seed}",
        f"each in {demand.games} games or more, the first side's share of points within {demand.balance:g} of a half",
        f"games: {chosen}; behind each line its games, results, and that share with its 95 % interval",
    ]
    _write(arguments, write_book(lines, ruleset, heading=heading), len(lines))
    return Exit.DONE


def _make_fair(arguments: argparse.Namespace, ruleset: Ruleset) -> int:
    """Make a book of fair starts of the atlas."""
    from arena.atlas.published import fair, fair_openings
    from arena.collections.book import BookLine, write_book

    if arguments.setups or arguments.plies or arguments.from_games:
        raise CommandError("--fair takes starts as they are; leave out --setups, --plies and --from-games")
    family = ruleset.rules.family
    known = {one.variant: one for one in fair(family, arguments.fair)}
    lines = []
    for opening in fair_openings(ruleset, arguments.fair, arguments.seed)[: arguments.count]:
        one = known[opening.variant]
        evidence = f"{one.shrunk:+z.1%} ({one.shrunk_low:+z.1%} to {one.shrunk_high:+z.1%}) of {one.games} games"
        if opening.variant == ruleset.variant.name:
            opening = replace(opening, position=ruleset.write(ruleset.read()))
        lines.append(BookLine(opening, None, evidence))
    heading = [
        f"starts of {family} in which no side is ahead by {arguments.fair:g} of a point or more, with 95 %",
        f"by the atlas of the family (arena atlas show {family}), seed {arguments.seed}; behind each the first side's",
        "advantage with its interval",
    ]
    _write(arguments, write_book(lines, ruleset, heading=heading), len(lines))
    return Exit.DONE


def _share(text: str) -> float:
    """Parse a share of a point. Raises ArgumentTypeError."""
    try:
        if 0 <= (value := float(text)) <= 0.5:
            return value
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number from 0 to 0.5")


def _try(out: Path) -> None:
    """Check before the search whether the file can be written. Raises OSError."""
    is_there = out.exists()
    out.open("a").close()
    if not is_there:
        out.unlink()


def _check(arguments: argparse.Namespace) -> int:
    from referee.game.openings import file_openings
    from referee.rules.core import ParseError

    ruleset = argument.settle(arguments)
    text = text_input.read_text(arguments.file)
    try:
        found = list(dict.fromkeys(file_openings(ruleset, text, text.count("\n") + 1)))
    except ParseError as error:
        raise CommandError(f"{arguments.file}: {error}") from None
    openings = [{"variant": one.variant, "position": one.position, "moves": list(one.moves)} for one in found]
    plural = "s" if len(found) > 1 else ""
    line = f"{arguments.file}: {len(found)} opening{plural} of {ruleset.rules.family}, all different"
    Printer(arguments).result({"openings": openings}, lambda: output.text(line), "openings")
    return Exit.DONE
