"""`arena init`: create an arena, with its settings, database, sample bots and first administrator."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from arena.cli.source.database import DatabaseArguments, open_new, options_of
from arena.cli.terminal import output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import option
from arena.cli.terminal.printer import Output, Printer

if TYPE_CHECKING:
    from arena.config import Settings
    from arena.services.arena import Arena


@dataclass(frozen=True, kw_only=True)
class InitArguments(DatabaseArguments, Output):
    admin: str = option("name of the first administrator", metavar="NAME", default="admin")


def _local_url(settings: Settings) -> str:
    # Not every system can open the address of all interfaces in a browser.
    every = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - translated, not bound
    host = every.get(settings.bind, settings.bind)
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.port}"


def run(arguments: InitArguments) -> None:
    """Create what is missing. Password and token of the first administrator are printed once, and stored only as
    hashes.
    """
    from arena.config_file import FILE, named_file
    from arena.data_folder import make_folder
    from arena.services.arena import Arena
    from arena.services.user import TOKEN_DAYS
    from referee.rules import families, load

    settings = arguments.read()
    variants = {name: tuple(variant.name for variant in load(name).variants) for name in families()}
    make_folder(settings.data, is_passage=True)
    if not settings.bundles:
        make_folder(Path(settings.bundles_url))  # a backup copies it, also before the first upload
    named = named_file(arguments.config)
    file = named or settings.data / FILE
    is_written = not named and _write_settings(file)
    with closing(open_new(settings)) as store:
        before, after = store.upgrade()
        store.samples.ensure_all(variants)
        made = _ensure_admin(Arena(store, settings), arguments.admin)

    options = options_of(settings)
    # Without --server a login goes to the server of the latest login; port 0 is chosen by `arena serve`.
    server = f" --server {_local_url(settings)}" if settings.port else " --server URL"

    def show() -> None:
        output.note(
            f"settings: {file}{'' if is_written else ' (unchanged)'}",
            f"database: schema {after}{'' if before != after else ' (unchanged)'}",
        )
        if made is None:
            output.text("there is an administrator already; none was added")
            return
        output.text(f"user      {arguments.admin}", f"password  {made[0]}", f"token     {made[1]}")
        output.note(
            f"Neither is shown again; the token expires after {TOKEN_DAYS} days.",
            f"Next: `arena serve{options}`, and in another terminal `arena login --user {arguments.admin}{server}`.",
            f"Add more users with `arena user add NAME{options}`.",
        )

    Printer(arguments).result(
        {
            "data": str(settings.data),
            "settings": str(file),
            "revision": after,
            "admin": made and {"name": arguments.admin, "password": made[0], "token": made[1]},
        },
        show,
    )


def _write_settings(file: Path) -> bool:
    from arena.config_file import template

    try:
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as target:
            target.write(template())
    except FileExistsError:
        return False
    return True


def _ensure_admin(arena: Arena, name: str) -> tuple[str, str] | None:
    """Return password and token of a new administrator; None if there is one already."""
    from arena import services
    from arena.errors import ConflictError

    try:
        return services.user.ensure_admin(arena, name)
    except ConflictError as error:
        raise CommandError(f"{error}, who is not an administrator; choose another --admin", Exit.FAILED) from None
