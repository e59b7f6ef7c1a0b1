"""An upload without a length: reading and writing stop at the limit."""

from __future__ import annotations

import asyncio
import io
import tempfile
from pathlib import Path
from typing import Any, cast

import pytest
from aiohttp import web

from arena.config import Settings
from arena.http.problem import Problem
from arena.http.upload import Upload

LIMIT, CHUNK = 1024, 300


class Body:
    """A request body in chunks of 300 bytes, with `content` and `content_length` like `web.Request`."""

    content_length = None

    def __init__(self, chunks: int) -> None:
        self.left = chunks
        self.content = self

    async def read(self, _: int) -> bytes:
        self.left = max(-1, self.left - 1)
        return b"x" * CHUNK if self.left >= 0 else b""


class Sink(io.BytesIO):
    """A file that counts the bytes written to it."""

    written = 0

    def write(self, data: Any) -> int:
        self.written += len(data)
        return super().write(data)


@pytest.mark.parametrize(("chunks", "is_taken"), [(3, True), (4, False), (100, False)])
def test_upload_in_chunks_is_refused_before_more_than_the_limit_is_written(
    chunks: int, is_taken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink, body = Sink(), Body(chunks)
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: sink)
    upload = Upload(cast("web.Request", body), Settings(data=tmp_path, max_upload_bytes=LIMIT))

    async def receive() -> int:
        async with upload.received() as file:
            return file.size

    if is_taken:
        assert asyncio.run(receive()) == chunks * CHUNK == sink.written
        return
    with pytest.raises(Problem) as caught:
        asyncio.run(receive())
    assert caught.value.status == 413
    assert sink.written <= LIMIT
    assert body.left == chunks - 4, "the fourth chunk is one too many, and nothing is read after it"
