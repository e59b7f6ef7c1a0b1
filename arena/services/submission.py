"""Submissions: upload a bot version, follow its check by the coordinator, and its place in the queues of checks and of
first rated games.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from statistics import median
from typing import Any, BinaryIO

from arena.clock import now
from arena.coordinator.shares import weights
from arena.documents.account import Identity
from arena.documents.bot import SubmissionResponse
from arena.documents.game import GameQuery
from arena.documents.tournament import TournamentItem
from arena.errors import BadValueError, NotFoundError
from arena.services.access import may_read_log
from arena.services.arena import Arena
from arena.submission.receive import NotYoursError, Quota, receive, refuse_unsafe
from arena.submission.template import LANGUAGES, MAX_SOURCE, archive, python_bundle, python_source
from arena.tournaments import creation

__all__ = [
    "LANGUAGES",
    "admit",
    "archive",
    "ladders",
    "python_source",
    "read",
    "submit",
    "submit_source",
]

MAX_SAMPLED = 50
"""Number of recent games from which the pace of all games is measured."""


@dataclass(frozen=True, slots=True)
class Admission:
    """The permission of a user to upload a bot; `name` is empty if the bundle contains it. Only `admit` gives it."""

    name: str
    by: Identity


def admit(arena: Arena, name: str, by: Identity) -> Admission:
    """Check before an upload that it would be accepted, so that the user need not wait for its end.

    Raises NotYoursError, UnsafeError.
    """
    try:
        if name and arena.store.bots.find(name).owner_id != by.user_id:
            raise NotYoursError(f"the bot {name!r} belongs to another user", hint="choose another name")
    except NotFoundError:
        pass
    refuse_unsafe(arena.settings, is_admin="admin" in by.scopes)
    return Admission(name, by)


def submit(
    arena: Arena, admission: Admission, file: BinaryIO, *, families: Sequence[str], tc: str = "", sha256: str = ""
) -> SubmissionResponse:
    """Store an upload as the next version of the user's bot, to be checked. An unknown name creates a bot.

    `families` may be empty if `bot.toml` contains them. With `tc` the check tests only the time per move of
    that time control. `sha256` is the hash of the file if known. Raises the errors of `receive`.
    """
    by = admission.by
    version = receive(
        arena.store,
        arena.bundles,
        file,
        name=admission.name,
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
    """Store a bot that consists of one Python file, like an upload. Raises what `admit` and `submit` raise."""
    if not name:
        raise BadValueError("missing bot name", hint="give your bot a name", field="name")
    if not source.strip() or len(source) > MAX_SOURCE:
        hint = f"write at most {MAX_SOURCE:,} characters; upload a larger bot as an archive"
        raise BadValueError("missing or too long source", hint=hint, field="source")
    return submit(arena, admit(arena, name, by), BytesIO(python_bundle(source)), families=families)


def ladders(arena: Arena, families: Sequence[str]) -> list[TournamentItem]:
    """Return the permanent ladders that a bot of these families joins."""
    return creation.permanent_ladders(arena.store, families)


def read(arena: Arena, version_id: int, by: Identity | None) -> SubmissionResponse:
    """Return a submission as far as `by` may see it. Raises NotFoundError."""
    submission = arena.store.versions.lines([version_id]).get(version_id)
    if submission is None:
        raise NotFoundError("submission", version_id)
    version = arena.store.versions.get(version_id)
    log = version.log if may_read_log(by, submission.owner) else None
    return SubmissionResponse(
        id=submission.id,
        bot=submission.bot,
        owner=submission.owner,
        number=submission.number,
        name=submission.name,
        state=submission.state,
        problem=submission.problem,
        sha256=submission.sha256,
        size_bytes=submission.size_bytes,
        created_at=submission.created_at,
        checked=submission.checked,
        families=submission.families,
        fit_from_ms=submission.fit_from_ms,
        remarks=submission.remarks,
        bot_id=submission.bot_id,
        place=submission.place,
        report=_public(version.report),
        log=log,
    )


def _public(report: dict[str, Any]) -> dict[str, Any]:
    """Return the report of a check without the command, which names folders of a machine."""
    families = {
        family: {name: value for name, value in part.items() if name != "command"}
        for family, part in report.get("families", {}).items()
    }
    return {**report, "families": families} if families else report


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """A place in a queue, 1 for the next; `seconds` is the estimated time until its turn, None if unknown.

    `tournament_id` is 0 in the queue of checks.
    """

    number: int
    seconds: float | None
    tournament_id: int = 0


def place_of_check(arena: Arena, version_id: int) -> QueuePlace:
    """Return the place of an uploaded version; recent uploads tell how long a check and the wait for it take."""
    waits = arena.store.checks.waits_before(version_id)
    return QueuePlace(1 + arena.store.checks.count_before(version_id), median(waits) if waits else None)


def place_of_first_game(arena: Arena, version_id: int) -> QueuePlace | None:
    """Return the place of a version's first planned rated game among the games of its tournament; None without one."""
    game = arena.store.queue.first_rated(version_id)
    if game is None:
        return None
    tournament_id, number = game
    pace = _games_per_second(arena) * shares(arena).get(tournament_id, 0.0)
    return QueuePlace(number, number / pace if pace else None, tournament_id)


def shares(arena: Arena) -> Mapping[int, float]:
    """Return the share of each tournament with games to play in the games that are handed out."""
    by_tournament = weights(arena.store.queue.priorities())
    total = sum(by_tournament.values())
    return {number: weight / total for number, weight in by_tournament.items()}


def _games_per_second(arena: Arena) -> float:
    """Return the pace of the latest games of the whole arena; 0 without games."""
    ends = [game.finished_at for game in arena.store.games.latest(GameQuery(limit=MAX_SAMPLED)).items]
    known = [end for end in ends if end is not None]
    seconds = (now() - min(known)).total_seconds() if known else 0.0
    return len(known) / seconds if seconds > 0 else 0.0
