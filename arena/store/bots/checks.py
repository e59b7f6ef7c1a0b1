"""Checks of uploaded versions: from `uploaded` through `checking` to `active` or `failed`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import func, select, update
from sqlmodel import col

from arena.clock import now
from arena.errors import ConflictError, NotFoundError
from arena.store.base.engine import Sessions
from arena.store.base.models import Version, VersionFamily


class VersionChecks:
    """Pending checks and their verdicts."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

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
