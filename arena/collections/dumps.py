"""Dumps: one file per month with every result, from which all ratings can be computed again, without private data.

    dumps/2026-11.ndjson.zst           the games that ended in that month (UTC), in the order of their commits
    dumps/2026-11.ndjson.zst.sha256    its checksum, as `sha256sum --check` reads it
    dumps/index.json                   the files, and the last commit number in them

The first line of a file is a heading with the license. Every other line is a game record plus the data from which
ratings follow (`commit_number`, `pool`, `is_rated`, `follows`). An update appends to copies, which replace the files
once complete. So readers never see a partial file, and an interrupted update loses only its own work.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import zstandard

from arena.clock import now
from arena.data_folder import file_digest, replace_file
from arena.documents.table import Column, text_column
from referee.meaning import meaning

if TYPE_CHECKING:
    from arena.config import Settings
    from arena.documents.game import GameItem
    from arena.store import Store

FORM = "arena-games-1"
ENDING = ".ndjson.zst"
_CHUNK = 1024 * 1024
_LEVEL = 9


@dataclass(frozen=True, slots=True)
class Dump:
    """One file: number of games, size, SHA-256, first and last commit number."""

    file: str
    month: str = field(metadata=meaning("month in which the games ended in UTC, such as `2026-11`"))
    games: int
    bytes: int = field(metadata=meaning("size of the compressed file"))
    sha256: str = field(metadata=meaning("digest of the compressed file"))
    first: int = field(metadata=meaning("commit number of the first game"))
    last: int = field(metadata=meaning("commit number of the last game"))


FILES: tuple[Column[Dump], ...] = (
    text_column("month", "File", lambda dump: dump.file, "dump", order=lambda dump: dump.month, is_heading=True),
    Column("games", "Games", lambda dump: dump.games, "count"),
    Column("bytes", "Size", lambda dump: dump.bytes, "size"),
    Column("first", "Commits", lambda dump: f"{dump.first}–{dump.last}", order=lambda dump: dump.first, drop=2),
    text_column("sha256", "SHA-256", lambda dump: dump.sha256, "dump_digest", is_sortable=False, css="mono", drop=1),
)
"""Columns of the list of files."""


class DamagedError(Exception):
    """A dump that differs from the index."""


class MonthFile:
    """A month's file being written: a verified copy of the old content, then a new zstd frame."""

    def __init__(self, folder: Path, month: str, before: Dump | None, heading: Mapping[str, Any]) -> None:
        self._dump = before or Dump(f"{month}{ENDING}", month, 0, 0, "", 0, 0)
        self._path = folder / f"{self._dump.file}.new"
        self._total = hashlib.sha256()
        self._size = 0
        self._old = folder / self._dump.file
        self._heading = None if before else heading

    def __enter__(self) -> MonthFile:
        self._file = open(self._path, "wb")
        try:
            if self._heading is None:
                self._copy()
            # Frames one after the other are one file for every decoder (RFC 8878, 3): what was published stays byte for
            # byte.
            self._packer = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compressobj()
            if self._heading is not None:
                self._pack(_line(self._heading))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._path.unlink(missing_ok=True)

    def add(self, line: GameItem, data: Mapping[str, Any]) -> None:
        self._pack(_line(data))
        number = line.commit_number or 0
        first = self._dump.first or number
        self._dump = replace(self._dump, games=self._dump.games + 1, first=first, last=number)

    def close(self) -> Dump:
        """Finish the frame, sync the file to disk, and return its description."""
        self._write(self._packer.flush())
        self._file.flush()
        os.fsync(self._file.fileno())
        return replace(self._dump, bytes=self._size, sha256=self._total.hexdigest())

    def _copy(self) -> None:
        left = self._dump.bytes
        with open(self._old, "rb") as old:
            while left and (chunk := old.read(min(left, _CHUNK))):
                self._write(chunk)
                left -= len(chunk)
        if left or self._total.hexdigest() != self._dump.sha256:
            raise DamagedError(f"{self._dump.file} differs from the index")

    def _pack(self, content: bytes) -> None:
        self._write(self._packer.compress(content))

    def _write(self, content: bytes) -> None:
        self._file.write(content)
        self._total.update(content)
        self._size += len(content)


