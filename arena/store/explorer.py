"""What was played in a position: moves, results, how strong those were who played them, and the best games.

Answered from the archive's index of positions and its columns in memory: nothing is stored for it, so nothing can be
lost or counted twice, and a result that is undone is out of it at once. What many games had, such as the start, is
kept unpacked (`_Runs`). Refuses to know moves: they are told apart by the position they lead to, up to symmetry.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.store import positions
from arena.store.archive_columns import ArchiveColumns, Mask, View, among
from arena.store.archive_line import ArchiveLine, lines_of
from arena.store.archive_search import Search, matching
from arena.store.engine import Sessions, fetch
from arena.store.models import ArchiveGame, Game, Rating, Version
from arena.store.positions import Entries, PartId

MANY = 2048
"""So many games of a part in a position are kept unpacked."""
ROOM = 64 * 1024 * 1024
"""Bytes of what is kept unpacked, at most."""
_AT_ONCE = 50_000

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which games count. `bot` is a bot or one version of it, on either side; `rating` the least mean strength (mu)
    that both players must have; `days` and collections are those of `Search`. `pool` None: games of every pool, the
    strengths being those of `rated_in`."""

    search: Search
    rated_in: str
    pool: str | None = None
    bot: str | None = None
    rating: float | None = None


@dataclass(slots=True)
class Tally:
    """Games that had something in common. `other` have no known result. Strengths are mean mu of those who have one;
    `last` is a day such as 20260731."""

    games: int = 0
    first: int = 0
    second: int = 0
    draw: int = 0
    other: int = 0
    rating: float | None = None
    """Of who was to move."""
    opposition: float | None = None
    """Of the others."""
    last: int = 0
    best: ArchiveLine | None = None
    """The game of the two strongest players, the latest of such."""


@dataclass(frozen=True, slots=True)
class Explored:
    """A position: all games that had it, and those with each tag (see `arena.store.positions`)."""

    whole: Tally
    moves: Mapping[int, Tally] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Run:
    """The games of one part that were in a position, each once for each position that followed in it."""

    places: npt.NDArray[np.int32]
    tags: npt.NDArray[np.uint32]
    """The different ones, ascending."""
    which: npt.NDArray[np.uint16]
    """By place: the number of its tag."""
    is_again: Mask | None
    """Which of them name a game that was named before; None where no game comes twice."""

    @classmethod
    def of(cls, entries: Entries) -> _Run:
        """From entries of one key, by serial."""
        serials, tags = entries.serials, entries.tags
        if len(serials) > 1 and bool(np.any(serials[1:] == serials[:-1])):  # a repetition: some games come twice
            both = np.unique(serials.astype(np.uint64) << np.uint64(32) | tags)
            serials, tags = (both >> np.uint64(32)).astype(np.int64), (both & np.uint64(0xFFFFFFFF)).astype(np.uint32)
        again = np.zeros(len(serials), np.bool_)
        again[1:] = serials[1:] == serials[:-1]
        different, which = np.unique(tags, return_inverse=True)
        return cls(
            (serials - 1).astype(np.int32), different, which.astype(np.uint16), again if bool(again.any()) else None
        )

    @property
    def size(self) -> int:
        """Bytes, about."""
        return 6 * len(self.places) + 200


