"""`arena init`: a new arena: settings file, database, sample bots, the first administrator. Twice does no harm."""

from __future__ import annotations

import argparse
from contextlib import closing
from typing import TYPE_CHECKING

from arena.cli import output
from arena.cli.database import add_database, open_any, settings_of
from arena.cli.exit import CommandError, Exit

if TYPE_CHECKING:
    from pathlib import Path

    from arena.store import Store


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--admin", default="admin", metavar="NAME", help="name of the first administrator")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_database(parser)


def run(arguments: argparse.Namespace) -> int:
    """Make what is not there yet; password and token of the first administrator are printed once and kept nowhere."""
    from arena.config import FILE
    from referee.bot_argument import SAMPLES
    from referee.rules import families, load

    settings = settings_of(arguments)
    variants = {name: tuple(variant.name for variant in load(name).variants) for name in families()}
    settings.data.mkdir(parents=True, exist_ok=True)
    file = settings.data / FILE
    is_written = not arguments.config and _write_settings(file)
    with closing(open_any(settings)) as store:
        before, after = store.upgrade()
        store.samples.ensure(SAMPLES, variants)
        made = _first_admin(store, arguments.admin)
    if arguments.json:
        output.document(
            {
                "data": str(settings.data),
                "settings": str(file) if is_written else None,
                "schema": after,
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
    output.note("Neither is shown again. Next: `arena serve`; others come in with `arena user add NAME`.")
    return Exit.DONE


def _write_settings(file: Path) -> bool:
    from arena.config import template

    try:
        with open(file, "x", encoding="utf-8") as target:
            target.write(template())
    except FileExistsError:
        return False
    return True


def _first_admin(store: Store, name: str) -> tuple[str, str] | None:
    """Password and token of a new administrator; None when there is one."""
    from arena.store import ConflictError
    from arena.store.credentials import SCOPES, digest_of, hash_password, new_password, new_token

    if store.users.count("admin"):
        return None
    password, token = new_password(), new_token()
    try:
        user = store.users.add(name, "admin", hash_password(password))
    except ConflictError as error:
        raise CommandError(f"{error}, who is no administrator; choose another --admin", Exit.FAILED) from None
    assert user.id is not None
    store.users.add_token(user.id, "from arena init", digest_of(token), " ".join(SCOPES))
    store.house.note("arena.init", f"user:{name}", user.id)
    return password, token
