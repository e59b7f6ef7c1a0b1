"""`arena ratings rebuild`: rebuild all ratings, or compare them with the stored ones.

Ratings follow from the recorded games and the first attempts at problems.
"""

from __future__ import annotations

import argparse
from contextlib import closing

from arena.cli.source.database import add_database, open_store, refuse_empty, settings_of
from arena.cli.terminal import output
from arena.cli.terminal.actions import Actions
from arena.cli.terminal.exit import Exit
from arena.cli.terminal.printer import Printer, add_output
from arena.cli.terminal.progress import RunProgress


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = Actions(parser)
    rebuild = actions.add("rebuild", _rebuild, "rebuild all ratings from the games; an interrupted rebuild continues")
    rebuild.add_argument(
        "--check",
        action="store_true",
        help="compare only, write nothing: exit code 1 when a stored number differs, 3 without rated games",
    )
    add_output(rebuild)
    add_database(rebuild)


class _Progress:
    """A line of progress on stderr: the share done, and the time left."""

    def __init__(self) -> None:
        self._pace: RunProgress | None = None

    def tell(self, done: int, total: int) -> None:
        """Show the progress."""
        self._pace = self._pace or RunProgress(done, total)
        output.progress(self._pace.line(done), is_last=done >= total)


def _rebuild(arguments: argparse.Namespace) -> int:
    """Rebuild the ratings, or check the stored ones."""
    settings = settings_of(arguments)
    progress, printer = _Progress(), Printer(arguments)
    with closing(open_store(settings)) as store:
        if not arguments.check:
            games = store.ratings.rebuild(progress.tell)
            attempts = store.attempts.rebuild()
            also = f" and {attempts} attempts at problems" if attempts else ""
            printer.result(
                {"games": games, "pools": [one.pool for one in store.ratings.pools()]},
                lambda: output.text(f"ratings rebuilt from {games} games{also}"),
            )
            return Exit.DONE
        problems = [*store.ratings.check(progress.tell), *store.attempts.check()]
        pools = store.ratings.pools()
    games = sum(one.games for one in pools)
    if not games and not problems:
        refuse_empty(settings, "no rated games")
    verdict = f"{len(problems)} stored numbers differ" if problems else "every stored number is reproduced"
    printer.result(
        {"games": games, "pools": [one.pool for one in pools], "problems": problems},
        lambda: output.text(*problems, f"{games} games in {len(pools)} pools: {verdict}"),
    )
    return Exit.FAILED if problems else Exit.DONE
