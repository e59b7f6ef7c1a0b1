"""A file on its way in: written to disk as it comes, counted and hashed; cut short, it leaves nothing behind."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from aiohttp import web

from arena.data_folder import make_folder
from arena.http.problem import Problem

if TYPE_CHECKING:
    from arena.config import Settings

_CHUNK = 256 * 1024
IDLE_TIMEOUT_S = 60
"""An upload that stands still that long is given up."""
UPLOAD_TIMEOUT_S = 1800
"""No upload takes longer than that, however it trickles in."""
BODY_TIMEOUT_S = 30
"""How long a document or a plain form may take."""


@asynccontextmanager
async def time_limit(seconds: float) -> AsyncIterator[None]:
    """Reading what a client sends, for so long at most. Raises Problem (400)."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        detail = f"what was announced did not come within {seconds:g} s"
        raise Problem("bad-request", detail, hint="send it again", headers={"Connection": "close"}) from None


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """A file that has come in whole: open for reading, gone when closed."""

    file: BinaryIO
    size: int
    sha256: str


class Upload:
    """The body of a request, not read yet."""

    def __init__(self, request: web.Request, settings: Settings) -> None:
        self._request = request
        self._limit = settings.max_upload_bytes
        self._folder = Path(settings.data) / "incoming"

    @asynccontextmanager
    async def received(self, sha256: str | None = None) -> AsyncIterator[ReceivedFile]:
        """The whole file, checked against the sum the client gave. Raises Problem (400, 413, 422)."""
        if (self._request.content_length or 0) > self._limit:
            raise self._too_large()
        make_folder(self._folder)
        with tempfile.TemporaryFile(dir=self._folder) as file:
            async with time_limit(UPLOAD_TIMEOUT_S):
                found = await self._copy(file)
            if sha256 and found.sha256 != sha256:
                raise Problem("invalid", f"what came in has the SHA-256 {found.sha256}", field="sha256", hint="again")
            yield found

    async def _copy(self, file: BinaryIO) -> ReceivedFile:
        size, total = 0, hashlib.sha256()
        try:
            while chunk := await self._chunk():
                size += len(chunk)
                if size > self._limit:
                    raise self._too_large()
                total.update(chunk)
                await asyncio.to_thread(file.write, chunk)
        except (web.RequestPayloadError, ConnectionError) as error:
            raise Problem("bad-request", "the upload ended early", hint="send it again") from error
        if not size:
            raise Problem("invalid", "an empty file", hint="send the bundle as the body: curl --data-binary @FILE")
        await asyncio.to_thread(file.seek, 0)
        return ReceivedFile(file, size, total.hexdigest())

    async def _chunk(self) -> bytes:
        async with time_limit(IDLE_TIMEOUT_S):
            return await self._request.content.read(_CHUNK)

    def _too_large(self) -> Problem:
        return Problem("too-large", f"an upload has {self._limit:,} bytes at most", limit=self._limit)
