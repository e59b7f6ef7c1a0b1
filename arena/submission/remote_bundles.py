"""The bundle store of a remote worker: it downloads bundles from the arena's API with the worker's token.

Every copy is verified against its name, as with any store.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from arena.client import ApiClient, ClientError
from arena.errors import StoreUnavailableError
from arena.submission.bundle_store import BundleError, BundleStore
from arena.submission.unpack import BundleBounds
from referee.errors import Exit

TOKEN = "ARENA_WORKER_TOKEN"  # noqa: S105 - the name of a variable
TOKEN_FILE = f"{TOKEN}_FILE"
"""Variable that names a file with the token. It is read for each bundle, so the token may change meanwhile."""
TRIES = 3
WAIT_S = 0.5
_BYTES = "application/octet-stream"


class RemoteBundleStore(BundleStore):
    """The bundles of the arena at `server`, and the unpacked copies below `cache`."""

    def __init__(
        self, server: str, cache: Path, *, bounds: BundleBounds | None = None, cache_bytes: int = 4 * 2**30
    ) -> None:
        super().__init__(str(cache), cache, bounds=bounds, cache_bytes=cache_bytes)
        self._server = server

    def chunks(self, digest: str) -> Iterator[bytes]:
        """Yield the content of a bundle. Raises BundleError, StoreUnavailableError."""
        client = ApiClient(self._server, _token())
        for attempt in range(1, TRIES + 1):
            count = 0
            try:
                for chunk in client.chunks(f"/bundles/{digest}", _BYTES):
                    count += len(chunk)
                    yield chunk
                return
            except ClientError as error:
                if error.exit is Exit.REFUSED:
                    raise BundleError(
                        f"{client.server} refuses bundles to this worker: {error}; "
                        f"set {TOKEN} to a token with the scope worker, or {TOKEN_FILE} to a file with it"
                    ) from None
                if error.exit is not Exit.UNREACHABLE:
                    raise BundleError(f"bundle {digest}: {error}") from None
                # What has been passed on cannot be taken back: a second try would begin the file again behind it.
                if count or attempt == TRIES:
                    raise StoreUnavailableError(f"the bundle store is unavailable: {error}") from None
            time.sleep(WAIT_S * 2**attempt)


def _token() -> str | None:
    """Return the worker's token. Raises BundleError for an unreadable file."""
    file = os.environ.get(TOKEN_FILE)
    if not file:
        return os.environ.get(TOKEN)
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise BundleError(f"{TOKEN_FILE}: cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BundleError(f"{TOKEN_FILE}: invalid token in {file}: expected UTF-8 text") from None
