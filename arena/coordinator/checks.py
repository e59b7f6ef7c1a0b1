"""Checks uploaded versions one at a time, in the background. An interrupted check is repeated after the next start."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable

from arena.clock import now
from arena.errors import ConflictError, StoreError
from arena.events.bus import EventBus
from arena.events.messages import VersionChanged, VersionStep
from arena.log import logger
from arena.metrics import CoordinatorMetrics
from arena.store import Store
from arena.submission.bundle_store import BundleStore
from arena.tournaments import creation
from referee.machine.cores import usable_cores

REPEAT_INTERVAL_S = 600.0
"""How often checks that ran on a busy machine are looked for, to be repeated on a calm one."""


def is_calm() -> bool:
    """Return whether no more processes want a core of the machine than it has."""
    return os.getloadavg()[0] <= usable_cores()


class SubmissionChecks:
    """The checks of uploaded versions. `check` checks one claimed version, `measure` measures the time of one again.

    A version that passes joins the ladders of its families. Missing ladders are created with `ladder_time_control`
    (empty: no ladder is created).
    """

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        check: Callable[[int], object],
        *,
        measure: Callable[[int], object] = lambda version_id: None,
        ladder_time_control: str,
        metrics: CoordinatorMetrics,
    ) -> None:
        self._store, self._bus, self._check, self._metrics = store, bus, check, metrics
        self._measure, self._looked_at = measure, -REPEAT_INTERVAL_S
        self._ladder_time_control = ladder_time_control
        self._log = logger("coordinator")

    def work(self, stop: threading.Event) -> None:
        """Check the uploaded versions. If a check raises an exception, queue its version again and reraise."""
        self._check_uploads(stop)
        if not stop.is_set() and time.monotonic() - self._looked_at >= REPEAT_INTERVAL_S and is_calm():
            self._repeat(stop)

    def _check_uploads(self, stop: threading.Event) -> None:
        while not stop.is_set() and (version := self._store.checks.claim()):
            self._check_version(version.id or 0)

    def _repeat(self, stop: threading.Event) -> None:
        """Repeat what was measured on a busy machine, as long as it is calm."""
        if count := self._store.checks.repeat_late():
            self._log.info("check", repeated=count)
        for version_id in self._store.checks.measured_busy():
            if stop.is_set() or not is_calm():
                return
            self._measure(version_id)
            self._check_uploads(stop)  # authors wait for these, but not for measurements
        self._looked_at = time.monotonic()

    def _check_version(self, version_id: int) -> None:
        state = "uploaded"
        self._publish(version_id, "checking")
        try:
            self._check(version_id)
            state = self._store.versions.get(version_id).state
            if state == "active" and self._ladder_time_control:
                creation.ensure_ladders(
                    self._store, self._store.versions.families(version_id), self._ladder_time_control, now()
                )
        except ConflictError as error:
            self._log.info("check", version=version_id, error=str(error))
        except Exception:
            with contextlib.suppress(StoreError):
                self._store.checks.give_back()
            raise
        finally:
            if state != "uploaded":
                self._metrics.checks.labels(state).inc()
            self._publish(version_id, state)

    def _publish(self, version_id: int, state: str) -> None:
        self._bus.publish(VersionChanged(version=version_id, state=state))


def check_in_sandbox(
    store: Store, bus: EventBus, bundles: Callable[[], BundleStore], sandbox: str
) -> Callable[[int], object]:
    """Return a function that checks an uploaded version in `sandbox` and publishes the steps of the check."""

    def check(version_id: int) -> object:
        from arena.submission.check import check_version
        from referee.sandbox import open_sandbox

        def publish_step(line: str) -> None:
            bus.publish(VersionStep(version=version_id, line=line))

        return check_version(store, bundles(), version_id, open_sandbox(sandbox), on_step=publish_step)

    return check


def measure_in_sandbox(store: Store, bundles: Callable[[], BundleStore], sandbox: str) -> Callable[[int], object]:
    """Return a function that measures the time of an active version again in `sandbox`."""

    def measure(version_id: int) -> None:
        from arena.submission.check import measure_again
        from referee.sandbox import open_sandbox

        measure_again(store, bundles(), version_id, open_sandbox(sandbox))

    return measure
