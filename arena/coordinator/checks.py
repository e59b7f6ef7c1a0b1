"""Checks uploaded versions, one at a time, in a thread that may take its time.

An interrupted check starts anew after the next start.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

from arena.events.bus import EventBus
from arena.events.messages import VersionChanged, VersionStep
from arena.log import logger
from arena.metrics import RefereeMetrics
from arena.store import ConflictError, Store, StoreError
from arena.submission.bundle_store import BundleStore


class Checks:
    """`check` checks one claimed version; `on_done` is called, in the thread, when there may be another one."""

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        check: Callable[[int], object],
        *,
        metrics: RefereeMetrics,
        on_done: Callable[[], None],
    ) -> None:
        self._store, self._bus, self._check = store, bus, check
        self._metrics, self._on_done = metrics, on_done
        self._thread: threading.Thread | None = None
        self._log = logger("coordinator")

    def begin(self) -> None:
        """Check the next uploaded version, if there is one and no other is being checked."""
        if self._thread:
            return
        version = self._store.checks.claim()
        if version is None or version.id is None:
            return
        self._tell(version.id, "checking")
        # A daemon: its bots die with this process.
        self._thread = threading.Thread(target=self._examine, args=(version.id,), name="check", daemon=True)
        self._thread.start()

    def _examine(self, version_id: int) -> None:
        state = "uploaded"
        try:
            self._check(version_id)
            state = self._store.versions.get(version_id).state
        except ConflictError as error:
            self._log.info("check", version=version_id, error=str(error))
        except Exception as error:  # the outermost loop of this thread
            self._log.error("check", version=version_id, error=f"{type(error).__name__}: {error}")
            with contextlib.suppress(StoreError):
                self._store.checks.give_back()
        if state != "uploaded":
            self._metrics.checks.labels(state).inc()
        self._tell(version_id, state)
        self._thread = None  # before the call: who is woken must not find this thread still at it
        self._on_done()

    def _tell(self, version_id: int, state: str) -> None:
        self._bus.publish(VersionChanged(version=version_id, state=state))


def check_in_sandbox(
    store: Store, bus: EventBus, bundles: Callable[[], BundleStore], sandbox: str
) -> Callable[[int], object]:
    """The check of an uploaded version in a sandbox of that name, its steps told as news."""

    def check(version_id: int) -> object:
        from arena.submission.receive import check_version
        from referee.sandbox import open_sandbox

        def tell(line: str) -> None:
            bus.publish(VersionStep(version=version_id, line=line))

        return check_version(store, bundles(), version_id, open_sandbox(sandbox), on_step=tell)

    return check
