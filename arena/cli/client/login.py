"""`arena login|logout`: get a token and store it for the other commands; revoke and delete it."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass

from arena.cli.source import remote
from arena.cli.source.remote import ServerArguments
from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError
from arena.cli.terminal.fields import option
from arena.cli.terminal.printer import Output, Printer
from arena.cli.terminal.text_input import ask_secret, token_end
from arena.client import ApiClient, change_keys, keyring

SCOPES = ("read", "submit", "organise", "admin", "worker")


@dataclass(frozen=True, kw_only=True)
class LoginArguments(ServerArguments, Output):
    user: str | None = option(
        "log in with a password, read from the terminal or a pipe", metavar="NAME", type=argument.name
    )
    scopes: str = option("scopes of the token (default: all that your role may have)", metavar="S,S", default="")
    days: int = option(
        "the token expires after DAYS days (default 90); 0 or never: it does not expire",
        metavar="DAYS",
        default=90,
        type=argument.days,
    )


def login(arguments: LoginArguments) -> None:
    """Get a token, test it, and store it."""
    server = remote.server_of(arguments)
    bare = ApiClient(server)
    ends = ""
    token = arguments.token or (None if arguments.user else os.environ.get("ARENA_TOKEN"))
    if token is None:
        token, ends = (
            _by_password(arguments, bare)
            if arguments.user
            else (ask_secret("token: ", "; or use --token or --user NAME"), "")
        )
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


def _by_password(arguments: LoginArguments, bare: ApiClient) -> tuple[str, str]:
    """Return a new token, and a sentence on its expiry."""
    scopes = [scope.strip() for scope in arguments.scopes.split(",") if scope.strip()]
    if unknown := [scope for scope in scopes if scope not in SCOPES]:
        raise CommandError(f"unknown scope {unknown[0]!r}; choose from {', '.join(SCOPES)}")
    wish = {
        "user": arguments.user,
        "password": ask_secret("password: "),
        "name": f"arena login on {platform.node() or 'a machine'}"[:80],
        **({"scopes": scopes} if scopes else {}),
        "days": arguments.days,
    }
    token = bare.ask("POST", "/login", body=wish).data
    return str(token["token"]), f"; it {token_end(token['expires'])}"


def logout(arguments: ServerArguments) -> None:
    """Revoke the token and delete it; it is deleted also if the server does not answer."""
    client = remote.client(arguments)

    def delete(keys: dict[str, object]) -> None:
        tokens = keys["tokens"]
        assert isinstance(tokens, dict)
        tokens.pop(client.server, None)

    try:
        account = client.get("/account")
        client.ask("DELETE", f"/account/tokens/{account['token']}")
    finally:
        change_keys(delete)
    output.note(f"logged out of {client.server}; the token is revoked")
