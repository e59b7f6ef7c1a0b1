"""The store of bundles as a worker far away sees it: an arena's own interface, opened by the worker's token.

Every copy is checked against its name, as from any other store.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from arena.client import ApiClient, ClientError
from arena.errors import Exit, StoreUnavailableError
from arena.submission.bundle_store import BundleError, BundleStore
from arena.submission.unpack import BundleBounds

TOKEN = "ARENA_WORKER_TOKEN"  # noqa: S105 - the name of a variable
TOKEN_FILE = f"{TOKEN}_FILE"
"""Read anew for every bundle: what is in it may be changed while the worker runs."""
TRIES = 3
WAIT_S = 0.5
_BYTES = "application/octet-stream"


class RemoteBundleStore(BundleStore):
    """The bundles of the arena at `server`, and the copies unpacked below `cache`."""

    def __init__(
        self, server: str, cache: Path, *, bounds: BundleBounds | None = None, cache_bytes: int = 4 * 2**30
    ) -> None:
        super().__init__(str(cache), cache, bounds=bounds, cache_bytes=cache_bytes)
        self._server = server

    def chunks(self, digest: str) -> Iterator[bytes]:
        """The content of a bundle, as it comes. Raises BundleError, StoreUnavailableError."""
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
                        f"{client.server} gives no bundle to this worker: {error}; "
                        f"set {TOKEN} there to a token with the scope worker, or put it into the file of {TOKEN_FILE}"
                    ) from None
                if error.exit is not Exit.UNREACHABLE:
                    raise BundleError(f"bundle {digest}: {error}") from None
                if count or attempt == TRIES:
                    raise StoreUnavailableError(f"the store of bundles cannot be used now: {error}") from None
            time.sleep(WAIT_S * 2**attempt)


def _token() -> str | None:
    """The worker's token. Raises BundleError for a file that cannot be read."""
    file = os.environ.get(TOKEN_FILE)
    if not file:
        return os.environ.get(TOKEN)
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise BundleError(f"{TOKEN_FILE}: {file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BundleError(f"{TOKEN_FILE}: {file} holds no token: it is not UTF-8 text") from None
