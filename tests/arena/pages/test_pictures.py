"""Pictures that take long: drawn once for all who ask, one at a time, in a process of their own, within bounds."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from arena.http.problem import Problem
from arena.pages.page import Pictures

SIZE = 1000
"""Bytes of a picture: random ones, so that a second drawing differs from the first."""


def with_pictures(use: Callable[[Pictures], Awaitable[Any]]) -> Any:
    """Call a coroutine function with pictures of which two can be kept."""

    async def used() -> Any:
        pictures = Pictures(max_bytes=2 * SIZE + SIZE // 2)
        try:
            return await use(pictures)
        finally:
            await pictures.close(web.Application())

    return asyncio.run(used())


def test_all_who_ask_get_one_drawing() -> None:
    async def ask(pictures: Pictures) -> list[bytes]:
        asking = [pictures.get("a", f"client {number}", os.urandom, SIZE) for number in range(30)]
        return [*await asyncio.gather(*asking), await pictures.get("a", "late", os.urandom, SIZE)]

    assert len(set(with_pictures(ask))) == 1


def test_another_process_draws_after_all_that_is_urgent() -> None:
    async def ask(pictures: Pictures) -> list[int]:
        commands = (["nice"], ["sh", "-c", "echo $PPID"])
        return [int(await pictures.get(words[0], "client", subprocess.check_output, words)) for words in commands]

    niceness, process = with_pictures(ask)
    assert niceness > os.nice(0)
    assert process != os.getpid()


def test_pictures_are_kept_up_to_their_bytes() -> None:
    async def ask(pictures: Pictures) -> tuple[list[bytes], list[bool]]:
        drawn = [await pictures.get(name, "client", os.urandom, SIZE) for name in "abacabb"]
        return drawn, [pictures.has(name) for name in "abc"]

    drawn, kept = with_pictures(ask)
    a, b, again_a, _, still_a, new_b, again_b = drawn
    assert a == again_a == still_a
    assert b != new_b == again_b
    assert kept == [True, True, False]


def test_a_client_who_wants_too_many_is_sent_away() -> None:
    async def ask(pictures: Pictures) -> list[object]:
        asking = [pictures.get(name, "client", os.urandom, SIZE) for name in "abc"]
        return [*await asyncio.gather(*asking, return_exceptions=True)]

    *served, last = with_pictures(ask)
    assert all(isinstance(picture, bytes) for picture in served)
    assert isinstance(last, Problem)
    assert (last.kind, last.detail) == ("unavailable", "too many pictures are being drawn")


def test_a_drawing_outlives_its_client() -> None:
    async def ask(pictures: Pictures) -> bool:
        asking = asyncio.create_task(pictures.get("a", "client", os.urandom, SIZE))
        await asyncio.sleep(0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert pictures.has("a")
        return len(await pictures.get("a", "other", os.urandom, SIZE)) == SIZE

    assert with_pictures(ask)
