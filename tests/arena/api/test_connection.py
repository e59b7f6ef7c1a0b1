"""Connections of remote bots: introduction, rejection, resumption."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import pytest

from arena import services
from arena.api import connection, introduction
from arena.cli.client.connect import Connection, Pace, _refusal
from arena.cli.terminal.exit import CommandError, Exit
from arena.client import ApiClient
from arena.coordinator.lobby import Lobby
from arena.credentials import digest_of
from arena.errors import StoreUnavailableError
from arena.tournaments.entry import check_eligibility
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
    verdicts = [check_eligibility(version.capabilities, families, rules.settle(name)) for name in ("standard", "loa12")]
    assert [verdict.may_play for verdict in verdicts] == [True, False]
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


def test_a_refused_handshake_is_explained_by_the_server(
    server: Server, lobby: Lobby, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the bot may try again is said by the status, why by the problem document of a plain request."""
    client = ApiClient(server.url, server.person("mia"))
    reason = asyncio.run(_refusal(client, {"bot": "mias", "family": ["loa"]}, 503))
    assert reason == "the server takes no bots now: it answers 503"
    monkeypatch.setattr(server.context, "lobby", None)
    reason = asyncio.run(_refusal(client, {"bot": "mias", "family": ["loa"]}, 503))
    assert reason == "the server takes no bots now: remote bots are disabled on this server; ask its operator"
    with pytest.raises(CommandError, match=r"refuses the bot: bot: invalid value 'M'; write 1 to 40") as error:
        asyncio.run(_refusal(client, {"bot": "M", "family": ["loa"]}, 422))
    assert error.value.code is Exit.USAGE


def test_a_bot_hears_why_it_is_not_taken_now(server: Server, lobby: Lobby, monkeypatch: pytest.MonkeyPatch) -> None:
    def admit(*_: object) -> None:
        raise StoreUnavailableError("the database cannot be used now: database is locked")

    monkeypatch.setattr(services.remote, "admit", admit)
    token = server.person("ada")
    spec = BotSpec("bot", ("/bin/sh", "-c", f"read line; printf '{KNOWN}\n'; read line"))
    url = f"{server.url}/api/v1/connect?bot=soon&family=loa&family=tablut"

    async def come_once() -> str:
        return await asyncio.wait_for(Connection(spec, asyncio.Event(), asyncio.Event()).last(url, token), 50)

    told = "the server takes no bots now: the database cannot be used now: database is locked"
    assert asyncio.run(come_once()) == told


@pytest.mark.parametrize("text", ["no json", "[]"])
@pytest.mark.parametrize(("lines", "told"), [((), "during the handshake"), (HANDSHAKE, "invalid message '")])
def test_an_invalid_message_ends_the_connection_with_its_reason(
    text: str, lines: tuple[str, ...], told: str, server: Server, lobby: Lobby
) -> None:
    async def scene() -> str:
        headers = {"Authorization": f"Bearer {server.person('ada')}"}
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.ws_connect(f"{server.url}/api/v1/connect?bot=odd&family=loa") as socket,
        ):
            for line in lines:
                await socket.send_json({"game": introduction.GAME, "line": line})
            while lines and "run" not in await socket.receive_str():
                pass
            await socket.send_str(text)
            return str([message.data async for message in socket][-1])

    assert told in asyncio.run(scene())


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


# -- limits ------------------------------------------------------------------------------------------------------------


