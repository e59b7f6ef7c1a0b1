"""Keeps the archive: indexes new games, and reads uploaded texts, one after another.

Both run in background threads, so that commits do not wait for them, and use low-priority processes for the rules: bots
have precedence.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence

from arena.collections import following
from arena.collections.uploaded_text import BOUNDS, UploadedText, read_portion
from arena.documents.archive import RejectedGame
from arena.log import logger
from arena.offload import OffloadProcess
from arena.store import Store
from arena.store.archive.entry import NewArchivedGame
from referee.machine.pool import JobError, WorkerLostError

POLL_INTERVAL_S = 15.0
"""Longest time until a finished game is in the archive."""


def prepare_at_low_priority(records: Sequence[bytes]) -> list[NewArchivedGame]:
    """Lower the priority of this process, then prepare records (see `arena.collections.following.prepared`)."""
    os.setpriority(os.PRIO_PROCESS, 0, 10)
    return following.prepared(records)


class ArchiveIndexer:
    """Adds new games to the archive."""

    def __init__(self, store: Store, *, prepare: following.Prepare | None = None) -> None:
        self._store = store
        self._prepare = prepare or self._prepare_in_process
        self.process = OffloadProcess()
        self._log = logger("archive")

    def work(self, stop: threading.Event) -> int:
        """Add the new games and return their number."""
        count = following.follow(self._store, stop.is_set, self._prepare)
        if count:
            self._log.info("games archived", games=count)
        return count

    def _prepare_in_process(self, records: Sequence[bytes]) -> list[NewArchivedGame]:
        return self.process.call(prepare_at_low_priority, records)


class ArchiveImporter:
    """Reads the oldest import that is not over, portion by portion."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._log = logger("archive")

    def work(self, stop: threading.Event) -> bool:
        """Read all waiting imports; return whether there was one."""
        did_anything = False
        while not stop.is_set() and self._advance():
            did_anything = True
        return did_anything

    def _advance(self) -> bool:
        """Read the next portion; return whether there was one."""
        imports = self._store.imports
        waiting = imports.next_waiting()
        if waiting is None:
            return False
        row, text = waiting
        number = row.id or 0
        try:
            portion = read_portion(UploadedText(text, row.source, row.family, row.variant, row.notation), row.read)
        except (JobError, WorkerLostError) as error:
            bounds = f"more than {BOUNDS.cpu_s} s or {BOUNDS.memory_bytes // 2**20} MiB"
            needs = f"needs {bounds}" if isinstance(error, WorkerLostError) else f"failed: {error}"
            imports.fail(number, f"reading the text after line {row.read} {needs}; import the rest in parts")
        else:
            bad = [
                # Problems quote the text, whose lines may be of any length.
                RejectedGame(problem.line, problem.ply, problem.position[:200], problem.message[:300])
                for problem in portion.problems
            ]
            if portion.games or bad or row.games or row.rejected or portion.end < row.lines:
                imports.advance(row, portion.games, bad, portion.format, portion.end)
            else:
                imports.fail(number, f"the text contains no game of {row.family}")
        if (over := imports.get(number)).state != "waiting":
            self._log.info("import over", id=number, source=over.file, state=over.state, new=over.new)
        return True
