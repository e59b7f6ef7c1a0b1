"""Plays planned games on whatever machine this process is on: fetches the bundles of both bots, then the slot plays.

The job the coordinator gives to an executor. Refuses to know the database.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.errors import StoreUnavailableError
from arena.spool import Spool
from arena.submission.bundle_store import BundleError, BundleStore
from arena.submission.unpack import BundleBounds
from referee.record import GameRecord
from referee.rules.core import Termination
from referee.slot import emit, play_games
from referee.spec import PlannedGame, canonical
from referee.speed import scaled
from referee.unplayed import void_record

if TYPE_CHECKING:
    from arena.config import Settings

MOMENT_S = 0.25
"""So long results of games that nobody watches wait to be told: most jobs of them are over before."""


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
    import json

    if url.startswith(("http://", "https://")):
        from arena.submission.remote_bundles import RemoteBundleStore

        return RemoteBundleStore(url, Path(cache), bounds=bounds, cache_bytes=cache_bytes)
    return BundleStore(url, Path(cache), options=json.loads(options), bounds=bounds, cache_bytes=cache_bytes)


def play_bundled(
    games: Sequence[PlannedGame], place: BundlePlace, wants_plies: bool = False, spool: Path | None = None
) -> list[GameRecord]:
    """Play planned games one after the other, with the bots as this machine has them; their records.

    What finishes before the last game is left in `spool` at once: it outlives this job, and whoever gave it. Without a
    spool on this machine it is told to whoever gave the job; of games that nobody watches (without `wants_plies`) only
    if the job takes longer than a moment.
    A game whose bundle cannot be had is void: nobody's fault, and the last of the list.
    """
    try:
        bundles = place.open()
        ready = [scaled(bundles.resolve_game(game)) for game in games]
    except (BundleError, StoreUnavailableError) as error:
        return [void_record(games[0], Termination.SANDBOX_FAILED, str(error))]
    tell = Spool(spool).keep if spool else _Tell(0.0 if wants_plies else MOMENT_S)
    return play_games(ready, wants_plies, tell)


def packed(function: Callable[..., Any], *arguments: Any) -> bytes:
    """What a call returns, pickled where that was made: who passes it on does not look into it."""
    return pickle.dumps(function(*arguments))


class _Tell:
    """Tells results, those of a moment together: sent one by one over a network they take longer than short games."""

    def __init__(self, moment_s: float) -> None:
        self._moment_s, self._since = moment_s, time.monotonic()
        self._untold: list[GameRecord] = []

    def __call__(self, record: GameRecord) -> None:
        self._untold.append(record)
        now = time.monotonic()
        if now - self._since < self._moment_s:
            return
        for each in self._untold:
            emit({"event": "finish", "game": each.id, "record": each.line()})
        self._untold.clear()
        self._since = now