async def _flood(server: Server, token: str, query: str, count: int, text: str) -> tuple[list[Any], int | None]:
    """Connect, and send a text as many times; return the last messages of the server and its code of closing.

    Returns when the lobby has dropped the bot.
    """
    url, headers = f"{server.url}/api/v1/connect?{query}", {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(headers=headers) as session, session.ws_connect(url) as socket:
        while "bot" not in (message := json.loads((await socket.receive()).data)):
            if "say" in message:
                for line in HANDSHAKE:
                    await socket.send_json({"game": message["game"], "line": line})
        with contextlib.suppress(ConnectionError):
            for _ in range(count):
                await socket.send_str(text)
        heard = []
        while (received := await socket.receive()).type is aiohttp.WSMsgType.TEXT:
            heard.append(json.loads(received.data))
    assert server.context.lobby
    while "flood v1" in server.context.lobby.present:
        await asyncio.sleep(0)
    return heard, socket.close_code


@pytest.mark.parametrize(("count", "line"), [(2000, "x"), (150, "x" * 15_000)], ids=["messages", "bytes"])
def test_connection_that_floods_is_closed_with_a_reason(server: Server, lobby: Lobby, count: int, line: str) -> None:
    text = json.dumps({"game": 99, "line": line})
    heard, code = server.call(_flood(server, server.person("ada"), "bot=flood&family=loa", count, text))
    assert "too many messages: 70 messages or KiB a second are allowed" in heard[-1]["problem"]
    assert code == aiohttp.WSCloseCode.POLICY_VIOLATION


def test_connection_gets_a_rate_for_each_of_its_games_and_no_more_games_than_allowed(
    server: Server, lobby: Lobby
) -> None:
    most = server.context.settings.max_remote_games
    assert connection.message_rate(most).burst == 20 * (50 + 20 * most)
    heard, code = server.call(
        _flood(server, server.person("ada"), "bot=flood&family=loa&games=64", 9000, '{"game": 99, "line": "x"}')
    )
    assert f"too many messages: {50 + 20 * most} messages" in heard[-1]["problem"]
    assert code == aiohttp.WSCloseCode.POLICY_VIOLATION


def test_messages_that_have_arrived_are_read_in_turn_with_other_work() -> None:
    class Full:
        """A WebSocket with many messages that have arrived already."""

        def __init__(self) -> None:
            self.left = 500

        def __aiter__(self) -> Full:
            return self

        async def __anext__(self) -> aiohttp.WSMessage:
            self.left -= 1
            if self.left < 0:
                raise StopAsyncIteration
            return aiohttp.WSMessage(aiohttp.WSMsgType.TEXT, "{}", "")

    async def scene() -> int:
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(other())
        count = 0
        async for _ in connection._messages(Full(), 1):  # type: ignore[arg-type]
            count += 1
        task.cancel()
        assert count == 500
        return turns

    assert asyncio.run(scene()) >= 500


def test_client_writes_no_faster_than_the_server_allows() -> None:
    waits: list[float] = []

    async def scene() -> None:
        pace = Pace(1)
        now = 0.0
        pace._limiter._clock = lambda: now

        async def sleep(seconds: float) -> None:
            nonlocal now
            waits.append(seconds)
            now += seconds + 1e-6  # a clock is never as exact as the rounded time

        for _ in range(connection.message_rate(1).burst):
            await pace.wait("x" * 24, sleep=sleep)
        assert now == pytest.approx(10, abs=1), "half of the burst at once, the rest in ten seconds"

    asyncio.run(scene())
    assert waits


def test_cookies_do_not_connect(server: Server, lobby: Lobby) -> None:
    """A page of another site can open WebSockets here, and browsers send the cookies along."""
    user = server.store.users.find("ada").id or 0
    secret = "s" * 43
    server.store.users.add_login(user, digest_of(secret), "csrf", datetime.now(UTC) + timedelta(hours=1))

    async def come_by_cookie() -> int:
        headers = {"Cookie": f"arena={secret}", "Origin": server.url}
        async with aiohttp.ClientSession(headers=headers) as session:
            with pytest.raises(aiohttp.WSServerHandshakeError) as error:
                await session.ws_connect(f"{server.url}/api/v1/connect?bot=far&family=loa")
            return error.value.status

    assert server.get("/api/v1/account", headers={"Cookie": f"arena={secret}"}).status == 200
    assert server.call(come_by_cookie()) == 401


def test_connection_needs_the_scope_submit(server: Server, lobby: Lobby) -> None:
    secret = f"arena_{'r' * 43}"
    server.store.users.add_token(server.store.users.find("ada").id or 0, "read", digest_of(secret), "read")

    async def come_by_token() -> int:
        async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {secret}"}) as session:
            with pytest.raises(aiohttp.WSServerHandshakeError) as error:
                await session.ws_connect(f"{server.url}/api/v1/connect?bot=far&family=loa")
            return error.value.status

    assert server.call(come_by_token()) == 403
