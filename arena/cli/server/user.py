"""`arena user`: manage accounts and API tokens, directly in the database, for the operator.

Only `arena user password` is for everybody: it changes your own password on a server.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.cli.source import remote
from arena.cli.source.database import ArenaCommand, DatabaseArguments, R
from arena.cli.source.remote import ServerArguments
from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError
from arena.cli.terminal.fields import Actions, option, positional
from arena.cli.terminal.printer import ListOutput, Output, Printer, output_form
from arena.cli.terminal.text_input import ask_secret, token_end
from arena.documents.account import UserItem
from arena.documents.columns import TOKENS
from arena.documents.table import Column, text_column

if TYPE_CHECKING:
    from arena.documents.account import AccountLinkResponse
    from arena.errors import NotFoundError
    from arena.services.arena import Arena

_ROLES = ("author", "organiser", "admin")


@dataclass(frozen=True, kw_only=True)
class UsersArguments(DatabaseArguments, ListOutput):
    """Arguments of `arena user list`."""


@dataclass(frozen=True, kw_only=True)
class NameArguments(DatabaseArguments, Output):
    """Arguments of `arena user reset`, and of others as well."""

    name: str = positional("name of the user: 1 to 40 of a-z 0-9 - _", "NAME", type=argument.name)


@dataclass(frozen=True, kw_only=True)
class TokensArguments(NameArguments):
    output: str = output_form("csv")


@dataclass(frozen=True, kw_only=True)
class AddUserArguments(NameArguments):
    role: str = option("role of the user", default="author", choices=_ROLES)
    password_stdin: bool = option("ask for the password, or read it from a pipe", default=False)


@dataclass(frozen=True, kw_only=True)
class TokenArguments(NameArguments):
    label: str = option(
        'purpose of the token (default: "from the command line")', metavar="TEXT", default="from the command line"
    )
    scopes: str = option(
        'scopes of the token, such as "read submit" (default: all that the role may have)',
        metavar="SCOPES",
        default="",
    )
    days: int | None = option(
        "the token expires after DAYS days (default 90); 0 or never: it does not expire",
        metavar="DAYS",
        type=argument.days,
    )


@dataclass(frozen=True, kw_only=True)
class ChangeUserArguments(NameArguments):
    role: str | None = option("new role of the user", choices=_ROLES)
    password_stdin: bool = option("ask for a new password, or read it from a pipe", default=False)
    new_password: bool = option("generate a new password and show it", default=False)
    revoke_tokens: bool = option("also revoke all tokens of the user", default=False)
    disable: bool = option("disable the user: no log-in and no token works any more", default=False, only_one="state")
    enable: bool = option("enable a disabled user", default=False, only_one="state")


@dataclass(frozen=True, kw_only=True)
class InviteArguments(DatabaseArguments, Output):
    role: str = option("role of the new accounts", choices=_ROLES[:2], default="author")
    uses: int = option("number of accounts", metavar="COUNT", type=argument.positive, default=1)
    days: int = option("days until the link expires", metavar="DAYS", type=argument.positive, default=14)


@dataclass(frozen=True, kw_only=True)
class RevokeArguments(NameArguments):
    token: int | None = positional(
        "number of the token, see `arena user tokens NAME`",
        "ID",
        type=argument.positive,
        default=None,
        only_one="which!",
    )
    all: bool = option("revoke all tokens of the user", default=False, only_one="which!")


@dataclass(frozen=True, kw_only=True)
class PasswordArguments(ServerArguments, Output):
    revoke_tokens: bool = option("also revoke all your tokens, including this one", default=False)


class _UserCommand(ArenaCommand[R]):
    def listing(self, error: NotFoundError, arguments: argparse.Namespace) -> str:
        """Return the command that lists the tokens of the user, or the users."""
        return f"user tokens {arguments.name}" if error.noun == "token" else "user list"


def add(parser: argparse.ArgumentParser) -> None:
    add, of = Actions(parser).add, _UserCommand
    add("add", of(_add, AddUserArguments), "add a user; the password is generated and shown, unless read from a pipe")
    add("token", of(_token, TokenArguments), "create an API token of a user; it is shown once")
    add("change", of(_change, ChangeUserArguments), "change role or password of a user; disable or enable the user")
    add("invite", of(_invite, InviteArguments), "create a link with which people create their own accounts")
    add("reset", of(_reset, NameArguments), "create a link with which a user sets a new password within 24 hours")
    add("tokens", of(_tokens, TokensArguments), "list the tokens of a user, without their secrets")
    add("revoke", of(_revoke, RevokeArguments), "revoke a token of a user, and the tokens made with it")
    add("list", of(_list, UsersArguments), "list all users")
    add("password", _change_own, "change your own password on the server where you are logged in")


def _piped_password() -> str:
    """Return the first line of standard input if that is a pipe or a file; else an empty text."""
    return "" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")


def _add(arena: Arena, arguments: AddUserArguments) -> None:
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


def _token(arena: Arena, arguments: TokenArguments) -> None:
    from arena import services
    from arena.credentials import scopes_of

    user = services.user.find(arena, arguments.name)
    scopes = arguments.scopes.replace(",", " ").split() if arguments.scopes else scopes_of(user.role)
    token = services.user.create_token_for(arena, user, arguments.label, scopes, arguments.days)
    expires = token.expires.isoformat() if token.expires else None

    def show() -> None:
        output.text(token.token)
        output.note(
            f"A token of {user.name} for {' '.join(token.scopes)}.", f"It {token_end(expires)}, and is not shown again."
        )

    Printer(arguments).result(
        {"name": user.name, "token": token.token, "scopes": token.scopes, "expires": expires}, show
    )


def _change(arena: Arena, arguments: ChangeUserArguments) -> None:
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


def _invite(arena: Arena, arguments: InviteArguments) -> None:
    from arena import services

    made = services.registration.invite(arena, arguments.role, arguments.uses, arguments.days, None)
    _show_link(made, arguments)


def _reset(arena: Arena, arguments: NameArguments) -> None:
    from arena import services

    _show_link(services.registration.make_reset_link(arena, arguments.name, None), arguments)


def _show_link(made: AccountLinkResponse, arguments: Output) -> None:
    def show() -> None:
        output.text(made.link)
        note = f"It works until {made.expires:%Y-%m-%d %H:%M} UTC, and is not shown again."
        output.note(note if "://" in made.link else f"Put the address of your server before it. {note}")

    Printer(arguments).result({"link": made.link, "expires": made.expires.isoformat()}, show)


def _tokens(arena: Arena, arguments: TokensArguments) -> None:
    from arena import services

    user = services.user.find(arena, arguments.name)
    rows = services.user.tokens_of_user(arena, user)
    moments = ("created_at", "expires", "last_used", "revoked")
    tokens = [
        {"id": row.id, "name": row.name, "scopes": row.scopes, "made_with": row.parent_id}
        | {moment: at.isoformat() if (at := getattr(row, moment)) else None for moment in moments}
        for row in rows
    ]
    Printer(arguments).result(
        {"name": user.name, "tokens": tokens},
        lambda: output.table(TOKENS, rows),
        "tokens",
    )


def _revoke(arena: Arena, arguments: RevokeArguments) -> None:
    from arena import services

    user = services.user.find(arena, arguments.name)
    services.user.revoke_token_for(arena, user, None if arguments.all else arguments.token)
    which = "all tokens" if arguments.all else f"token {arguments.token}"
    Printer(arguments).result(
        {"name": user.name, "revoked": "all" if arguments.all else arguments.token},
        lambda: output.text(f"revoked {which} of {user.name}"),
    )


def _change_own(arguments: PasswordArguments) -> None:
    present, new = ask_secret("present password: "), ask_secret("new password: ")
    if sys.stdin.isatty() and ask_secret("new password again: ") != new:
        raise CommandError("the two new passwords differ")
    body = {"password": present, "new_password": new, "revoke_tokens": arguments.revoke_tokens}
    remote.client(arguments).ask("POST", "/account/password", body=body)
    Printer(arguments).result(
        {"changed": True, "tokens_revoked": arguments.revoke_tokens},
        lambda: output.text("password changed; all browsers are logged out"),
    )


_COLUMNS: tuple[Column[UserItem], ...] = (
    text_column("name", "Name", lambda user: user.name),
    text_column("role", "Role", lambda user: user.role),
    text_column("state", "State", lambda user: "active" if user.is_active else "disabled"),
    text_column("created_at", "Since", lambda user: user.created_at),
)


def _list(arena: Arena, arguments: UsersArguments) -> None:
    from arena import services
    from arena.documents.query import MAX_LIMIT, PageQuery, joined

    users = joined(lambda after: services.user.page(arena, PageQuery(limit=MAX_LIMIT, after=after)))
    rows = [
        {"name": user.name, "role": user.role, "active": user.is_active, "created_at": user.created_at.isoformat()}
        for user in users
    ]
    Printer(arguments).result({"users": rows}, lambda: output.table(_COLUMNS, users), "users")
