"""Checks of uploaded versions: from `uploaded` through `checking` to `active` or `failed`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import func, select, update
from sqlmodel import col

from arena.clock import now
from arena.errors import ConflictError, NotFoundError
from arena.store.base.engine import Repository
from arena.store.base.tables.bots import Version, VersionFamily

LOAD, FIT_AGAIN_MS = "load", "fit_again_ms"
"""Keys stored with the capabilities that a check found: the load of a busy machine, in words, and the shortest move
time that was measured again when it was not busy.
"""
MAX_REPEATED = 200
"""Number of the latest versions among which checks on a busy machine are looked for."""


class VersionChecks(Repository):
    def claim(self) -> Version | None:
        """Claim the oldest uploaded version for checking; return None if there is none."""
        with self._sessions.writing() as session:
            oldest = select(Version).where(col(Version.state) == "uploaded").order_by(col(Version.id)).limit(1)
            version = session.scalar(oldest.with_for_update(skip_locked=True))
            if version is not None:
                version.state = "checking"
        return version

    def count_before(self, version_id: int) -> int:
        """Return how many versions are checked, or wait for a check, before this one."""
        earlier = select(func.count()).where(
            col(Version.state).in_(("uploaded", "checking")), col(Version.id) < version_id
        )
        with self._sessions.reading() as session:
            return session.scalar(earlier) or 0

    def waits_before(self, version_id: int, count: int = 20) -> list[float]:
        """Return the seconds from upload to verdict of those of the `count` versions before this one that have one."""
        latest = select(col(Version.created_at), col(Version.checked)).where(
            col(Version.id).between(version_id - count, version_id - 1), col(Version.checked).is_not(None)
        )
        with self._sessions.reading() as session:
            return [(checked - created).total_seconds() for created, checked in session.execute(latest) if checked]

    def give_back(self) -> int:
        """Queue again all versions whose check was interrupted, and return how many."""
        with self._sessions.writing() as session:
            found = session.execute(update(Version).where(col(Version.state) == "checking").values(state="uploaded"))
            return int(found.rowcount)  # type: ignore[attr-defined]

    def repeat_late(self) -> int:
        """Queue versions again that failed because they were late on a busy machine; return how many."""
        with self._sessions.writing() as session:
            failed = select(Version).where(col(Version.state) == "failed").order_by(col(Version.id).desc())
            versions = [version for version in session.scalars(failed.limit(MAX_REPEATED)) if _was_late(version)]
            for version in versions:
                version.state = "uploaded"
        return len(versions)

    def measured_busy(self) -> list[int]:
        """Return the active versions, latest first, whose shortest move time was measured on a busy machine only."""
        active = select(col(Version.id), col(Version.capabilities)).where(col(Version.state) == "active")
        with self._sessions.reading() as session:
            rows = session.execute(active.order_by(col(Version.id).desc()).limit(MAX_REPEATED)).all()
        return [number for number, capabilities in rows if any(map(_is_doubtful, capabilities.values()))]

    def correct(self, version_id: int, fit_from_ms: Mapping[str, int]) -> None:
        """Store the shortest move times of an active version, by family, that were measured again.

        A longer time than before counts as the one before; 0 means that none was found.
        """
        with self._sessions.writing() as session:
            version = session.get(Version, version_id, with_for_update=True)
            if version is None or version.state != "active":
                return
            capabilities = {family: dict(part) for family, part in version.capabilities.items()}
            for family, again_ms in fit_from_ms.items():
                before_ms = int(capabilities[family]["fit_from_ms"])
                capabilities[family][FIT_AGAIN_MS] = min(again_ms or before_ms, before_ms)
            version.capabilities = capabilities

    def conclude(
        self,
        version_id: int,
        *,
        report: Mapping[str, Any],
        variants: Mapping[str, Sequence[str]],
        capabilities: Mapping[str, Any],
        log: str = "",
        problem: str = "",
    ) -> Version:
        """Store the verdict on a version: it becomes `failed` if there is a `problem`, else `active`.

        `variants` are its playable variants by family. Raises NotFoundError, and ConflictError if no check is running.
        """
        with self._sessions.writing() as session:
            version = session.get(Version, version_id, with_for_update=True)
            if version is None:
                raise NotFoundError("version", version_id)
            if version.state != "checking":
                raise ConflictError(f"{version.name} is {version.state}: no check is running", version.state)
            version.state = "failed" if problem else "active"
            version.report, version.log, version.problem = dict(report), log, problem
            version.capabilities, version.checked = dict(capabilities), now()
            of_version = select(VersionFamily).where(col(VersionFamily.version_id) == version_id)
            known = {row.family: row for row in session.scalars(of_version)}
            for family, names in variants.items():
                row = known.get(family) or VersionFamily(version_id=version_id, family=family)
                row.variants = list(names)
                session.add(row)
        return version


def _was_late(version: Version) -> bool:
    """Return whether a failed version was late on a busy machine, and had no other fault."""
    reports = version.report.get("families", {}).values()
    faults = [report for report in reports if report.get("problem")]
    return bool(faults) and all(
        report.get("late") and report["load"]["average"] > report["load"]["cores"] for report in faults
    )


def _is_doubtful(part: Any) -> bool:
    """Return whether the shortest move time of one family may be too long, and was not measured again."""
    return isinstance(part, Mapping) and bool(part.get(LOAD)) and FIT_AGAIN_MS not in part
