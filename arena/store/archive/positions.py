"""Which archived games a position occurred in, and what was played there: an index of a few bytes a ply.

An entry is the key of a position (`referee.rules.symmetry`), the game's serial, and a tag: the upper half of the key of
the position that followed, 0 where none did. The entries of games with neighbouring serials are a part. A part is cut
by the upper bits of the keys into buckets, each one row: compressed, in the order of the keys. A lookup reads one
bucket of every part.

New games make a part, together with the parts before it that are no larger: so parts are few, as in a log-structured
merge tree, and an entry is written again a few times at most.

One row for each position takes four times the room, in PostgreSQL ten times.
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
from arena.store.base.models import ArchivePart, ArchivePosition

SPAN = 16_384
"""The games of a part at most: two bytes tell them apart."""
BUCKET = 1024
"""Entries in a bucket, about."""
_ENTRY_BYTES = 14

Array = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Entries:
    """Entries as three columns: `keys`, `serials`, `tags`."""

    keys: Array
    serials: npt.NDArray[np.int64]
    tags: npt.NDArray[np.uint32]

    def sorted(self) -> Entries:
        """Sort by key, keeping the order of those with the same key."""
        order = np.argsort(self.keys, kind="stable")
        return Entries(self.keys[order], self.serials[order], self.tags[order])

    def between(self, begin: int, end: int) -> Entries:
        """Take the entries at these places."""
        return Entries(self.keys[begin:end], self.serials[begin:end], self.tags[begin:end])


def joined(several: Sequence[Entries]) -> Entries:
    """Put one after the other."""
    if not several:
        return Entries(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.uint32))
    return Entries(
        np.concatenate([one.keys for one in several]),
        np.concatenate([one.serials for one in several]),
        np.concatenate([one.tags for one in several]),
    )


def _pack(entries: Entries, first: int) -> bytes:
    """Sorted entries as bytes: differences of keys, byte by byte (the upper ones are mostly zero); serials; tags."""
    steps = np.diff(entries.keys, prepend=np.uint64(0)).astype("<u8")
    planes = steps.view(np.uint8).reshape(-1, 8).T.tobytes()
    places = (entries.serials - first).astype("<u2").tobytes()
    return zstandard.ZstdCompressor(level=1).compress(planes + places + entries.tags.astype("<u4").tobytes())


def _unpack(data: bytes, first: int) -> Entries:
    raw = zstandard.ZstdDecompressor().decompress(data)
    count = len(raw) // _ENTRY_BYTES
    planes = np.frombuffer(raw, np.uint8, 8 * count).reshape(8, count)
    steps = np.ascontiguousarray(planes.T).view("<u8").reshape(count)
    places = np.frombuffer(raw, "<u2", count, 8 * count)
    tags = np.frombuffer(raw, "<u4", count, 10 * count)
    return Entries(np.cumsum(steps, dtype=np.uint64), first + places.astype(np.int64), tags)


def look_up(session: Session, key: int) -> Entries:
    """Read the entries of a key, by serial."""
    parts = session.execute(select(col(ArchivePart.id), col(ArchivePart.first), col(ArchivePart.bits))).all()
    found: dict[int, Entries] = {}
    for bits in {part.bits for part in parts}:  # a query for each: SQLite goes by no index in a join by bucket
        firsts = {part.id: part.first for part in parts if part.bits == bits}
        query = select(col(ArchivePosition.part_id), col(ArchivePosition.data)).where(
            col(ArchivePosition.part_id).in_(firsts), col(ArchivePosition.bucket) == key >> 64 - bits
        )
        for number, data in session.execute(query):
            entries = _unpack(data, firsts[number])
            begin, end = (int(np.searchsorted(entries.keys, np.uint64(key), side)) for side in ("left", "right"))
            found[firsts[number]] = entries.between(begin, end)
    return joined([found[first] for first in sorted(found)])


def add(session: Session, first: int, last: int, entries: Entries) -> None:
    """Add the entries of new games, all with serials `first` to `last`. Nobody else adds meanwhile."""
    old = _to_merge(session, first, last)
    whole = joined([*(_read(session, part) for part in old), entries]).sorted()
    gone = [part.id for part in old]
    session.execute(delete(ArchivePosition).where(col(ArchivePosition.part_id).in_(gone)))
    session.execute(delete(ArchivePart).where(col(ArchivePart.id).in_(gone)))
    count = len(whole.keys)
    bits = (count // BUCKET).bit_length()
    part = ArchivePart(first=old[0].first if old else first, last=last, bits=bits, entries=count)
    session.add(part)
    session.flush()
    if rows := list(_rows(whole, part)):
        session.execute(insert(table_of(ArchivePosition)), rows)


def _to_merge(session: Session, first: int, last: int) -> list[Row[int | None, int]]:
    """The parts before new games that are no larger than all behind them together, in the order of serials."""
    query = (
        select(col(ArchivePart.id), col(ArchivePart.first))
        .where(col(ArchivePart.last) < first, col(ArchivePart.first) > last - SPAN)
        .order_by(col(ArchivePart.first).desc())
    )
    found: list[Row[int | None, int]] = []
    for part in session.execute(query):
        if first - part.first > last - first + 1:
            break
        found.insert(0, part)
        first = part.first
    return found


def _read(session: Session, part: Row[int | None, int]) -> Entries:
    query = select(col(ArchivePosition.data)).where(col(ArchivePosition.part_id) == part.id)
    return joined([_unpack(data, part.first) for data in session.scalars(query.order_by(col(ArchivePosition.bucket)))])


def _rows(entries: Entries, part: ArchivePart) -> Iterator[dict[str, object]]:
    """The buckets of sorted entries; empty ones have no row."""
    buckets = entries.keys >> np.uint64(32) >> np.uint64(32 - part.bits)  # no shift by 64
    found = (one.tolist() for one in np.unique(buckets, return_index=True, return_counts=True))
    for number, begin, count in zip(*found, strict=True):
        yield {"part_id": part.id, "bucket": number, "data": _pack(entries.between(begin, begin + count), part.first)}


def clear(session: Session) -> None:
    """Forget all positions."""
    session.execute(delete(ArchivePosition))
    session.execute(delete(ArchivePart))
