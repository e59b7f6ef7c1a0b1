"""Games of remote bots: through the lobby, over a local socket, to their seats."""

from __future__ import annotations

import asyncio
import json
import socket
import tempfile
from collections.abc import Awaitable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from arena.coordinator import lobby as module
from arena.coordinator.lobby import Lobby
from referee.bot.remote.link import LinkAllowance
from referee.game.record import GameRecord
from referee.game.spec import Adjudication, BotSpec, GameSpec, PlannedGame
from referee.play.play import play
from referee.play.roster import Roster
from referee.rules import load
from referee.rules.core import Kind, Termination
from referee.rules.position import Position
from referee.sandbox import open_sandbox
from tests.referee.conftest import PATIENT_TIME

TERMS = LinkAllowance(move_ms=300, game_ms=5000, grace_ms=60_000)
TIMEOUT_S = 60


class Author:
    """A stand-in for `arena connect`: a program for each game that plays the first legal move.

    The connection is cut after `cuts_at` requests for a move.
    """

    def __init__(self, lobby: Lobby, name: str, *, cuts_at: int = 0) -> None:
        self._lobby, self._name, self._cuts_at = lobby, name, cuts_at
        self.asked = 0
        self.opened: list[int] = []
        self.closed: list[int] = []
        self.problems: list[str] = []
        self._cut = asyncio.Event()

    async def attend(self) -> None:
        """Stay connected until the cut."""
        self._cut.clear()
        await self._lobby.attend(1, self._name, 2, self, self._cut.wait())

    async def close(self) -> None:
        """Do nothing."""

    async def ping(self, mark: bytes) -> None:
        asyncio.get_running_loop().call_soon(self._lobby.pong, self._name, self, mark)

    async def send(self, text: str) -> None:
        message: dict[str, Any] = json.loads(text)
        if "say" in message:
            for line in self._answers(message["say"]):
                self._lobby.receive(self._name, self, json.dumps({"game": message["game"], "line": line}))
        elif "problem" in message:
            self.problems.append(message["problem"])
        elif message["do"] == "open":
            self.opened.append(message["game"])
        else:
            self.closed.append(message["game"])

    def _answers(self, said: str) -> list[str]:
        if said == "ugi":
            return ["id name author", "ugiok"]
        if said == "isready":
            return ["readyok"]
        if "\ngo " not in said:
            return []
        self.asked += 1
        if self.asked == self._cuts_at:
            self._cut.set()
            return []
        moves = said.splitlines()[0].partition(" moves ")[2].split()
        position = Position.start(load("loa").settle()).play_all(moves)
        return [f"bestmove {position.texts[0]}"]


def spec_of(lobby: Lobby, name: str) -> BotSpec:
    return BotSpec(name, ("remote", lobby.key), folder=lobby.place, place="remote")


def game(first: BotSpec, second: BotSpec) -> PlannedGame:
    shortened = Adjudication(max_plies=8)
    return PlannedGame.of(GameSpec("loa", "standard", first, second, time=PATIENT_TIME, adjudication=shortened))


async def played(lobby: Lobby, *names: str) -> GameRecord:
    def run() -> GameRecord:
        with Roster(open_sandbox("none")) as roster:
            return play(game(*(spec_of(lobby, name) for name in names)), roster)

    return await asyncio.wait_for(asyncio.to_thread(run), TIMEOUT_S)


async def ended(*jobs: Awaitable[Any]) -> None:
    tasks = [asyncio.ensure_future(job) for job in jobs]
    for task in tasks:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def test_a_game_continues_after_a_reconnect() -> None:
    async def scene() -> tuple[GameRecord, Author]:
        async with Lobby(TERMS) as lobby:
            author, other = Author(lobby, "ada", cuts_at=3), Author(lobby, "bob")

            async def come_back() -> None:
                await author.attend()
                await author.attend()

            jobs = [asyncio.ensure_future(come_back()), asyncio.ensure_future(other.attend())]
            record = await played(lobby, "ada", "bob")
            async with asyncio.timeout(TIMEOUT_S):  # the seat ends after its game
                while lobby.present["ada"].games:
                    await asyncio.sleep(0)
            await ended(*jobs)
            return record, author

    record, author = asyncio.run(scene())
    assert (record.termination, len(record.moves)) == (Termination.MAX_PLIES, 8)
    assert author.asked == 5
    assert len(author.opened) == 2
    first, second = record.network["first"], record.network["second"]
    assert (first.losses, first.reconnected, second.losses, second.reconnected) == (1, 1, 0, 0)
    assert first.grace_ms == 60_000
    assert 0 < second.wait_ms < 60_000


