"""Files that take long: made once for all who ask, one at a time, in a process of their own, within bounds."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from arena.http.kept_files import KeptFiles
from arena.http.problem import Problem

SIZE = 1000
"""Bytes of a file: random ones, so that a second making differs from the first."""


def with_files(use: Callable[[KeptFiles], Awaitable[Any]]) -> Any:
    """Call a coroutine function with files of which two can be kept."""

    async def used() -> Any:
        files = KeptFiles(max_bytes=2 * SIZE + SIZE // 2)
        try:
            return await use(files)
        finally:
            await files.close(web.Application())

    return asyncio.run(used())


def test_all_who_ask_get_one_making() -> None:
    async def ask(files: KeptFiles) -> list[bytes]:
        asking = [files.get("a", f"client {number}", os.urandom, SIZE) for number in range(30)]
        return [*await asyncio.gather(*asking), await files.get("a", "late", os.urandom, SIZE)]

    assert len(set(with_files(ask))) == 1


def test_another_process_makes_them_after_all_that_is_urgent() -> None:
    async def ask(files: KeptFiles) -> list[int]:
        commands = (["nice"], ["sh", "-c", "echo $PPID"])
        return [int(await files.get(words[0], "client", subprocess.check_output, words)) for words in commands]

    niceness, process = with_files(ask)
    assert niceness >= 10
    assert process != os.getpid()


def test_files_are_kept_up_to_their_bytes() -> None:
    async def ask(files: KeptFiles) -> tuple[list[bytes], list[bool]]:
        made = [await files.get(name, "client", os.urandom, SIZE) for name in "abacabb"]
        return made, [files.has(name) for name in "abc"]

    made, kept = with_files(ask)
    a, b, again_a, _, still_a, new_b, again_b = made
    assert a == again_a == still_a
    assert b != new_b == again_b
    assert kept == [True, True, False]


def test_a_client_who_wants_too_many_is_sent_away() -> None:
    async def ask(files: KeptFiles) -> list[object]:
        asking = [files.get(name, "client", os.urandom, SIZE) for name in "abc"]
        return [*await asyncio.gather(*asking, return_exceptions=True)]

    *served, last = with_files(ask)
    assert all(isinstance(file, bytes) for file in served)
    assert isinstance(last, Problem)
    assert (last.kind, last.detail) == ("unavailable", "too many files that take long are being made")


def test_a_making_outlives_its_client() -> None:
    async def ask(files: KeptFiles) -> bool:
        asking = asyncio.create_task(files.get("a", "client", os.urandom, SIZE))
        await asyncio.sleep(0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert files.has("a")
        return len(await files.get("a", "other", os.urandom, SIZE)) == SIZE

    assert with_files(ask)