def dump_document(line: GameItem, data: bytes, ancestors: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """Return a game as written in dumps: the public record, and the data from which ratings follow.

    `follows` lists, for each side, the earlier versions of the bot, latest first: a version new to a pool starts from
    the mu of the latest one that has a rating there.
    """
    return {
        **without_logs(json.loads(data)),
        "commit_number": line.commit_number,
        "tournament": line.tournament_id,
        "pool": line.pool,
        "is_rated": line.is_rated,
        "meeting": line.meeting,
        "anchor": line.anchor,
        "follows": {side: list(ancestors.get(getattr(line, side), ())) for side in ("first", "second")},
    }


def without_logs(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the public part of a record: the standard error of bots is for their owners only."""
    return {**data, "logs": {}}


def read(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the games of one dump, without its heading. Raises OSError, ValueError, zstandard.ZstdError."""
    with open(path, "rb") as file, zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True) as source:
        rest = b""
        is_heading = True
        while chunk := source.read(_CHUNK):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if not is_heading:
                    yield json.loads(line)
                is_heading = False
        if rest:
            raise ValueError(f"{path} ends in the middle of a line")


def _line(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


BATCH_SIZE = 20_000
"""Games after which an update publishes its files, so that an interrupted first update resumes there."""
_INDEX = "index.json"
_NAME = re.compile(r"\d{4}-\d{2}\.ndjson\.zst(\.sha256)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class DumpIndex:
    """All files by month, the commit number up to which they hold every result, and the time of writing (ISO 8601).

    `undone` is the number of results voided until then. If it has changed since, all files are written again.
    """

    through: int = 0
    written: str = ""
    files: Mapping[str, Dump] = field(default_factory=dict)
    undone: int = 0

    @property
    def latest_first(self) -> list[Dump]:
        """The files, latest month first."""
        return sorted(self.files.values(), key=lambda dump: dump.month, reverse=True)


class DumpInterrupted(Exception):  # noqa: N818 - what happened, not a fault
    """An update was interrupted: published files stay, the next update writes the rest."""


class Dumps:
    """The dumps in a folder. `licence` and `source` (the server's address) are written in the heading of new files."""

    def __init__(self, folder: Path, *, licence: str = "CC0-1.0", source: str = "") -> None:
        self.folder = folder
        self._licence, self._source = licence, source

    @classmethod
    def of(cls, settings: Settings) -> Dumps:
        folder = Path(settings.dump_folder).expanduser() if settings.dump_folder else settings.data / "dumps"
        return cls(folder, licence=settings.dump_license, source=settings.public_url)

    @property
    def licence(self) -> str:
        """License of new files."""
        return self._licence

    def index(self) -> DumpIndex:
        """Read the index; empty if no dump has been written. Raises OSError, DamagedError."""
        try:
            written = json.loads((self.folder / _INDEX).read_text(encoding="utf-8"))
            files = {month: Dump(**dump) for month, dump in written["files"].items()}
            return DumpIndex(int(written["through"]), str(written["written"]), files, int(written.get("undone", 0)))
        except FileNotFoundError:
            return DumpIndex()
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DamagedError(f"{self.folder / _INDEX} is not a valid index: {error}") from None

    def current(self) -> DumpIndex:
        """Read the index; empty if it is damaged, since the next update writes it again. Raises OSError."""
        try:
            return self.index()
        except DamagedError:
            return DumpIndex()

    def path(self, name: str) -> Path | None:
        """Return the path of a dump or checksum file by name; None for any other file."""
        path = self.folder / name
        return path if _NAME.fullmatch(name) and path.is_file() else None

    # -- writing -------------------------------------------------------------------------------------------------------

    def update(self, store: Store, *, rebuild: bool = False, must_stop: Callable[[], bool] = lambda: False) -> int:
        """Append every new result; return how many. Without new results no file changes.

        All files are written again with `rebuild`, or if a file is missing or damaged. Only one process updates at a
        time; others wait. Raises StoreUnavailableError; DumpInterrupted; OSError for a disk error.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._alone():
            index = DumpIndex() if rebuild else self._sound()
            undone = store.results.undone()
            if index.undone != undone:
                index = DumpIndex(undone=undone)
            try:
                return self._append(store, index, must_stop)
            except DamagedError:
                return self._append(store, DumpIndex(undone=undone), must_stop)

    def check(self) -> list[str]:
        """Return the problems of the files, in words."""
        try:
            index = self.index()
        except DamagedError as error:
            return [str(error)]
        problems = []
        for dump in index.files.values():
            path = self.folder / dump.file
            if not path.is_file():
                problems.append(f"{dump.file} is missing")
            elif file_digest(path) != dump.sha256:
                problems.append(f"{dump.file} differs from the index: its SHA-256 is another")
        return problems

    def _sound(self) -> DumpIndex:
        """Read the index; return an empty one if files are missing, or shorter than the index states."""
        try:
            found = self.index()
            whole = all((self.folder / dump.file).stat().st_size >= dump.bytes for dump in found.files.values())
        except (FileNotFoundError, DamagedError):
            return DumpIndex()
        return found if whole else DumpIndex()

    def _append(self, store: Store, index: DumpIndex, must_stop: Callable[[], bool]) -> int:
        ancestors = store.versions.ancestors()
        lines = store.results.with_records(after=index.through)
        count = 0
        while True:
            months: dict[str, MonthFile] = {}
            taken, last = 0, index.through
            with ExitStack() as stack:
                for line, data in lines:
                    if must_stop():
                        raise DumpInterrupted
                    # `finished_at` is never None here: every committed game has one.
                    month = f"{line.finished_at or now():%Y-%m}"
                    if month not in months:
                        months[month] = stack.enter_context(self._month(month, index.files.get(month)))
                    months[month].add(line, dump_document(line, data, ancestors))
                    taken, last = taken + 1, line.commit_number or 0
                    if taken >= BATCH_SIZE:
                        break
                if not taken:
                    return count
                index = self._publish(index, last, [month.close() for month in months.values()])
            count += taken

    def _month(self, month: str, before: Dump | None) -> MonthFile:
        heading = {"form": FORM, "month": month, "licence": self._licence, "source": self._source or None}
        return MonthFile(self.folder, month, before, heading)

    def _publish(self, index: DumpIndex, through: int, dumps: list[Dump]) -> DumpIndex:
        """Replace the old files by the new ones, then the index.

        If that is interrupted, files may be longer than the index states. The next update then writes their ends again.
        """
        for dump in dumps:
            os.replace(self.folder / f"{dump.file}.new", self.folder / dump.file)
            replace_file(self.folder / f"{dump.file}.sha256", f"{dump.sha256}  {dump.file}\n")
        files = {**index.files, **{dump.month: dump for dump in dumps}}
        written = now().isoformat(timespec="seconds")
        index = DumpIndex(through, written, dict(sorted(files.items())), index.undone)
        replace_file(self.folder / _INDEX, json.dumps(asdict(index), indent=1) + "\n")
        return index

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with open(self.folder / ".lock", "w", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # released with the process, however it ends
            yield
