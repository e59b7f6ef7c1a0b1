"""`arena verify`: replay recorded games by the rules."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from arena.cli.source.database import add_database, open_store, refuse_empty, settings_of
from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.printer import Printer, add_output
from arena.documents.game import GameQuery

if TYPE_CHECKING:
    from arena.store import Store
    from referee.game.spec import GameSpec


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", metavar="ID", help="games to verify (default: the latest 100)")
    parser.add_argument("--all", action="store_true", help="verify every recorded game")
    parser.add_argument("--tournament", type=argument.positive, metavar="ID", help="verify every game of a tournament")
    parser.add_argument("--worker", metavar="ID", help="verify every game that a worker of the cluster played")
    parser.add_argument(
        "--void", action="store_true", help="void wrong results: their games are played again, ratings are rebuilt"
    )
    add_database(parser)
    add_output(parser)


def run(arguments: argparse.Namespace) -> int:
    """Replay the games by the rules. Exit code 1 if a record is wrong, 3 if there is none."""
    from referee.verify.verification import RecordVerifier

    if sum([bool(arguments.ids), arguments.all, arguments.tournament is not None, bool(arguments.worker)]) > 1:
        raise CommandError("no games chosen; name games, a tournament or a worker, or use --all")
    count, verifier = 0, RecordVerifier()
    failures: list[dict[str, str]] = []
    settings = settings_of(arguments)
    with closing(open_store(settings)) as store:
        for name, line, spec in _records(store, arguments):
            problem = verifier.problem_of(line, spec, name)
            count += 1
            if problem:
                failures.append({"game": name, "problem": problem})
                output.error(f"game {name}: {problem}", is_fault=False)
            output.progress(f"{count} games, {len(failures)} wrong")
        if arguments.void and failures:
            store.results.undo({failure["game"]: failure["problem"] for failure in failures})
            output.note(f"{len(failures)} results are void: their games are played again, all ratings are rebuilt")
    if not count:
        refuse_empty(settings, "no such recorded games" if _is_narrowed(arguments) else "no recorded games")
    output.progress(f"{count} games, {len(failures)} wrong", is_last=True)
    Printer(arguments).result(
        {"checked": count, "failed": len(failures), "failures": failures},
        lambda: output.text(f"{count} games verified, {len(failures)} wrong"),
    )
    return Exit.FAILED if failures else Exit.DONE


def _is_narrowed(arguments: argparse.Namespace) -> bool:
    """Return whether only the games of a tournament or a worker are verified."""
    return arguments.tournament is not None or bool(arguments.worker)


def _records(store: Store, arguments: argparse.Namespace) -> Iterator[tuple[str, bytes, GameSpec]]:
    """Yield the games to verify as (id, record as JSON, plan)."""
    if arguments.ids:
        for name in arguments.ids:
            yield name, store.games.record(name).line().encode(), store.games.spec(name)
        return
    if arguments.tournament is not None:
        store.tournaments.get(arguments.tournament)  # or there is none
    after = 0 if arguments.all or _is_narrowed(arguments) else max(0, store.results.last_commit() - 100)
    found = store.results.with_plans(GameQuery(tournament=arguments.tournament), worker=arguments.worker, after=after)
    for _, name, line, spec in found:
        yield name, line, spec
