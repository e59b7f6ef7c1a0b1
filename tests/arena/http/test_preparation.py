"""Families that are being compiled: who needs one waits a moment, then is told; who waits is served first."""

from __future__ import annotations

import asyncio

import pytest

from arena.http import preparation
from arena.http.preparation import Preparation
from arena.http.problem import Problem


def test_who_needs_a_cold_family_is_told_and_gets_it_first(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    async def work() -> None:
        gates = {name: asyncio.Event() for name in ("loa", "tablut", "baroque")}

        async def compile_now(name: str) -> int:
            compiled.append(name)
            await gates[name].wait()
            return 1  # no load in this process

        monkeypatch.setattr(preparation, "_compile", compile_now)
        monkeypatch.setattr(preparation, "is_cold", lambda name: name != "pijersi")
        monkeypatch.setattr(preparation, "PATIENCE_S", 0.01)
        found = Preparation()
        await found.require("loa")  # nothing is prepared yet
        async with found.begun(["loa", "pijersi", "tablut", "baroque"]):
            while not compiled:
                await asyncio.sleep(0)
            await found.require("pijersi")
            with pytest.raises(Problem, match="rules of Baroque") as raised:
                await found.require("baroque")
            assert raised.value.status == 503
            assert raised.value.headers == {"Retry-After": "5", "Refresh": "5"}
            monkeypatch.setattr(preparation, "PATIENCE_S", 90.0)
            waiting = asyncio.create_task(found.require("baroque"))
            gates["loa"].set()
            gates["baroque"].set()
            await waiting
            await found.require("loa")
        assert compiled[:2] == ["loa", "baroque"]

    asyncio.run(asyncio.wait_for(work(), 100))


def test_another_process_compiles_and_its_failure_is_known() -> None:
    assert asyncio.run(preparation._compile("nonsuch")) == 1
