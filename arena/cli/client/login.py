"""`arena login`: log in with a password or a token, and store the token for the other commands."""

from __future__ import annotations

import argparse
import os
import platform

from arena.cli.source import remote
from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.printer import Printer, add_output
from arena.cli.terminal.prompt import ask_secret, token_end
from arena.client import ApiClient, change_keys, keyring

SCOPES = ("read", "submit", "organise", "admin", "worker")


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    remote.add_server(parser)
    add_output(parser)
    parser.add_argument("--user", metavar="NAME", help="log in with a password, read from the terminal or a pipe")
    parser.add_argument("--scopes", metavar="S,S", help="scopes of the token (default: all that your role may have)")
    parser.add_argument(
        "--days",
        metavar="DAYS",
        type=argument.days,
        default=90,
        help="the token expires after DAYS days (default 90); 0 or never: it does not expire",
    )


def run(arguments: argparse.Namespace) -> int:
    """Get a token, test it, and store it."""
    server = remote.server_of(arguments)
    bare = ApiClient(server)
    ends = ""
    token = arguments.token or (None if arguments.user else os.environ.get("ARENA_TOKEN"))
    if token is None:
        token, ends = _by_password(arguments, bare) if arguments.user else (ask_secret("token: "), "")
    account = ApiClient(server, token).get("/account")

    def keep(keys: dict[str, object]) -> None:
        keys["server"] = bare.server
        tokens = keys["tokens"]
        assert isinstance(tokens, dict)
        tokens[bare.server] = token

    change_keys(keep)
    scopes = ", ".join(account["scopes"])
    Printer(arguments).result(
        {"server": bare.server, **account},
        lambda: output.text(f"logged in at {bare.server} as {account['name']} ({account['role']}): {scopes}"),
    )
    output.note(f"the token is stored in {keyring()}{ends}")
    return Exit.DONE


def _by_password(arguments: argparse.Namespace, bare: ApiClient) -> tuple[str, str]:
    """Return a new token, and a sentence on its expiry."""
    scopes = arguments.scopes and [scope.strip() for scope in arguments.scopes.split(",") if scope.strip()]
    if unknown := [scope for scope in scopes or () if scope not in SCOPES]:
        raise CommandError(f"unknown scope {unknown[0]!r}; choose from {', '.join(SCOPES)}")
    wish = {
        "user": arguments.user,
        "password": ask_secret("password: "),
        "name": f"arena login on {platform.node() or 'a machine'}"[:80],
        **({"scopes": scopes} if scopes else {}),
        "days": arguments.days,
    }
    found = bare.ask("POST", "/login", body=wish).data
    return str(found["token"]), f"; it {token_end(found['expires'])}"
