"""Which archived games a position occurred in, and what was played there: an index of a few bytes a ply.

An entry is the key of a position (`referee.rules.symmetry`), the game's serial, and a tag: the upper half of the key of
the position that followed, 0 where none did. The entries of games with neighbouring serials are a part; a part is cut
by the upper bits of the keys into buckets, each one row: compressed, in the order of the keys. A look-up reads one
bucket of every part. New games make a small part; parts are merged so that each is larger than all behind it together,
up to `SPAN` games, so there are few. Nothing is changed in place: readers see the old parts until the new one is whole.

One row for each position would take four times the room, in PostgreSQL ten times.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import zstandard
from sqlalchemy import delete, insert, select, text, update
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.store.engine import Sessions, table_of
from arena.store.models import ArchivePart, ArchivePosition

SPAN = 65_536
"""The games of a part at most: an entry says in two bytes which of them it is of."""
BUCKET = 1024
"""Entries in a bucket, about."""
_RANGE_BITS = 8
"""So many buckets, as a power of two, are merged at a time: in one transaction, and in little memory."""
_ENTRY_BYTES = 14
_MUCH = 200_000
"""So many entries in parts that were merged leave room that is worth giving back."""

Array = npt.NDArray[np.uint64]
PartId = tuple[int, int, int, int]
"""Tells a part from all there ever were: first and last serial, entries, and the number of its row, which is given
anew when all parts are forgotten."""


@dataclass(frozen=True, slots=True)
class Entries:
    """Entries as three columns: `keys`, `serials`, `tags`."""

    keys: Array
    serials: npt.NDArray[np.int64]
    tags: npt.NDArray[np.uint32]

    def sorted(self) -> Entries:
        """In the order of keys, those of one key in the order they are in."""
        order = np.argsort(self.keys, kind="stable")
        return Entries(self.keys[order], self.serials[order], self.tags[order])

    def between(self, low: int, high: int) -> Entries:
        """Those of sorted entries with low <= key < high (2**64 is possible)."""
        begin, end = (_place(self.keys, bound) for bound in (low, high))
        return Entries(self.keys[begin:end], self.serials[begin:end], self.tags[begin:end])


def _place(keys: Array, bound: int) -> int:
    return len(keys) if bound >= 2**64 else int(np.searchsorted(keys, np.uint64(bound)))


def joined(several: Sequence[Entries]) -> Entries:
    """One after the other."""
    if not several:
        return Entries(np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.uint32))
    return Entries(
        np.concatenate([one.keys for one in several]),
        np.concatenate([one.serials for one in several]),
        np.concatenate([one.tags for one in several]),
    )


# -- rows --------------------------------------------------------------------------------------------------------------


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


def _bits(entries: int) -> int:
    """Into how many buckets, as a power of two, so many entries are cut."""
    return max(0, (entries // BUCKET).bit_length())


def _rows(entries: Entries, part: ArchivePart, first_bucket: int, last_bucket: int) -> Iterator[dict[str, object]]:
    """The rows of the buckets of sorted entries that lie in these buckets; empty ones have none."""
    width = 64 - part.bits
    for bucket in range(first_bucket, last_bucket + 1):
        found = entries.between(bucket << width, bucket + 1 << width)
        if len(found.keys):
            yield {"part_id": part.id, "bucket": bucket, "data": _pack(found, part.first)}


# -- looking up, adding ------------------------------------------------------------------------------------------------

_PARTS = select(
    col(ArchivePart.id), col(ArchivePart.first), col(ArchivePart.last), col(ArchivePart.bits), col(ArchivePart.entries)
)
_BUCKETS = select(col(ArchivePosition.part_id), col(ArchivePosition.data))


def look_up(session: Session, key: int) -> Entries:
    """The entries of a key, by serial."""
    return joined([entries for _, entries in look_up_parts(session, key)])


def look_up_parts(session: Session, key: int, known: Container[PartId] = ()) -> list[tuple[PartId, Entries]]:
    """The entries of a key in each part that has a bucket for it, by serial, but nothing of parts `known` already.

    Those that are known come too, without entries, as long as they are parts.
    """
    alike: dict[int, dict[int, PartId]] = {}
    found: dict[PartId, Entries] = {}
    for part in session.execute(_PARTS.where(col(ArchivePart.is_live))):
        one = (part.first, part.last, part.entries, part.id or 0)
        if one in known:
            found[one] = joined([])
        else:
            alike.setdefault(part.bits, {})[part.id or 0] = one
    for bits, parts in alike.items():  # a query for each: no database goes by an index for pairs
        query = _BUCKETS.where(col(ArchivePosition.bucket) == key >> 64 - bits)
        for number, data in session.execute(query.where(col(ArchivePosition.part_id).in_(list(parts)))):
            found[parts[number]] = _unpack(data, parts[number][0]).between(key, key + 1)
    return sorted(found.items(), key=lambda one: one[0])


def add_part(session: Session, first: int, last: int, entries: Entries) -> None:
    """The entries of new games, all with serials `first` to `last`, as a part of their own."""
    part = ArchivePart(first=first, last=last, bits=_bits(len(entries.keys)), entries=len(entries.keys), is_live=True)
    session.add(part)
    session.flush()
    rows = list(_rows(entries.sorted(), part, 0, (1 << part.bits) - 1))
    if rows:
        session.execute(insert(table_of(ArchivePosition)), rows)


# -- merging -----------------------------------------------------------------------------------------------------------


def merge(sessions: Sessions) -> int:
    """Merge the parts that should be one, if there are such; how many have become one. Whole or not at all.

    Several short transactions. Two that merge at once do no harm: one of them has worked in vain.
    """
    with sessions.reading() as session:
        live = session.execute(_PARTS.where(col(ArchivePart.is_live)).order_by(col(ArchivePart.first))).all()
    old = _due([ArchivePart(**row._mapping, is_live=True) for row in live])
    if not old:
        return 0
    entries = sum(part.entries for part in old)
    with sessions.writing() as session:
        whole = ArchivePart(first=old[0].first, last=old[-1].last, bits=_bits(entries), entries=entries, is_live=False)
        session.add(whole)
        session.flush()
    coarse = max(0, whole.bits - _RANGE_BITS)
    for number in range(1 << coarse):
        low, high = number << 64 - coarse, number + 1 << 64 - coarse
        with sessions.reading() as session:
            found = joined([_range(session, part, low, high) for part in old]).sorted()
        with sessions.writing() as session:
            buckets = 1 << whole.bits - coarse
            rows = list(_rows(found, whole, number * buckets, (number + 1) * buckets - 1))
            if rows:
                session.execute(insert(table_of(ArchivePosition)), rows)
    if not _replace(sessions, old, whole):
        return 0
    if entries >= _MUCH and sessions.engine.dialect.name == "postgresql":
        _give_room_back(sessions)
    return len(old)


def _give_room_back(sessions: Sessions) -> None:
    """Let the next merge write where the old parts stood: by itself PostgreSQL would see to that much later, and the
    table would be five times as large."""
    with sessions.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM archive_positions"))


def _due(parts: Sequence[ArchivePart]) -> list[ArchivePart]:
    """The parts to merge: from the first one that is no larger than all behind it together."""
    for place, part in enumerate(parts[:-1]):
        span, behind = part.last - part.first + 1, parts[-1].last - part.last
        if span <= behind and span + behind <= SPAN:
            return list(parts[place:])
    return []


def _range(session: Session, part: ArchivePart, low: int, high: int) -> Entries:
    """The entries of a part with low <= key < high."""
    width = 64 - part.bits
    query = (
        select(col(ArchivePosition.data))
        .where(
            col(ArchivePosition.part_id) == part.id,
            col(ArchivePosition.bucket).between(low >> width, high - 1 >> width),
        )
        .order_by(col(ArchivePosition.bucket))
    )
    return joined([_unpack(data, part.first) for data in session.scalars(query)]).between(low, high)


def _replace(sessions: Sessions, old: Sequence[ArchivePart], whole: ArchivePart) -> bool:
    """Have the whole one instead of the old ones; False (and nothing is left of it) when one of them is gone."""
    gone = [part.id for part in old]
    with sessions.writing() as session:
        dead = session.execute(
            update(ArchivePart).where(col(ArchivePart.id).in_(gone), col(ArchivePart.is_live)).values(is_live=False)
        )
        made = session.execute(update(ArchivePart).where(col(ArchivePart.id) == whole.id).values(is_live=True))
        is_done: bool = dead.rowcount == len(old) and made.rowcount == 1  # type: ignore[attr-defined]
        if not is_done:
            session.rollback()
    sweep(sessions, gone if is_done else [whole.id])
    return is_done


def sweep(sessions: Sessions, parts: Sequence[int | None] | None = None) -> None:
    """Delete what is in parts that are not live: these, or all (nobody must be merging then)."""
    with sessions.writing() as session:
        query = select(col(ArchivePart.id)).where(~col(ArchivePart.is_live))
        dead = [number for number in session.scalars(query) if parts is None or number in parts]
        session.execute(delete(ArchivePosition).where(col(ArchivePosition.part_id).in_(dead)))
        session.execute(delete(ArchivePart).where(col(ArchivePart.id).in_(dead)))


def clear(session: Session) -> None:
    """Forget all positions."""
    session.execute(delete(ArchivePosition))
    session.execute(delete(ArchivePart))
