"""Reads uploaded texts into the archive, one after another, in a low-priority process with CPU and memory limits."""

from __future__ import annotations

import threading

from arena.collections.uploaded_text import BOUNDS, UploadedText, read_portion
from arena.documents.archive import RejectedGame
from arena.log import logger
from arena.store import Store
from referee.machine.pool import JobError, WorkerLostError


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
            found = read_portion(UploadedText(text, row.source, row.family, row.variant, row.notation), row.read)
        except (JobError, WorkerLostError) as error:
            bounds = f"more than {BOUNDS.cpu_s} s or {BOUNDS.memory_bytes // 2**20} MiB"
            needs = f"needs {bounds}" if isinstance(error, WorkerLostError) else f"failed: {error}"
            imports.fail(number, f"reading the text after line {row.read} {needs}; import the rest in parts")
        else:
            bad = [RejectedGame(one.line, one.ply, one.position[:200], one.message[:300]) for one in found.problems]
            if found.games or bad or row.games or row.rejected or found.end < row.lines:
                imports.advance(row, found.games, bad, found.format, found.end)
            else:
                imports.fail(number, f"the text contains no game of {row.family}")
        if (over := imports.get(number)).state != "waiting":
            self._log.info("import over", id=number, source=over.file, state=over.state, new=over.new)
        return True
