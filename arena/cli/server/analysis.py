"""`arena analysis fit`: fit a win model to the analysed games of an arena."""

from __future__ import annotations

import argparse
from contextlib import closing
from dataclasses import asdict

from arena.cli.source.database import add_database, open_store, settings_of
from arena.cli.terminal import argument, output
from arena.cli.terminal.actions import Actions
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.printer import Printer, add_output


def add(parser: argparse.ArgumentParser) -> None:
    fit = Actions(parser).add(
        "fit", _fit, "fit the win model of a family to its analysed games", "arena analysis fit loa"
    )
    fit.add_argument("family", type=argument.family, metavar="FAMILY", help="family of games")
    add_database(fit)
    add_output(fit)


def _fit(arguments: argparse.Namespace) -> int:
    """Fit and store the model. Exit code 1 if there are too few positions."""
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