class _Runs:
    """What many games had, unpacked, by key and part; the least lately used go first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, PartId], _Run] = OrderedDict()
        self._bytes = 0

    def of(self, session: Session, key: int) -> list[_Run]:
        """The games of every part that were in a position."""
        with self._lock:
            known = {part: run for (one, part), run in self._kept.items() if one == key}
        found = []
        for part, entries in positions.look_up_parts(session, key, known):
            run = known.get(part) or _Run.of(entries)
            found.append(run)
            if len(run.places) >= MANY:
                self._keep((key, part), run)
        return found

    def _keep(self, name: tuple[int, PartId], run: _Run) -> None:
        with self._lock:
            if name not in self._kept:
                self._bytes += run.size
            self._kept[name] = run
            self._kept.move_to_end(name)
            while self._bytes > ROOM:
                self._bytes -= self._kept.popitem(last=False)[1].size


class _Pools:
    """By place: the number of the pool a game played here is in; 0 for imported ones. Read when first asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers: dict[str, int] = {"": 0}
        self._pools = np.zeros(1024, np.int32)
        self._count = 0

    def mask(self, session: Session, pool: str, count: int) -> Mask:
        """Which of the first `count` games are of a pool."""
        with self._lock:
            while self._count < count:
                self._read(session, min(count, self._count + _AT_ONCE))
            found: Mask = self._pools[:count] == self._numbers.get(pool, -1)
            return found

    def _read(self, session: Session, upto: int) -> None:
        if upto > len(self._pools):
            self._pools = np.concatenate([self._pools, np.zeros(2 * upto - len(self._pools), np.int32)])
        query = (
            select(col(ArchiveGame.serial), col(Game.pool))
            .join(Game, col(Game.id) == col(ArchiveGame.game_id))
            .where(col(ArchiveGame.serial) > self._count, col(ArchiveGame.serial) <= upto)
        )
        for serial, pool in session.execute(query):
            self._pools[serial - 1] = self._numbers.setdefault(pool, len(self._numbers))
        self._count = upto


class Explorer:
    """What was played in the positions of a database."""

    def __init__(self, sessions: Sessions, columns: ArchiveColumns) -> None:
        self._sessions, self._columns = sessions, columns
        self._runs, self._pools = _Runs(), _Pools()

    def read_ahead(self) -> None:
        """Have in memory what the first question of each kind would have to read: of a million games some seconds."""
        with self._sessions.reading() as session:
            self._pools.mask(session, "", self._columns.view(session).count)

    def explore(self, key: int, chosen: Selection, tags: Collection[int], *, side: str) -> Explored:
        """The games that were in the position with a key, `side` being to move, and those with each of these tags. A
        game counts once, and once for each different position that followed in it."""
        with self._sessions.reading() as session:
            view = self._columns.view(session)
            strengths = self._strengths(session, view, chosen)
            mask = self._mask(session, view, chosen, strengths)
            count = _Count(view, mask, strengths, tags, side)
            for run in self._runs.of(session, key):
                count.add(run)
            best = sorted(set(count.best.values()))
            lines = dict(zip(best, lines_of(session, view, best), strict=True))
        return count.explored(lines)

    def _strengths(self, session: Session, view: View, chosen: Selection) -> Floats:
        """The present mu of every player by the number of the name, nan for those without a rating in the pool."""
        names = view.names["player"].by_name
        found = np.full(1 + max(names.values(), default=0), np.nan)
        query = select(col(Version.name), col(Rating.mu)).join(Version, col(Version.id) == col(Rating.version_id))
        for name, mu in fetch(session, query.where(col(Rating.pool) == (chosen.pool or chosen.rated_in))):
            if (number := names.get(name)) is not None:
                found[number] = mu
        return found

    def _mask(self, session: Session, view: View, chosen: Selection, strengths: Floats) -> Mask:
        mask = matching(session, view, chosen.search)
        seats = [view.columns[f"{side}_id"] for side in ("first", "second")]
        if chosen.pool is not None:
            mask &= self._pools.mask(session, chosen.pool, view.count)
        if chosen.bot:
            name, prefix = chosen.bot, f"{chosen.bot} v"
            numbers = view.names["player"].numbers(lambda one: one == name or one.startswith(prefix))
            mask &= among(seats[0], numbers, len(strengths)) | among(seats[1], numbers, len(strengths))
        if chosen.rating is not None:
            is_strong = np.nan_to_num(strengths, nan=-np.inf) >= chosen.rating
            mask &= is_strong[seats[0]] & is_strong[seats[1]]
        return mask


_MEANT = ("other", "first", "second", "draw")
"""By the number in `ArchiveGame.winner`."""
_RATED = ("rating", "opposition")


