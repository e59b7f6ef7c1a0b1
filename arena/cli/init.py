"""`arena init`: a new arena: settings file, database, sample bots, the first administrator. Twice does no harm."""

from __future__ import annotations

import argparse
import os
from contextlib import closing
from typing import TYPE_CHECKING

from arena.cli import output
from arena.cli.database import add_database, open_any, settings_of
from arena.cli.exit import CommandError, Exit

if TYPE_CHECKING:
    from pathlib import Path

    from arena.services.arena import Arena


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--admin", default="admin", metavar="NAME", help="name of the first administrator")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_database(parser)


def run(arguments: argparse.Namespace) -> int:
    """Make what is not there yet; password and token of the first administrator are printed once and kept nowhere."""
    from arena.config import FILE, named_file
    from arena.data_folder import make_folder
    from arena.services.arena import Arena
    from arena.services.token import TOKEN_DAYS
    from arena.store.bots.samples import LEVELS
    from referee.bot.argument import SAMPLES
    from referee.rules import families, load

    settings = settings_of(arguments)
    variants = {name: tuple(variant.name for variant in load(name).variants) for name in families()}
    make_folder(settings.data, is_passage=True)
    named = named_file(arguments.config)
    file = named or settings.data / FILE
    is_written = not named and _write_settings(file)
    with closing(open_any(settings)) as store:
        before, after = store.upgrade()
        store.samples.ensure({**SAMPLES, **dict.fromkeys(LEVELS, SAMPLES["champion"])}, variants)
        made = _ensure_admin(Arena(store, settings), arguments.admin)
    if arguments.json:
        output.document(
            {
                "data": str(settings.data),
                "settings": str(file),
                "revision": after,
                "admin": made and {"name": arguments.admin, "password": made[0], "token": made[1]},
            }
        )
        return Exit.DONE
    output.note(
        f"settings: {file}{'' if is_written else ' (left as it is)'}",
        f"database: schema {after}{'' if before != after else ' (left as it is)'}",
    )
    if made is None:
        output.text("there is an administrator already; nothing was changed")
        return Exit.DONE
    output.text(f"user      {arguments.admin}", f"password  {made[0]}", f"token     {made[1]}")
    output.note(
        f"Neither is shown again; the token ends after {TOKEN_DAYS} days.",
        "Next: `arena serve`, and in another terminal",
        f"`arena login --user {arguments.admin}`; others come in with `arena user add NAME`.",
    )
    return Exit.DONE


def _write_settings(file: Path) -> bool:
    from arena.config import template

    try:
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as target:
            target.write(template())
    except FileExistsError:
        return False
    return True


def _ensure_admin(arena: Arena, name: str) -> tuple[str, str] | None:
    """Password and token of a new administrator; None when there is one."""
    from arena import services
    from arena.errors import ConflictError

    try:
        return services.user.ensure_admin(arena, name)
    except ConflictError as error:
        raise CommandError(f"{error}, who is no administrator; choose another --admin", Exit.FAILED) from None
