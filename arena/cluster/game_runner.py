"""Plays planned games on whatever machine this process is on: fetches the bundles of both bots, then the slot plays.

The job the coordinator gives to an executor. Refuses to know the database.
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
from referee.record import GameRecord
from referee.rules.core import Kind, Termination
from referee.slot import emit, play_games
from referee.spec import PlannedGame, canonical
from referee.speed import scaled
from referee.unplayed import void_record

if TYPE_CHECKING:
    from arena.config import Settings


@dataclass(frozen=True)
class BundlePlace:
    """Where bundles are, as a job carries it to another process; with `url` of http(s) at an arena."""

    url: str
    cache: str
    options: Mapping[str, Any] = field(default_factory=dict)
    bounds: BundleBounds = field(default_factory=BundleBounds)
    cache_bytes: int = 4 * 2**30

    @classmethod
    def of(cls, settings: Settings) -> BundlePlace:
        """The place a server's settings name."""
        return cls(
            settings.bundles_url,
            str(settings.data / "unpacked"),
            dict(settings.bundle_options),
            BundleBounds(settings.max_bundle_bytes, settings.max_bundle_files),
            settings.cache_bytes,
        )

    @classmethod
    def of_workers(cls, settings: Settings) -> BundlePlace:
        """The place where those that play a server's games find them."""
        here = cls.of(settings)
        if not settings.is_clustered or not settings.worker_bundles:
            return here
        if settings.worker_bundles == "arena":
            return replace(here, url=settings.public_url, options={})
        return replace(here, url=settings.worker_bundles)

    def open(self) -> BundleStore:
        """The bundles, one object per process and place. Raises BundleError."""
        return _open(self.url, self.cache, canonical(dict(self.options)), self.bounds, self.cache_bytes)


@lru_cache(maxsize=4)
def _open(url: str, cache: str, options: str, bounds: BundleBounds, cache_bytes: int) -> BundleStore:
    if url.startswith(("http://", "https://")):
        from arena.submission.remote_bundles import RemoteBundleStore

        return RemoteBundleStore(url, Path(cache), bounds=bounds, cache_bytes=cache_bytes)
    return BundleStore(url, Path(cache), options=json.loads(options), bounds=bounds, cache_bytes=cache_bytes)


def play_bundled(
    games: Sequence[PlannedGame], place: BundlePlace, wants_plies: bool = False, spool: Path | None = None
) -> list[str]:
    """Play planned games one after the other, with the bots as this machine has them.

    The result of each is left in `spool` when it ends, and whoever gave the job is told to look there. Without a spool
    on this machine, or where the disk does not take it, the record is told instead, as plain JSON.

    Returns what came to nothing, as lines of JSON. A game whose bundle cannot be had is void: nobody's fault, and the
    last one, as is a game that is called off.
    """
    try:
        bundles = place.open()
        ready = [scaled(bundles.resolve_game(game)) for game in games]
    except (BundleError, StoreUnavailableError) as error:
        return [void_record(games[0], Termination.SANDBOX_FAILED, str(error)).line()]
    voids = []
    for game in ready:
        (record,) = play_games([game], wants_plies)
        if record.kind is not Kind.VOID:
            emit({"event": "finish", "game": record.id, **_left(record, spool)})
            continue
        voids.append(record.line())
        if record.termination is Termination.STOPPED:
            break
    return voids


def _left(record: GameRecord, spool: Path | None) -> dict[str, str]:
    """What must be told of a result: nothing where it was left in the spool."""
    if spool is not None:
        with contextlib.suppress(OSError, ValueError):
            Spool(spool).write(record)
            return {}
    return {"record": record.line()}
