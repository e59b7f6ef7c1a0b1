"""Begins, lists and stops tests of two versions: unrated tournaments of the format `sprt` by the owner of both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena import services, tournaments
from arena.clock import now
from arena.documents.account import Identity
from arena.documents.tournament import TournamentItem, TournamentQuery
from arena.errors import BadValueError, ForbiddenError, QuotaError
from arena.features.versiontests.documents import Verdict, VersionTestItem, VersionTestRequest, VersionTests
from arena.services.arena import Arena
from arena.services.remote import require_short
from arena.store.base.tables.bots import Version
from arena.tournaments.entry import read_name
from referee.tournament.document import read as read_settings
from referee.tournament.formats.sprt import FORMAT

PRIORITY = -20
"""A sixteenth of the weight of an organiser's tournament: a test uses what others leave, also permanent ladders."""
MAX_LISTED = 100
_VERDICTS: Mapping[str, Verdict] = {"H1": "stronger", "H0": "not stronger"}
"""By the hypothesis that the test has accepted."""


def begin(arena: Arena, request: VersionTestRequest, by: Identity) -> VersionTestItem:
    """Create a test of two versions of the caller's uploaded bots. It starts at once.

    Raises NotFoundError, ForbiddenError, QuotaError, BadValueError, SettingsError; ChallengeError for long games.
    """
    candidate, baseline = (_own(arena, name, by) for name in (request.candidate, request.baseline))
    if candidate.id == baseline.id:
        raise BadValueError(f"{candidate.name} cannot be tested against itself", hint="name two versions")
    require_short(request.time)
    limits = arena.settings
    most = limits.version_test_games - limits.version_test_games % 2
    games = most if request.games is None else request.games
    if games > most:
        raise BadValueError(f"invalid number of games {games}: expected at most {most}", field="games")
    if sum(not test.is_over for test in _of_author(arena, by.user_id)) >= limits.version_tests:
        raise QuotaError(f"you have {limits.version_tests} open tests, the most here; wait for one to end, or stop one")
    document: dict[str, Any] = {
        "name": f"Test: {candidate.name} against {baseline.name}"[:120],
        "family": request.family,
        "variant": request.variant,
        "format": FORMAT.name,
        "time_control": request.time,
        "rated": False,
        "priority": PRIORITY,
        "entries": {"bots": [candidate.name, baseline.name]},
        FORMAT.name: {"elo0": request.elo0, "elo1": request.elo1, "games": games},
    }
    if request.openings:
        document["openings"] = request.openings
    if lines := [line.strip() for line in request.book.splitlines() if line.strip()]:
        document["opening_lines"] = lines
    row = tournaments.create(arena.store, document, by.user_id, now())
    arena.wake()
    return show(arena, row.id)


def of_author(arena: Arena, name: str) -> VersionTests:
    """Return the tests of a user. Raises NotFoundError."""
    return _listed(arena, arena.store.users.find(name).id or 0, None)


def of_bot(arena: Arena, bot: str) -> VersionTests:
    """Return the tests of a bot's versions by its owner. Raises NotFoundError."""
    identity = arena.store.bots.find(bot)
    return _listed(arena, identity.owner_id, identity.name)


def stop(arena: Arena, tournament: int, by: Identity) -> VersionTestItem:
    """Cancel the games of a test that are still to be played. Its author and organisers may.

    Raises NotFoundError, ForbiddenError, BadValueError for another tournament, ConflictError if it is over.
    """
    row = arena.store.tournaments.get(tournament)
    if not _is_test(row):
        raise BadValueError(f"tournament {tournament} is not a test of two versions")
    if row.created_by != by.user_id and "organise" not in by.scopes:
        raise ForbiddenError(f"test {tournament} belongs to another user")
    tournaments.cancel(arena.store, tournament, now())
    arena.note("test.stop", f"tournament:{tournament}", by)
    arena.wake()
    return show(arena, tournament)


def show(arena: Arena, tournament: int) -> VersionTestItem:
    """Return a test with its state. Raises NotFoundError."""
    row = services.tournament.show(arena, tournament)
    _, standings = services.standings.show(arena, tournament)
    document = read_settings(row.settings)
    settings, verdict = FORMAT.of(document), standings.verdict or {}
    names = {entry.seat: entry.name for entry in row.entries}
    return VersionTestItem(
        id=row.id,
        candidate=names.get(0, ""),
        baseline=names.get(1, ""),
        family=row.family,
        variant=row.variant,
        state=row.state,
        verdict=_VERDICTS.get(verdict.get("state", ""), "undecided"),
        llr=verdict.get("llr", 0.0),
        lower=verdict.get("lower", 0.0),
        upper=verdict.get("upper", 0.0),
        elo0=settings.elo0,
        elo1=settings.elo1,
        pentanomial=verdict.get("pentanomial", [0] * 5),
        finished_games=row.finished_games,
        max_games=settings.games,
        time_control=document.time_control,
        created_by=arena.store.users.get(row.created_by).name,
        created_at=row.created_at,
    )


def _own(arena: Arena, name: str, by: Identity) -> Version:
    """Return an uploaded version of a bot of the caller. Raises NotFoundError, ForbiddenError, BadValueError."""
    version = arena.store.versions.find(*read_name(name))
    if arena.store.bots.get(version.bot_id).owner_id != by.user_id:
        raise ForbiddenError(f"{name} belongs to another user; test versions of your own bots")
    if version.place:
        raise BadValueError(f"{version.name} does not run in the arena; upload it to test it")
    return version


def _of_author(arena: Arena, user_id: int) -> list[TournamentItem]:
    rows = arena.store.tournaments.page(TournamentQuery(limit=MAX_LISTED), created_by=user_id).items
    return [row for row in rows if _is_test(row)]


def _is_test(row: TournamentItem) -> bool:
    return row.format == FORMAT.name and not row.is_rated and row.schedule_id is None


def _listed(arena: Arena, user_id: int, bot: str | None) -> VersionTests:
    tests = [show(arena, row.id) for row in _of_author(arena, user_id)]
    chosen = [
        test for test in tests if bot in (None, *(read_name(name)[0] for name in (test.candidate, test.baseline)))
    ]
    return VersionTests(chosen, arena.settings.version_tests)
