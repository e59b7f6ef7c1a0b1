"""Submissions: a bot comes in, is checked by the coordinator, and is looked at on its way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from arena.services.access import may_read_log
from arena.services.arena import Arena
from arena.store import Identity, NotFoundError
from arena.store.base.models import Version
from arena.store.bots.versions import VersionLine
from arena.submission.receive import NotYoursError, Quota, receive, refuse_unsafe


def admit(arena: Arena, name: str, by: Identity) -> None:
    """Tell somebody before the upload, rather than after it, why there is no sense in it.

    `name` is empty where the bundle will say it. Raises NotYoursError, UnsafeError.
    """
    try:
        if name and arena.store.bots.find(name).owner_id != by.user_id:
            raise NotYoursError(f"the bot {name!r} belongs to somebody else", hint="take another name")
    except NotFoundError:
        pass
    refuse_unsafe(arena.settings, is_admin="admin" in by.scopes)


def submit(arena: Arena, file: BinaryIO, *, name: str, families: Sequence[str], by: Identity, tc: str = "") -> Version:
    """Take an upload as the next version of the user's bot, to be checked; a new name makes a new bot.

    `name` and `families` may be left to `bot.toml` in it. `tc`: the time control whose time for a move is the only one
    that the check tries. Raises what `admit` and `receive` raise.
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
class Submission:
    """A version with its check, as somebody may see it; `log` is None for those who may not read it.

    `fit_from_ms`: the shortest time for a move that it keeps, by family.
    """

    line: VersionLine
    report: dict[str, Any]
    log: str | None
    fit_from_ms: dict[str, int]

    @property
    def is_moving(self) -> bool:
        """Whether its check is still to come or under way."""
        return self.line.state in ("uploaded", "checking")


def read(arena: Arena, version_id: int, by: Identity | None) -> Submission:
    """A submission as far as `by` may see it. Raises NotFoundError."""
    lines = arena.store.versions.lines([version_id])
    if version_id not in lines:
        raise NotFoundError("submission", version_id)
    line, version = lines[version_id], arena.store.versions.get(version_id)
    log = version.log if may_read_log(by, line.owner) else None
    return Submission(line, _public(version.report), log, arena.store.versions.fit_from([version_id])[version_id])


def _public(report: dict[str, Any]) -> dict[str, Any]:
    """The report of a check without the command: it names folders of a machine."""
    families = {
        family: {name: value for name, value in part.items() if name != "command"}
        for family, part in report.get("families", {}).items()
    }
    return {**report, "families": families} if families else report
