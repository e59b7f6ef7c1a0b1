"""`arena user`: manage accounts and API tokens, directly in the database, for the operator.

Only `arena user password` is for everybody: it changes your own password on a server.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from typing import TYPE_CHECKING

from arena.cli.source import remote
from arena.cli.source.database import add_database, open_store, settings_of
from arena.cli.terminal import output
from arena.cli.terminal.actions import Actions
from arena.cli.terminal.argument import days, positive
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.printer import Printer, add_output
from arena.cli.terminal.prompt import ask_secret, token_end

if TYPE_CHECKING:
    from arena.documents.account import AccountLinkResponse, TokenItem
    from arena.services.arena import Arena

_ROLES = ("author", "organiser", "admin")


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = Actions(parser)

    new = actions.add("add", _add, "add a user; the password is generated and shown, unless read from a pipe")
    new.add_argument("name", metavar="NAME", help="name of the user: 1 to 40 of a-z 0-9 - _")
    new.add_argument("--role", default="author", choices=_ROLES, help="role of the user (default author)")
    new.add_argument("--password-stdin", action="store_true", help="ask for the password, or read it from a pipe")

    token = actions.add("token", _token, "create an API token of a user; it is shown once")
    token.add_argument("name", metavar="NAME", help="name of the user")
    token.add_argument(
        "--label",
        default="from the command line",
        metavar="TEXT",
        help='purpose of the token (default: "from the command line")',
    )
    token.add_argument(
        "--scopes",
        metavar="SCOPES",
        help='scopes of the token, such as "read submit" (default: all that the role may have)',
    )
    token.add_argument(
        "--days",
        type=days,
        metavar="DAYS",
        help="the token expires after DAYS days (default 90); 0 or never: it does not expire",
    )

    change = actions.add("change", _change, "change role or password of a user; disable or enable the user")
    change.add_argument("name", metavar="NAME", help="name of the user")
    change.add_argument("--role", choices=_ROLES, help="new role of the user")
    change.add_argument("--password-stdin", action="store_true", help="ask for a new password, or read it from a pipe")
    change.add_argument("--new-password", action="store_true", help="generate a new password and show it")
    change.add_argument("--revoke-tokens", action="store_true", help="also revoke all tokens of the user")
    state = change.add_mutually_exclusive_group()
    state.add_argument("--disable", action="store_true", help="disable the user: no log-in and no token works any more")
    state.add_argument("--enable", action="store_true", help="enable a disabled user")

    invite = actions.add("invite", _invite, "create a link with which people create their own accounts")
    invite.add_argument(
        "--role", choices=("author", "organiser"), default="author", help="role of the new accounts (default author)"
    )
    invite.add_argument("--uses", type=positive, default=1, metavar="COUNT", help="number of accounts (default 1)")
    invite.add_argument(
        "--days", type=positive, default=14, metavar="DAYS", help="days until the link expires (default 14)"
    )

    reset = actions.add("reset", _reset, "create a link with which a user sets a new password within 24 hours")
    reset.add_argument("name", metavar="NAME", help="name of the user")

    tokens = actions.add("tokens", _tokens, "list the tokens of a user, without their secrets")
    tokens.add_argument("name", metavar="NAME", help="name of the user")

    revoke = actions.add("revoke", _revoke, "revoke a token of a user, and the tokens made with it")
    revoke.add_argument("name", metavar="NAME", help="name of the user")
    which = revoke.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "token", metavar="ID", type=positive, nargs="?", help="number of the token, see `arena user tokens NAME`"
    )
    which.add_argument("--all", action="store_true", help="revoke all tokens of the user")

    listing = actions.add("list", _list, "list all users")
    for each in (new, token, change, invite, reset, tokens, revoke, listing):
        add_output(each)
        add_database(each)

    own = actions.add("password", _change_own, "change your own password on the server where you are logged in")
    own.add_argument("--revoke-tokens", action="store_true", help="also revoke all your tokens, including this one")
    remote.add_server(own)
    add_output(own)


def run(arguments: argparse.Namespace) -> int:
    """Do it."""
    if arguments.action == "password":
        return _change_own(arguments)
    from arena.errors import NotFoundError
    from arena.services.arena import Arena

    try:
        settings = settings_of(arguments)
        with closing(open_store(settings)) as store:
            return int(arguments.act(Arena(store, settings), arguments))
    except NotFoundError as error:
        listing = f"tokens {arguments.name}" if error.noun == "token" else "list"
        hint = error.hint or f"`arena user {listing}` shows all"
        raise CommandError(f"{error}; {hint}", error.exit) from None


def _piped_password() -> str:
    """Return the first line of standard input if that is a pipe or a file; else an empty text."""
    return "" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")


def _add(arena: Arena, arguments: argparse.Namespace) -> int:
    from arena import services
    from arena.credentials import new_password

    given = ask_secret("password: ") if arguments.password_stdin else _piped_password()
    password = given or new_password()
    user = services.user.add(arena, arguments.name, arguments.role, password)
    shown = None if given else password

    def show() -> None:
        output.text(f"user      {user.name} ({user.role})")
        if shown:
            output.text(f"password  {shown}")
            output.note("It is not shown again.")
        else:
            output.note("The password was read from standard input.")

    Printer(arguments).result({"name": user.name, "role": user.role, "password": shown}, show)
    return Exit.DONE


def _token(arena: Arena, arguments: argparse.Namespace) -> int:
    from arena import services
    from arena.credentials import scopes_of

    user = services.user.find(arena, arguments.name)
    scopes = arguments.scopes.replace(",", " ").split() if arguments.scopes else scopes_of(user.role)
    token = services.token.create_for(arena, user, arguments.label, scopes, arguments.days)
    expires = token.expires.isoformat() if token.expires else None

    def show() -> None:
        output.text(token.token)
        output.note(
            f"A token of {user.name} for {' '.join(token.scopes)}.", f"It {token_end(expires)}, and is not shown again."
        )

    Printer(arguments).result(
        {"name": user.name, "token": token.token, "scopes": token.scopes, "expires": expires}, show
    )
    return Exit.DONE


def _change(arena: Arena, arguments: argparse.Namespace) -> int:
    from arena import services
    from arena.credentials import new_password

    password = None
    if arguments.password_stdin or arguments.new_password:
        password = ask_secret("new password: ") if arguments.password_stdin else new_password()
    is_active = False if arguments.disable else True if arguments.enable else None
    if arguments.role is None and password is None and is_active is None and not arguments.revoke_tokens:
        raise CommandError("nothing to change; give --role, --new-password, --disable or another option")
    user = services.user.change(
        arena,
        arguments.name,
        role=arguments.role,
        password=password,
        is_active=is_active,
        revoke_tokens=arguments.revoke_tokens,
    )
    shown = password if arguments.new_password else None
    lines = [f"user      {user.name} ({user.role}{'' if user.is_active else ', disabled'})"]
    if shown:
        lines.append(f"password  {shown}")
    Printer(arguments).result(
        {"name": user.name, "role": user.role, "active": user.is_active, "password": shown},
        lambda: output.text(*lines),
    )
    return Exit.DONE


def _invite(arena: Arena, arguments: argparse.Namespace) -> int:
    from arena import services

    made = services.registration.invite(arena, arguments.role, arguments.uses, arguments.days, None)
    return _show_link(made, arguments)


def _reset(arena: Arena, arguments: argparse.Namespace) -> int:
    from arena import services

    return _show_link(services.registration.make_reset_link(arena, arguments.name, None), arguments)


def _show_link(made: AccountLinkResponse, arguments: argparse.Namespace) -> int:
    def show() -> None:
        output.text(made.link)
        note = f"It works until {made.expires:%Y-%m-%d %H:%M} UTC, and is not shown again."
        output.note(note if "://" in made.link else f"Put the address of your server before it. {note}")

    Printer(arguments).result({"link": made.link, "expires": made.expires.isoformat()}, show)
    return Exit.DONE


def _tokens(arena: Arena, arguments: argparse.Namespace) -> int:
    from arena import services

    user = services.user.find(arena, arguments.name)
    rows = services.token.of_user(arena, user)
    moments = ("created_at", "expires", "last_used", "revoked")
    found = [
        {"id": row.id, "name": row.name, "scopes": row.scopes, "made_with": row.parent_id}
        | {moment: at.isoformat() if (at := getattr(row, moment)) else None for moment in moments}
        for row in rows
    ]
    lines = [
        (
            str(row.id),
            row.name,
            " ".join(row.scopes),
            f"{row.created_at:%Y-%m-%d}",
            f"{row.last_used:%Y-%m-%d}" if row.last_used else "-",
            _end(row),
        )
        for row in rows
    ]
    Printer(arguments).result(
        {"name": user.name, "tokens": found},
        lambda: output.table(("id", "name", "scopes", "created", "last used", "expires"), lines),
        "tokens",
    )
    return Exit.DONE


def _end(token: TokenItem) -> str:
    """Format the time at which a token expires."""
    if token.revoked:
        return "revoked"
    if token.expires is None:
        return "never"
    return f"expired {token.expires:%Y-%m-%d}" if token.has_expired else f"{token.expires:%Y-%m-%d}"


def _revoke(arena: Arena, arguments: argparse.Namespace) -> int:
    from arena import services

    user = services.user.find(arena, arguments.name)
    services.token.revoke_for(arena, user, None if arguments.all else arguments.token)
    which = "all tokens" if arguments.all else f"token {arguments.token}"
    Printer(arguments).result(
        {"name": user.name, "revoked": "all" if arguments.all else arguments.token},
        lambda: output.text(f"revoked {which} of {user.name}"),
    )
    return Exit.DONE


def _change_own(arguments: argparse.Namespace) -> int:
    present, new = ask_secret("present password: "), ask_secret("new password: ")
    if sys.stdin.isatty() and ask_secret("new password again: ") != new:
        raise CommandError("the two new passwords differ")
    body = {"password": present, "new_password": new, "revoke_tokens": arguments.revoke_tokens}
    remote.client(arguments).ask("POST", "/account/password", body=body)
    Printer(arguments).result(
        {"changed": True, "tokens_revoked": arguments.revoke_tokens},
        lambda: output.text("password changed; all browsers are logged out"),
    )
    return Exit.DONE


def _list(arena: Arena, arguments: argparse.Namespace) -> int:
    from arena import services
    from arena.documents.page import MAX_LIMIT, PageQuery, joined

    users = joined(lambda after: services.user.page(arena, PageQuery(limit=MAX_LIMIT, after=after)))
    rows = [
        {"name": user.name, "role": user.role, "active": user.is_active, "created_at": user.created_at.isoformat()}
        for user in users
    ]
    lines = [
        (user.name, user.role, "active" if user.is_active else "disabled", f"{user.created_at:%Y-%m-%d}")
        for user in users
    ]
    Printer(arguments).result({"users": rows}, lambda: output.table(("name", "role", "state", "since"), lines), "users")
    return Exit.DONE
