"""Submissions: upload a bot version and follow its check by the coordinator."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any, BinaryIO

from arena.documents.attributes import of_attributes
from arena.documents.bot import SubmissionResponse
from arena.documents.identity import Identity
from arena.documents.tournament import TournamentItem
from arena.errors import BadValueError, NotFoundError
from arena.services.access import may_read_log
from arena.services.arena import Arena
from arena.submission.receive import NotYoursError, Quota, receive, refuse_unsafe
from arena.submission.template import LANGUAGES, MAX_SOURCE, archive, python_bundle, python_source
from arena.tournaments import permanent


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
    arena: Arena,
    file: BinaryIO,
    *,
    name: str,
    families: Sequence[str],
    by: Identity,
    tc: str = "",
    sha256: str = "",
) -> SubmissionResponse:
    """Store an upload as the next version of the user's bot, to be checked. An unknown name creates a bot.

    `name` and `families` may be empty if `bot.toml` contains them. With `tc` the check tests only the time per move of
    that time control. `sha256` is the hash of the file if known. Raises the errors of `admit` and `receive`.
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
        sha256=sha256,
    )
    arena.wake()
    arena.note("bot.submit", f"version:{version.name}", by, sha256=version.bundle)
    return read(arena, version.id or 0, by)


def submit_source(arena: Arena, source: str, *, name: str, families: Sequence[str], by: Identity) -> SubmissionResponse:
    """Store a bot that consists of one Python file, like an upload. Raises what `submit` raises."""
    if not name:
        raise BadValueError("missing bot name", hint="give your bot a name", field="name")
    if not source.strip() or len(source) > MAX_SOURCE:
        hint = f"write at most {MAX_SOURCE:,} characters; upload a larger bot as an archive"
        raise BadValueError("missing or too long source", hint=hint, field="source")
    return submit(arena, BytesIO(python_bundle(source)), name=name, families=families, by=by)


def ladders(arena: Arena, families: Sequence[str]) -> list[TournamentItem]:
    """Return the permanent ladders that a bot of these families joins."""
    return permanent.ladders(arena.store, families)


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


__all__ = ["LANGUAGES", "admit", "archive", "ladders", "python_source", "read", "submit", "submit_source"]
