"""Uploads: written to a temporary file while they arrive, counted and hashed. An interrupted upload leaves no file."""

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
"""Timeout between two chunks of an upload."""
UPLOAD_TIMEOUT_S = 1800
"""Timeout of a whole upload, however slowly it arrives."""
BODY_TIMEOUT_S = 30
"""Timeout of a document or a plain form."""


@asynccontextmanager
async def time_limit(seconds: float) -> AsyncIterator[None]:
    """Limit how long a client may take to send its body. Raises Problem (400)."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        detail = f"the body did not arrive within {seconds:g} s"
        # The rest of the body may still arrive: on this connection it would be read as the next request.
        raise Problem("bad-request", detail, hint="send it again", headers={"Connection": "close"}) from None


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """A complete upload, open for reading; closing deletes it."""

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
        """Receive the whole file and verify the client's checksum. Raises Problem (400, 413, 422)."""
        if (self._request.content_length or 0) > self._limit:
            raise self._too_large()
        make_folder(self._folder)
        # On the disk of the data: /tmp is often memory, and smaller than an upload may be.
        with tempfile.TemporaryFile(dir=self._folder) as file:
            async with time_limit(UPLOAD_TIMEOUT_S):
                received = await self._copy(file)
            if sha256 and received.sha256 != sha256:
                raise Problem(
                    "invalid",
                    f"the received file has the SHA-256 {received.sha256}",
                    field="sha256",
                    hint="upload it again",
                )
            yield received

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
            raise Problem("invalid", "the file is empty", hint="send the bundle as the body: curl --data-binary @FILE")
        await asyncio.to_thread(file.seek, 0)
        return ReceivedFile(file, size, total.hexdigest())

    async def _chunk(self) -> bytes:
        async with time_limit(IDLE_TIMEOUT_S):
            return await self._request.content.read(_CHUNK)

    def _too_large(self) -> Problem:
        return Problem("too-large", f"an upload may have at most {self._limit:,} bytes", limit=self._limit)
