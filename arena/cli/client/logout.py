"""`arena logout`: revoke the token of a server, and delete it from this machine."""

from __future__ import annotations

import argparse

from arena.cli.source import remote
from arena.cli.terminal import output
from arena.cli.terminal.exit import Exit
from arena.client import change_keys


def add(parser: argparse.ArgumentParser) -> None:
    remote.add_server(parser)


def run(arguments: argparse.Namespace) -> int:
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
    return Exit.DONE
