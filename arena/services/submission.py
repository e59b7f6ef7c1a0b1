"""Submissions: upload a bot version and follow its check by the coordinator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, BinaryIO

from arena.documents.attributes import of_attributes
from arena.documents.bot import SubmissionResponse
from arena.documents.identity import Identity
from arena.errors import NotFoundError
from arena.services.access import may_read_log
from arena.services.arena import Arena
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


def submit(
    arena: Arena, file: BinaryIO, *, name: str, families: Sequence[str], by: Identity, tc: str = ""
) -> SubmissionResponse:
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
    return read(arena, version.id or 0, by)


def read(arena: Arena, version_id: int, by: Identity | None) -> SubmissionResponse:
    """Return a submission as far as `by` may see it. Raises NotFoundError."""
    found = arena.store.versions.lines([version_id]).get(version_id)
    if found is None:
        raise NotFoundError("submission", version_id)
    version = arena.store.versions.get(version_id)
    log = version.log if may_read_log(by, found.owner) else None
    return of_attributes(SubmissionResponse, found, report=_public(version.report), log=log)


def _public(report: dict[str, Any]) -> dict[str, Any]:
    """Return the report of a check without the command, which names folders of a machine."""
    families = {
        family: {name: value for name, value in part.items() if name != "command"}
        for family, part in report.get("families", {}).items()
    }
    return {**report, "families": families} if families else report
