"""Connections of remote bots: introduction, rejection, resumption."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import aiohttp
import pytest

from arena.api import connection, introduction
from arena.cli.client.connect import Connection
from arena.cli.terminal.exit import CommandError, Exit
from arena.coordinator.lobby import Lobby
from arena.tournaments.eligibility import check_eligibility
from referee.bot.remote.link import LinkAllowance
from referee.game.spec import BotSpec
from referee.rules import load
from tests.arena.api.server import Server

HANDSHAKE = ("id name far", "id family loa", "option name Variant type combo default standard var standard", "ugiok")
KNOWN = "id family loa\nid family tablut\nugiok"


@pytest.fixture(scope="module")
def lobby(server: Server) -> Iterator[Lobby]:
    found = Lobby(LinkAllowance())
    server.call(found.__aenter__())
    server.context.lobby = found
    yield found
    server.context.lobby = None
    server.call(found.__aexit__())


async def come(server: Server, token: str, query: str, *lines: str) -> list[dict[str, Any]]:
    """Connect a bot that sends these lines; return the messages up to its admission or rejection."""
    headers = {"Authorization": f"Bearer {token}"}
    heard: list[dict[str, Any]] = []
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.ws_connect(f"{server.url}/api/v1/connect?{query}") as socket,
    ):
        while (message := await socket.receive()).type is aiohttp.WSMsgType.TEXT:
            heard.append(json.loads(message.data))
            if "say" in heard[-1]:
                for line in lines:
                    word = "gone" if line.startswith("exit") else "line"
                    await socket.send_json({"game": heard[-1]["game"], word: line})
            if "bot" in heard[-1]:
                break
    return heard


def test_announced_capabilities_decide_eligibility(server: Server, lobby: Lobby) -> None:
    token = server.person("ada")
    heard = server.call(come(server, token, "bot=far&family=loa", *HANDSHAKE))
    assert heard[:2] == [{"game": 0, "do": "open"}, {"game": 0, "say": "ugi"}]
    assert heard[-1]["bot"] == "far v1"
    version = server.store.versions.find("far")
    families = server.store.versions.families(version.id or 0)
    assert families == {"loa": ("standard", "scrambled-eggs")}  # which can be shown as a position
    rules = load("loa")
    found = [check_eligibility(version.capabilities, families, rules.settle(name)) for name in ("standard", "loa12")]
    assert [verdict.may_play for verdict in found] == [True, False]
    ruled = check_eligibility(version.capabilities, families, rules.settle("standard", {"no_moves": "loss"}))
    assert not ruled.may_play
    assert "no_moves" in ruled.reason
    more = server.call(come(server, token, "bot=far&family=loa", "id family loa", "ugiok"))
    assert more[-1]["bot"] == "far v1"
    assert server.store.versions.find("far").capabilities["loa"]["name"] == ""


def test_bot_is_introduced_once_per_run(server: Server, lobby: Lobby) -> None:
    token = server.person("ada")
    run = server.call(come(server, token, "bot=once&family=loa", *HANDSHAKE))[-1]["run"]
    again = server.call(come(server, token, f"bot=once&family=loa&run={run}"))
    assert [list(message) for message in again] == [["bot", "games", "run"]]
    assert again[0]["run"] == run
    other = server.call(come(server, token, "bot=once&family=loa&run=guessed", *HANDSHAKE))
    assert other[0] == {"game": 0, "do": "open"}


@pytest.mark.parametrize(
    ("query", "lines", "told"),
    [
        ("bot=bad&family=abalone", HANDSHAKE, "cannot play abalone: the bot plays loa only; announce: id family aba"),
        ("bot=bad&family=loa", ("exit code 3",), "exited before `ugiok`: exit code 3; test the bot with `arena ch"),
        ("bot=bad&family=loa", ("hello",), "did not answer `ugi` within 0.1 s; test"),
        ("bot=bad&family=loa", ("hello",) * 40, "sent 20 lines without `ugiok`"),
    ],
)
def test_bot_without_handshake_is_refused(
    query: str, lines: tuple[str, ...], told: str, server: Server, lobby: Lobby, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(introduction, "MAX_LINES", 20)
    monkeypatch.setattr(introduction, "HANDSHAKE_TIMEOUT_S", 0.1 if "0.1 s" in told else 20)
    heard = server.call(come(server, server.person("ada"), query, *lines))
    assert told in heard[-1]["problem"]
    assert all("bad" not in bot.name for bot in server.store.bots.page(limit=100).items)


def test_a_token_that_is_revoked_ends_the_connection(
    server: Server, lobby: Lobby, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "POLL_INTERVAL_S", 0.01)
    token = server.person("eve")
    spec = BotSpec("bot", ("/bin/sh", "-c", f"read line; printf '{KNOWN}\n'; read line"))
    url = f"{server.url}/api/v1/connect?bot=eves&family=loa&family=tablut"

    async def stay() -> str:
        stop, aborted = asyncio.Event(), asyncio.Event()
        return await asyncio.wait_for(Connection(spec, stop, aborted).last(url, token), 50)

    async def scene() -> None:
        staying = asyncio.ensure_future(stay())
        while "eves v1" not in lobby.present:
            await asyncio.sleep(0)
        user = server.store.users.find("eve").id or 0
        (known,) = server.store.users.tokens(user)
        server.store.users.revoke(user, known.id or 0)
        with pytest.raises(CommandError, match="token is no longer valid") as error:
            await staying
        assert error.value.code is Exit.REFUSED

    server.call(scene())
    assert server.store.versions.families(server.store.versions.find("eves").id or 0).keys() == {"loa", "tablut"}
