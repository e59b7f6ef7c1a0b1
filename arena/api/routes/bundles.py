"""Bundles for workers: the files of a bot by their SHA-256, for tokens with the scope `worker`."""

from __future__ import annotations

import contextlib
import tempfile
from typing import BinaryIO

from aiohttp import web

from arena.api.registry import Routes, Sha256
from arena.http import response_cache
from arena.http.problem import Problem
from arena.http.request_context import RequestContext
from arena.submission.bundle_store import BundleError

routes = Routes()
BYTES = "application/octet-stream"
_CHUNK = 256 * 1024


@routes.get(
    "/bundles/{sha256}",
    tag="workers",
    summary="Download a bundle",
    scope="worker",
    forms={BYTES: "the uploaded file; its SHA-256 is its name"},
    example=f"/api/v1/bundles/{'0' * 64} -o bundle",
)
async def show(call: RequestContext, sha256: Sha256) -> web.StreamResponse:
    """Return a bundle by its SHA-256. The checksum is verified before the first byte is sent."""
    call.accepts(BYTES)
    etag = f'"{sha256}"'
    headers = {
        "Cache-Control": response_cache.header_value("immutable", is_private=True),
        "ETag": etag,
        "Vary": "Authorization",
    }
    if not await call.run(call.arena.bundles.has, sha256):
        raise Problem("not-found", f"no bundle {sha256}", hint="the spec of a game names the bundles of its bots")
    if response_cache.etag_matches(call.request, etag):
        return web.Response(status=304, headers=headers)
    with tempfile.TemporaryFile() as file:
        try:
            size = await call.run(call.arena.bundles.fetch, sha256, file)
        except BundleError as error:
            raise Problem("unavailable", str(error), hint="restore it from a backup of the bundle store") from None
        file.seek(0)
        return await _send(call, file, size, headers)


async def _send(call: RequestContext, file: BinaryIO, size: int, headers: dict[str, str]) -> web.StreamResponse:
    response = web.StreamResponse(headers={**headers, "Content-Type": BYTES})
    response.content_length = size
    await response.prepare(call.request)
    with contextlib.suppress(ConnectionError):
        while chunk := await call.run(file.read, _CHUNK):
            await response.write(chunk)
        await response.write_eof()
    return response