def test_a_bot_that_does_not_reconnect_loses() -> None:
    async def scene() -> GameRecord:
        async with Lobby(LinkAllowance(grace_ms=50)) as lobby:
            jobs = [
                asyncio.ensure_future(Author(lobby, name, cuts_at=cut).attend()) for name, cut in (("a", 0), ("b", 2))
            ]
            record = await played(lobby, "a", "b")
            await ended(*jobs)
            return record

    record = asyncio.run(scene())
    assert (record.winner, record.termination, record.kind) == ("first", Termination.DISCONNECTED, Kind.FORFEIT)


def test_a_seat_needs_the_key() -> None:
    async def scene() -> bytes:
        async with Lobby(TERMS) as lobby:
            reader, writer = await asyncio.open_unix_connection(lobby.place)
            writer.write(b'{"key": "guessed", "bot": "ada"}\n')
            answer = await asyncio.wait_for(reader.read(), TIMEOUT_S)
            writer.close()
            return answer

    assert asyncio.run(scene()) == b""


def test_a_second_connection_replaces_the_first() -> None:
    async def scene() -> bool:
        async with Lobby(TERMS) as lobby:
            earlier, later = Author(lobby, "ada"), Author(lobby, "ada")
            first = asyncio.ensure_future(earlier.attend())
            while "ada" not in lobby.present:
                await asyncio.sleep(0)
            second = asyncio.ensure_future(later.attend())
            record = await played(lobby, "ada", "ada")
            await ended(first, second)
            assert "ada has connected again" in "".join(earlier.problems)
            assert not later.problems
            return record.termination is Termination.MAX_PLIES

    assert asyncio.run(scene())


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a private folder for lobbies, with a path short enough for sockets."""
    with tempfile.TemporaryDirectory() as found:
        monkeypatch.setattr(tempfile, "tempdir", found)
        yield Path(found)


def test_folders_of_killed_lobbies_are_removed(place: Path) -> None:
    left, begun = place / "arena-lobby-left", place / "arena-lobby-begun"
    left.mkdir()
    begun.mkdir()
    with socket.socket(socket.AF_UNIX) as killed:
        killed.bind(str(left / "seats"))

    async def scene() -> None:
        async with Lobby(TERMS) as other, Lobby(TERMS):
            assert not left.exists()
            assert begun.exists()
            assert Path(other.place).is_socket()

    asyncio.run(scene())
    assert [path.name for path in place.iterdir()] == ["arena-lobby-begun"]


@pytest.mark.usefixtures("place")
def test_lobbies_that_start_at_the_same_moment_do_not_interfere(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene() -> None:
        async with Lobby(TERMS) as lobby:
            assert Path(lobby.place).is_socket()
            reader, writer = await asyncio.open_unix_connection(lobby.place)
            writer.write(b"{}\n")
            assert await asyncio.wait_for(reader.read(), TIMEOUT_S) == b""
            writer.close()

    listen = socket.socket.listen

    def late(self: socket.socket, backlog: int) -> None:
        module._sweep()  # another lobby starts when this one has its socket but does not listen yet
        listen(self, backlog)

    monkeypatch.setattr(socket.socket, "listen", late)
    asyncio.run(scene())


def test_invalid_messages_are_rejected() -> None:
    async def scene() -> None:
        async with Lobby(TERMS) as lobby:
            author = Author(lobby, "ada")
            job = asyncio.ensure_future(author.attend())
            while "ada" not in lobby.present:
                await asyncio.sleep(0)
            for text in ("{", "[]", '{"line": "x"}'):
                with pytest.raises((ValueError, KeyError, TypeError)):
                    lobby.receive("ada", author, text)
            lobby.receive("ada", author, '{"game": 77, "line": "of a game that is over"}')
            await ended(job)

    asyncio.run(scene())
