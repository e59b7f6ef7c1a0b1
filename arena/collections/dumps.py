"""Dumps: one file per month with every result, from which all ratings can be computed again.

    dumps/2026-11.ndjson.zst           the games that ended in that month (UTC), in the order of their commits
    dumps/2026-11.ndjson.zst.sha256    its checksum, as `sha256sum --check` reads it
    dumps/index.json                   the files, and the last commit number in them

An update appends to copies, which replace the files once complete. So readers never see a partial file, and an
interrupted update loses only its own work.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from arena.clock import now
from arena.collections.dump import FORM, DamagedError, Dump, MonthFile, digest_of, document

if TYPE_CHECKING:
    from arena.config import Settings
    from arena.store import Store

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
        """Return the dumps of a server."""
        return cls(settings.dumps_path, licence=settings.dump_license, source=settings.public_url)

    @property
    def licence(self) -> str:
        """License of new files."""
        return self._licence

    def index(self) -> DumpIndex:
        """Read the index; empty if no dump has been written. Raises OSError, DamagedError."""
        try:
            found = json.loads((self.folder / _INDEX).read_text(encoding="utf-8"))
            files = {month: Dump(**dump) for month, dump in found["files"].items()}
            return DumpIndex(int(found["through"]), str(found["written"]), files, int(found.get("undone", 0)))
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
            found = self.index()
        except DamagedError as error:
            return [str(error)]
        problems = []
        for dump in found.files.values():
            path = self.folder / dump.file
            if not path.is_file():
                problems.append(f"{dump.file} is missing")
            elif digest_of(path) != dump.sha256:
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
                    months[month].add(line, document(line, data, ancestors))
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
            _write(self.folder / f"{dump.file}.sha256", f"{dump.sha256}  {dump.file}\n")
        files = {**index.files, **{dump.month: dump for dump in dumps}}
        written = now().isoformat(timespec="seconds")
        index = DumpIndex(through, written, dict(sorted(files.items())), index.undone)
        _write(self.folder / _INDEX, json.dumps(asdict(index), indent=1) + "\n")
        return index

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with open(self.folder / ".lock", "w", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # released with the process, however it ends
            yield


def _write(path: Path, text: str) -> None:
    fresh = path.with_name(f"{path.name}.new")
    try:
        with open(fresh, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)
