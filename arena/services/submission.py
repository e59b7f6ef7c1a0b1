"""Submissions: upload a bot version and follow its check by the coordinator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from arena.documents.identity import Identity
from arena.errors import NotFoundError
from arena.services.access import may_read_log
from arena.services.arena import Arena
from arena.store.base.models import Version
from arena.store.bots.versions import VersionLine
from arena.submission.receive import NotYoursError, Quota, receive, refuse_unsafe


def admit(arena: Arena, name: str, by: Identity) -> None:
    """Check before an upload that it would be accepted, so that the user need not wait for its end.

    `name` is empty if the bundle contains it. Raises NotYoursError, UnsafeError.
    """
    try:
        if name and arena.store.bots.find(name).owner_id != by.user_id:
            raise NotYoursError(f"the bot {name!r} belongs to another user", hint="choose another name")
    except NotFoundError:
        pass
    refuse_unsafe(arena.settings, is_admin="admin" in by.scopes)


def submit(arena: Arena, file: BinaryIO, *, name: str, families: Sequence[str], by: Identity, tc: str = "") -> Version:
    """Store an upload as the next version of the user's bot, to be checked. An unknown name creates a bot.

    `name` and `families` may be empty if `bot.toml` contains them. With `tc` the check tests only the time per move of
    that time control. Raises the errors of `admit` and `receive`.
    """
    admit(arena, name, by)
    version = receive(
        arena.store,
        arena.bundles,
        file,
        name=name,
        families=list(dict.fromkeys(families)),
        user=by,
        quota=Quota.of(arena.settings),
        tc=tc,
    )
    arena.wake()
    arena.note("bot.submit", f"version:{version.name}", by, sha256=version.bundle)
    return version


@dataclass(frozen=True, slots=True)
class SubmissionStatus:
    """A version with its check, as the reader may see it; `log` is None without permission.

    `fit_from_ms` is the shortest time per move that the bot keeps, by family.
    """

    line: VersionLine
    report: dict[str, Any]
    log: str | None
    fit_from_ms: dict[str, int]

    @property
    def is_moving(self) -> bool:
        """True while its check is pending or running."""
        return self.line.state in ("uploaded", "checking")


def read(arena: Arena, version_id: int, by: Identity | None) -> SubmissionStatus:
    """Return a submission as far as `by` may see it. Raises NotFoundError."""
    lines = arena.store.versions.lines([version_id])
    if version_id not in lines:
        raise NotFoundError("submission", version_id)
    line, version = lines[version_id], arena.store.versions.get(version_id)
    log = version.log if may_read_log(by, line.owner) else None
    return SubmissionStatus(line, _public(version.report), log, arena.store.versions.fit_from([version_id])[version_id])


def _public(report: dict[str, Any]) -> dict[str, Any]:
    """Return the report of a check without the command, which names folders of a machine."""
    families = {
        family: {name: value for name, value in part.items() if name != "command"}
        for family, part in report.get("families", {}).items()
    }
    return {**report, "families": families} if families else report
