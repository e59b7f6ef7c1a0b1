"""Index from positions to archived games and the moves played there, at a few bytes per ply.

An entry has three values: the key of a position (`referee.rules.symmetry`), the serial of the game, and a tag. The tag
is the upper half of the key of the following position, 0 at the end of a game. Games with neighbouring serials form a
part. The upper bits of the keys divide a part into buckets of one row each: compressed and sorted by key. A lookup
reads one bucket of every part.

New games are merged with the parts before them that are no larger, as in a log-structured merge tree. So there are few
parts, and an entry is rewritten only a few times.

One row per position would take four times the space, in PostgreSQL ten times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import zstandard
from sqlalchemy import Row, delete, insert, select
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.store.base.engine import table_of
from arena.store.base.tables.archive import ArchivePart, ArchivePosition

MAX_PART_GAMES = 16_384
"""Maximum number of games in a part. Their offsets within it are stored in two bytes."""
BUCKET_ENTRIES = 1024
"""Approximate number of entries in a bucket."""
_ENTRY_BYTES = 14

Array = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class PositionEntries:
    """Index entries as three columns: `keys`, `serials`, `tags`."""

    keys: Array
    serials: npt.NDArray[np.int64]
    tags: npt.NDArray[np.uint32]

    def games(self) -> npt.NDArray[np.int64]:
        """Return the different serials, ascending."""
        ordered = np.sort(self.serials, kind="stable")  # nearly ascending already: several times as fast as np.unique
        different: npt.NDArray[np.int64] = ordered[np.diff(ordered, prepend=-1) != 0]
        return different

    def sorted(self) -> PositionEntries:
        """Return the entries in a stable sort by key."""
        order = np.argsort(self.keys, kind="stable")
        return PositionEntries(self.keys[order], self.serials[order], self.tags[order])

    def between(self, begin: int, end: int) -> PositionEntries:
        """Return the entries from `begin` to `end`."""
        return PositionEntries(self.keys[begin:end], self.serials[begin:end], self.tags[begin:end])


def joined(several: Sequence[PositionEntries]) -> PositionEntries:
    """Join entries, one after the other."""
    if not several:
        return PositionEntries(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.uint32))
    return PositionEntries(
        np.concatenate([entries.keys for entries in several]),
        np.concatenate([entries.serials for entries in several]),
        np.concatenate([entries.tags for entries in several]),
    )


def _pack(entries: PositionEntries, first: int) -> bytes:
    """Compress sorted entries: key differences in byte planes (the upper bytes are mostly zero), serials, tags."""
    steps = np.diff(entries.keys, prepend=np.uint64(0)).astype("<u8")
    planes = steps.view(np.uint8).reshape(-1, 8).T.tobytes()
    places = (entries.serials - first).astype("<u2").tobytes()
    return zstandard.ZstdCompressor(level=1).compress(planes + places + entries.tags.astype("<u4").tobytes())


def _unpack(data: bytes, first: int) -> PositionEntries:
    raw = zstandard.ZstdDecompressor().decompress(data)
    count = len(raw) // _ENTRY_BYTES
    planes = np.frombuffer(raw, np.uint8, 8 * count).reshape(8, count)
    steps = np.ascontiguousarray(planes.T).view("<u8").reshape(count)
    places = np.frombuffer(raw, "<u2", count, 8 * count)
    tags = np.frombuffer(raw, "<u4", count, 10 * count)
    return PositionEntries(np.cumsum(steps, dtype=np.uint64), first + places.astype(np.int64), tags)


def look_up(session: Session, key: int) -> PositionEntries:
    """Read the entries with this key, ordered by serial."""
    parts = session.execute(select(col(ArchivePart.id), col(ArchivePart.first), col(ArchivePart.bits))).all()
    by_first: dict[int, PositionEntries] = {}
    for bits in {part.bits for part in parts}:  # a query for each: SQLite uses no index for a join on the bucket
        firsts = {part.id: part.first for part in parts if part.bits == bits}
        query = select(col(ArchivePosition.part_id), col(ArchivePosition.data)).where(
            col(ArchivePosition.part_id).in_(firsts), col(ArchivePosition.bucket) == key >> 64 - bits
        )
        for number, data in session.execute(query):
            entries = _unpack(data, firsts[number])
            # As uint64: numpy would compare a plain int with these keys as float64, which has 53 bits.
            begin, end = (int(np.searchsorted(entries.keys, np.uint64(key), side)) for side in ("left", "right"))
            by_first[firsts[number]] = entries.between(begin, end)
    return joined([by_first[first] for first in sorted(by_first)])


def add(session: Session, first: int, last: int, entries: PositionEntries) -> None:
    """Add the entries of new games with serials `first` to `last`. The caller prevents concurrent additions."""
    old = _to_merge(session, first, last)
    whole = joined([*(_read(session, part) for part in old), entries]).sorted()
    gone = [part.id for part in old]
    session.execute(delete(ArchivePosition).where(col(ArchivePosition.part_id).in_(gone)))
    session.execute(delete(ArchivePart).where(col(ArchivePart.id).in_(gone)))
    count = len(whole.keys)
    bits = (count // BUCKET_ENTRIES).bit_length()
    part = ArchivePart(first=old[0].first if old else first, last=last, bits=bits, entries=count)
    session.add(part)
    session.flush()
    if rows := list(_rows(whole, part)):
        session.execute(insert(table_of(ArchivePosition)), rows)


def _to_merge(session: Session, first: int, last: int) -> list[Row[int | None, int]]:
    """Return the parts to merge with new games, by serial: each is no larger than those after it and the new games."""
    query = (
        select(col(ArchivePart.id), col(ArchivePart.first))
        .where(col(ArchivePart.last) < first, col(ArchivePart.first) > last - MAX_PART_GAMES)
        .order_by(col(ArchivePart.first).desc())
    )
    parts: list[Row[int | None, int]] = []
    for part in session.execute(query):
        if first - part.first > last - first + 1:
            break
        parts.insert(0, part)
        first = part.first
    return parts


def _read(session: Session, part: Row[int | None, int]) -> PositionEntries:
    query = select(col(ArchivePosition.data)).where(col(ArchivePosition.part_id) == part.id)
    return joined([_unpack(data, part.first) for data in session.scalars(query.order_by(col(ArchivePosition.bucket)))])


def _rows(entries: PositionEntries, part: ArchivePart) -> Iterator[dict[str, object]]:
    """Yield the non-empty buckets of sorted entries."""
    # In two steps, because a shift by 64 is undefined.
    buckets = entries.keys >> np.uint64(32) >> np.uint64(32 - part.bits)
    found = (one.tolist() for one in np.unique(buckets, return_index=True, return_counts=True))
    for number, begin, count in zip(*found, strict=True):
        yield {"part_id": part.id, "bucket": number, "data": _pack(entries.between(begin, begin + count), part.first)}


def clear(session: Session) -> None:
    session.execute(delete(ArchivePosition))
    session.execute(delete(ArchivePart))
