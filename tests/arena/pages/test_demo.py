"""`arena demo` serves pages while it plays, and reports an occupied port before the first game."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import aiohttp
import pytest

from arena.app import context_of
from arena.cli.server import demo_run
from arena.cli.terminal.exit import CommandError
from arena.events.bus import Bus
from arena.http.request_context import Preparation
from arena.store import Store
from tests.arena.api.server import settings_in


def test_pages_over_the_bus_of_the_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store.in_folder(tmp_path)

    async def look() -> tuple[int, str]:
        async with demo_run._pages(context_of(store, settings_in(tmp_path), Bus()), "127.0.0.1", 0):
            address = capsys.readouterr().err.split("watch at ")[1].split()[0]
            async with aiohttp.ClientSession() as session, session.get(address) as response:
                return response.status, await response.text()

    status, text = asyncio.run(look())
    store.close()
    assert status == 200
    assert "Playing now" in text


def test_the_front_page_tells_what_is_compiled_and_how_far(tmp_path: Path) -> None:
    store, preparation = Store.in_folder(tmp_path), Preparation(5, 2, {"loa": "legal", "abalone": ""})
    preparation.compiled["loa"] += 40  # half of them

    async def look() -> list[str]:
        told: list[str] = []
        context = context_of(store, settings_in(tmp_path), Bus())
        context.preparation = preparation
        async with demo_run._pages(context, "127.0.0.1", 0) as address, aiohttp.ClientSession() as session:
            for ready in (2, 3, 5):
                preparation.ready = ready
                async with session.get(address) as response:
                    told.append(" ".join((await response.text()).split()))
        return told

    first, second, last = asyncio.run(look())
    store.close()
    assert "compiled, which is done once: 2 of 5 games are ready. Now: Abalone, Lines of Action." in first
    assert "3 of 5 games are ready" in second
    assert '<progress max="5" value="2.5"' in first
    assert '<progress max="5" value="3.5"' in second
    assert "No game has been played yet" not in first + second
    assert "No game has been played yet" in last


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    store = Store.in_folder(tmp_path)

    async def look(port: int) -> None:
        async with demo_run._pages(context_of(store, settings_in(tmp_path), Bus()), "127.0.0.1", port):
            pass

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(CommandError, match="already in use; choose another --port, 0 for a free one"):
            asyncio.run(look(taken.getsockname()[1]))
    store.close()
