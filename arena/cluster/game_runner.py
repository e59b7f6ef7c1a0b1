"""The job that plays planned games: fetches the bundles of both bots, then plays in the slot that runs the job.

The coordinator submits the job to an executor, so it may run on another machine.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.cluster.spool import Spool
from arena.errors import StoreUnavailableError
from arena.submission.bundle_store import BundleError, BundleStore
from arena.submission.unpack import BundleBounds
from referee.game.record import GameRecord
from referee.game.spec import PlannedGame, canonical
from referee.game.unplayed import void_record
from referee.machine.speed import scaled
from referee.play.slot import emit, play_games
from referee.rules.core import Termination

if TYPE_CHECKING:
    from arena.config import Settings


@dataclass(frozen=True)
class BundlePlace:
    """The location of bundles, which a job carries to another process. An http(s) `url` is the address of an arena."""

    url: str
    cache: str
    options: Mapping[str, Any] = field(default_factory=dict)
    bounds: BundleBounds = field(default_factory=BundleBounds)
    cache_bytes: int = 4 * 2**30

    @classmethod
    def of(cls, settings: Settings) -> BundlePlace:
        """Return the location of bundles that is set in a server's settings."""
        return cls(
            settings.bundles_url,
            str(settings.data / "unpacked"),
            dict(settings.bundle_options),
            BundleBounds(settings.max_bundle_bytes, settings.max_bundle_files),
            settings.bundle_cache_max_bytes,
        )

    @classmethod
    def of_workers(cls, settings: Settings) -> BundlePlace:
        """Return the location from which the workers of a server read bundles."""
        here = cls.of(settings)
        if not settings.is_clustered or not settings.worker_bundles:
            return here
        if settings.worker_bundles == "arena":
            return replace(here, url=settings.public_url, options={})
        return replace(here, url=settings.worker_bundles)

    def open(self) -> BundleStore:
        """Return the bundle store of this location, always the same object in a process. Raises BundleError."""
        return _open(self.url, self.cache, canonical(dict(self.options)), self.bounds, self.cache_bytes)


@lru_cache(maxsize=4)
def _open(url: str, cache: str, options: str, bounds: BundleBounds, cache_bytes: int) -> BundleStore:
    if url.startswith(("http://", "https://")):
        from arena.submission.remote_bundles import RemoteBundleStore

        return RemoteBundleStore(url, Path(cache), bounds=bounds, cache_bytes=cache_bytes)
    return BundleStore(url, Path(cache), options=json.loads(options), bounds=bounds, cache_bytes=cache_bytes)


def get_ready() -> None:
    """Load what the games of all families need, in a slot that waits for its first job."""
    from referee.rules import jit  # noqa: F401 - half a second: numba


def play_bundled(
    games: Sequence[PlannedGame], place: BundlePlace, wants_plies: bool = False, spool: Path | None = None
) -> None:
    """Play planned games one after the other, with the bundles on this machine.

    When a game ends, its result or void attempt is written to `spool` and an event announces it. If this machine has
    no spool, or the write fails, the event carries the record as plain JSON.

    If a bundle is unavailable, the first game is void and none is played. A cancelled game is void and ends the job.
    """
    try:
        bundles = place.open()
        ready = [scaled(bundles.resolve_game(game)) for game in games]
    except (BundleError, StoreUnavailableError) as error:
        _deliver(void_record(games[0], Termination.SANDBOX_FAILED, str(error)), games[0].attempt, spool)
        return
    for game in ready:
        (record,) = play_games([game], wants_plies)
        _deliver(record, game.attempt, spool)
        if record.termination is Termination.STOPPED:
            break


def _deliver(record: GameRecord, attempt: int, spool: Path | None) -> None:
    """Write a record to the spool and announce it; if the write is impossible, the event carries the record."""
    event: dict[str, Any] = {"event": "finish", "game": record.id, "attempt": attempt}
    is_written = False
    if spool is not None:
        with contextlib.suppress(OSError, ValueError):
            Spool(spool).write(record, attempt)
            is_written = True
    emit(event if is_written else {**event, "record": record.line()})
