"""`arena games verify|archive|curve`: recorded games played again by the rules, written into files by month, and what
their analyses say of scores."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

from arena.cli.source.database import add_database, open_store, refuse_empty, settings_of
from arena.cli.terminal import argument, output
from arena.cli.terminal.actions import Actions
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.printer import Printer, add_output

if TYPE_CHECKING:
    from arena.store import Store
    from referee.game.spec import GameSpec


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = Actions(parser)
    verify = actions.add("verify", _verify, "play recorded games again by the rules")
    verify.add_argument("ids", nargs="*", metavar="ID", help="the games; without any, the latest 100")
    verify.add_argument("--all", action="store_true", help="every recorded game")
    verify.add_argument("--tournament", type=argument.positive, metavar="N", help="every game of a tournament")
    verify.add_argument("--worker", metavar="ID", help="every game that a worker of the cluster has played")
    verify.add_argument("--void", action="store_true", help="void what is wrong: it is played again, ratings follow")
    archive = actions.add("archive", _archive, "bring the archive up to date now: a file a month with every result")
    curve = actions.add(
        "curve", _curve, "fit how scores become chances from a family's analysed games", "arena games curve loa"
    )
    curve.add_argument("family", type=argument.family, metavar="FAMILY")
    what = archive.add_mutually_exclusive_group()
    what.add_argument("--anew", action="store_true", help="write all files once more")
    what.add_argument("--check", action="store_true", help="compare the files with their checksums; write nothing")
    for each in (verify, archive, curve):
        add_output(each)
        add_database(each)


def _verify(arguments: argparse.Namespace) -> int:
    """Exit code 1 when a record is wrong, 3 when there is none."""
    from referee.verify.verification import RecordVerifier

    if sum([bool(arguments.ids), arguments.all, arguments.tournament is not None, bool(arguments.worker)]) > 1:
        raise CommandError("name games, or a tournament, or a worker, or all of them")
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
            output.note(f"{len(failures)} results are void: their games are played again, all ratings are folded anew")
    if not count:
        refuse_empty(settings, "no such recorded games" if _is_narrowed(arguments) else "no recorded games")
    output.progress(f"{count} games, {len(failures)} wrong", is_last=True)
    Printer(arguments).result(
        {"checked": count, "failed": len(failures), "failures": failures},
        lambda: output.text(f"{count} games verified, {len(failures)} wrong"),
    )
    return Exit.FAILED if failures else Exit.DONE


def _archive(arguments: argparse.Namespace) -> int:
    """Exit code 1 when a file is not what it should be, or cannot be written."""
    from arena.collections.dumps import Dumps

    settings = settings_of(arguments)
    dumps = Dumps.of(settings)
    problems: list[str] = []
    count = 0
    try:
        if arguments.check:
            problems = dumps.check()
        else:
            with closing(open_store(settings)) as store:
                count = dumps.update(store, rebuild=arguments.anew)
        index = dumps.index()
    except OSError as error:
        raise CommandError(f"{dumps.folder}: {error.strerror or error}", Exit.FAILED) from None
    files = list(index.files.values())
    for problem in problems:
        output.error(f"{problem}; `arena games archive --anew` writes it once more", is_fault=False)
    rows = [(one.file, str(one.games), str(one.bytes), one.sha256[:16]) for one in files]
    columns = ("file", "games", "bytes", "sha256")
    document = {"folder": str(dumps.folder), "added": count, "through": index.through, "problems": problems}
    Printer(arguments).result(
        {**document, "files": [asdict(one) for one in files]},
        lambda: output.table(columns, rows, numbers=("games", "bytes"), drop=("sha256",)),
        "files",
    )
    output.note(f"{dumps.folder}: {count} games added" if not arguments.check else f"{len(problems)} files are wrong")
    return Exit.FAILED if problems else Exit.DONE


def _curve(arguments: argparse.Namespace) -> int:
    """Exit code 1 where there are too few positions."""
    from arena.analysis.fit import TooFewPositionsError
    from arena.analysis.storage import fit_win_model, win_model_of

    with closing(open_store(settings_of(arguments))) as store:
        try:
            found, _ = fit_win_model(store, arguments.family)
        except TooFewPositionsError as error:
            raise CommandError(str(error), Exit.FAILED) from None
        version = win_model_of(store, arguments.family).version
    line = f"{version}: scale {found.scale} from {found.positions} positions, log loss {found.log_loss}"
    Printer(arguments).result(
        {"family": arguments.family, "win_model": version, **asdict(found)}, lambda: output.text(line)
    )
    return Exit.DONE


def _is_narrowed(arguments: argparse.Namespace) -> bool:
    """Whether only the games of a tournament or of a worker are wanted."""
    return arguments.tournament is not None or bool(arguments.worker)


def _records(store: Store, arguments: argparse.Namespace) -> Iterator[tuple[str, bytes, GameSpec]]:
    """(game, record as JSON, what was planned) of what was asked for."""
    if arguments.ids:
        for name in arguments.ids:
            yield name, store.games.record(name).line().encode(), store.games.spec(name)
        return
    if arguments.tournament is not None:
        store.tournaments.get(arguments.tournament)  # or there is none
    after = 0 if arguments.all or _is_narrowed(arguments) else max(0, store.results.last_commit() - 100)
    found = store.results.with_plans(tournament_id=arguments.tournament, worker=arguments.worker, after=after)
    for _, name, line, spec in found:
        yield name, line, spec