class _Count:
    """Runs counted together."""

    def __init__(self, view: View, mask: Mask, strengths: Floats, tags: Collection[int], side: str) -> None:
        self._mask = mask
        self._tags = {None, *tags}
        self._winner, self._day = view.columns["winner"], view.columns["day"]
        mover, other = ("first_id", "second_id") if side == "first" else ("second_id", "first_id")
        self._seats = view.columns[mover], view.columns[other]
        self._strengths = strengths
        self._are_rated = ~np.isnan(strengths)
        self._is_rated = bool(self._are_rated.any())
        self._known = np.nan_to_num(strengths)
        self._places_bits = max(1, int(view.count).bit_length())
        self._tallies: dict[int | None, Tally] = {}
        self._sums: dict[tuple[int | None, str], tuple[float, int]] = {}
        self._best: dict[int | None, int] = {}

    @property
    def best(self) -> Mapping[int | None, int]:
        """The place of the best game by tag, None for all of them."""
        low = (1 << self._places_bits) - 1
        return {tag: value & low for tag, value in self._best.items()}

    def add(self, run: _Run) -> None:
        """Count the games of a run that are chosen."""
        kept = self._mask[run.places[run.places < len(self._mask)]]
        places, which = run.places[: len(kept)], run.which[: len(kept)]
        again = None if run.is_again is None else run.is_again[: len(kept)]
        if not kept.all():
            places, which = places[kept], which[kept]
            again = None if again is None else again[kept]
        if not len(places):
            return
        self._add(places, which, run.tags.tolist())
        if again is None:
            whole = places
        else:  # the first entry of a game is kept whenever another one is: the mask is one of games
            whole = places[~again]
        self._add(whole, np.zeros(len(whole), np.uint16), [None])

    def _add(self, places: npt.NDArray[Any], which: npt.NDArray[Any], tags: Sequence[int | None]) -> None:
        size = len(tags)
        results = np.bincount(which.astype(np.int64) * 4 + self._winner[places], minlength=4 * size).reshape(size, 4)
        last, best = np.zeros(size, np.int32), np.full(size, -1, np.int64)
        np.maximum.at(last, which, self._day[places])
        merit = np.zeros(len(places), np.int64)
        sums = {}
        if self._is_rated:
            for name, seats in zip(_RATED, self._seats, strict=True):
                strengths = self._known[seats[places]]
                merit += ((strengths + 100.0) * 1000).astype(np.int64)
                sums[name] = (
                    np.bincount(which, strengths, size),
                    np.bincount(which, self._are_rated[seats[places]], size),
                )
        np.maximum.at(best, which, np.maximum(merit, 0) << self._places_bits | places)
        for number in np.flatnonzero(results.any(axis=1)).tolist():
            tag = tags[number]
            if tag not in self._tags:
                continue
            tally = self._tallies.setdefault(tag, Tally())
            for meaning, count in zip(_MEANT, results[number].tolist(), strict=True):
                setattr(tally, meaning, getattr(tally, meaning) + count)
            tally.last = max(tally.last, int(last[number]))
            self._best[tag] = max(self._best.get(tag, -1), int(best[number]))
            for name, (total, rated) in sums.items():
                before = self._sums.get((tag, name), (0.0, 0))
                self._sums[tag, name] = before[0] + float(total[number]), before[1] + int(rated[number])

    def explored(self, lines: Mapping[int, ArchiveLine]) -> Explored:
        """What was counted, with the lines of the best games by place."""
        best = self.best
        for tag, tally in self._tallies.items():
            tally.games = tally.first + tally.second + tally.draw + tally.other
            tally.best = lines[best[tag]]
            for name in _RATED:
                total, rated = self._sums.get((tag, name), (0.0, 0))
                setattr(tally, name, total / rated if rated else None)
        whole = self._tallies.pop(None, Tally())
        return Explored(whole, {tag: tally for tag, tally in self._tallies.items() if tag is not None})
