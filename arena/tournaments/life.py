"""The life of a tournament: created, planned when its time has come, carried on after results, steered by people.

Everything here may be repeated: planning asks the games that are stored what is still missing. Only the referee plans
and carries on; anybody may create and steer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from arena.store import ConflictError, Store
from arena.store.models import Tournament
from arena.store.queue import Outline
from arena.store.tournaments import EntryLine
from arena.tournaments import format, openings, swiss
from arena.tournaments.eligibility import judge
from arena.tournaments.entry import Field, resolve
from arena.tournaments.meeting import Played, Seat, State, Step
from arena.tournaments.settings import Document, SettingsError, read
from arena.tournaments.spec import planned_games
from referee.ratings.trueskill import Rating, pool_of

LATEST = timedelta(days=366)
"""How far ahead a tournament may be announced."""


# -- creating --------------------------------------------------------------------------------------------------------


def create(
    store: Store,
    document: Mapping[str, Any] | Document,
    by: int,
    at: datetime,
    *,
    schedule_id: int | None = None,
    fire_time: datetime | None = None,
) -> Tournament:
    """Store a tournament with its entries as of now; those of a query are chosen anew when it starts.

    A person is told at once of a bot that cannot play; a schedule's tournament goes on without it, and says so.
    Raises SettingsError, and ConflictError when the schedule has fired for that time already.
    """
    found = document if isinstance(document, Document) else read(document)
    if found.schedule is not None and schedule_id is None:
        raise SettingsError("a recurring tournament is a schedule of its own", "schedule")
    starts = fire_time or found.starts or at
    if starts > at + LATEST:
        raise SettingsError(f"more than {LATEST.days} days ahead", "starts")
    openings.check(found)
    field = resolve(store, found)
    if schedule_id is None:
        if field.problems:
            raise SettingsError("; ".join(field.problems), "entries.bots")
        missing = _missing(found, field)
        if missing and (starts <= at or not found.entries.has_query):
            raise SettingsError(missing, "entries")
    tournament = store.tournaments.add(
        Tournament(
            name=_named(found.name, starts),
            family=found.family,
            variant=found.ruleset.variant.name,
            options=dict(found.options),
            format=found.format,
            settings=found.as_json(),
            pool=pool_of(found.ruleset),
            is_rated=found.rated,
            problem="; ".join(field.problems),
            starts=starts,
            schedule_id=schedule_id,
            fire_time=fire_time,
            created_by=by,
        ),
        field.entries,
        field.refused,
    )
    _note(store, "tournament.create", tournament, by, name=tournament.name)
    return tournament


def _named(name: str, starts: datetime) -> str:
    when = starts.astimezone(UTC)
    return name.replace("{date}", f"{when:%Y-%m-%d}").replace("{time}", f"{when:%H:%M}")[:120]


def _missing(document: Document, field: Field) -> str:
    """Why this field is too small to play; empty when it is not."""
    least = 0 if document.format == "ladder" and document.entries.has_query else 2
    if len(field.entries) >= least:
        return ""
    return f"{len(field.entries)} bots may play, {least} are needed"


# -- planning and going on -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Progress:
    """What `plan` or `advance` did: how many games it planned, and the state the tournament is in now."""

    planned: int
    state: str
    reason: str = ""


def plan(store: Store, tournament_id: int, draw: openings.Draw = openings.draw) -> Progress:
    """Begin a scheduled tournament: choose its entries, draw its openings, plan what is known in advance.

    A tournament that cannot begin is cancelled, with the reason in `problem`.
    """
    tournament = store.tournaments.get(tournament_id)
    if tournament.state != "scheduled":
        return advance(store, tournament_id, draw)
    try:
        document = read(tournament.settings)
        field = resolve(store, document)
        problem = _missing(document, field)
        if not problem:
            draw(document, openings.size(document, len(field.entries)))
    except SettingsError as error:
        problem = str(error)
        field = Field((), (), ())
    problems = "; ".join([problem, *field.problems] if problem else field.problems)
    if problem:
        store.tournaments.move(tournament_id, "cancelled", problem=problems)
        return Progress(0, "cancelled", problems)
    store.tournaments.seat(tournament_id, field.entries, field.refused)
    store.tournaments.move(tournament_id, "running", only_from=("scheduled",), problem=problems)
    return advance(store, tournament_id, draw)


def advance(
    store: Store, tournament_id: int, draw: openings.Draw = openings.draw, ahead: int = format.AHEAD
) -> Progress:
    """Carry a running tournament on: plan what its results ask for, call off what nobody needs, or finish it.

    Asks for nothing new when called again. A tournament that is draining plans nothing, but may finish.
    """
    tournament = store.tournaments.get(tournament_id)
    if tournament.state not in ("running", "draining"):
        return Progress(0, tournament.state)
    document = read(tournament.settings)
    entries = seated(store, tournament)
    if document.format == "ladder" and document.entries.has_query:
        entries = _welcome(store, tournament, document, entries)
    for entry in entries:
        if entry.withdrawn:
            store.queue.cancel(tournament_id, states=("planned",), version_id=entry.version_id)
    outlines = store.queue.outline(tournament_id)
    seats = _seats(store, tournament, entries)
    found = format.step(document, seats, played(outlines, entries), ahead)
    if found.calls_off and store.queue.cancel(tournament_id, states=("planned",)):
        outlines = store.queue.outline(tournament_id)
        found = format.step(document, seats, played(outlines, entries), ahead)
    if found.is_finished:
        store.tournaments.move(tournament_id, "finished", problem=tournament.problem)
        return Progress(0, "finished", found.reason)
    if not found.meetings or tournament.state != "running":
        return Progress(0, tournament.state)
    return Progress(_store(store, tournament, document, entries, outlines, found=found, draw=draw), "running")


def _store(
    store: Store,
    tournament: Tournament,
    document: Document,
    entries: list[EntryLine],
    outlines: list[Outline],
    *,
    found: Step,
    draw: openings.Draw,
) -> int:
    versions = store.versions.by_ids([entry.version_id for entry in entries])
    games = planned_games(
        tournament,
        document,
        draw(document, openings.size(document, len(entries))),
        {entry.seat: versions[entry.version_id] for entry in entries},
        found.meetings,
        sequence=max((game.sequence for game in outlines), default=0),
        pair=max((game.pair for game in outlines), default=0),
    )
    assert tournament.id is not None
    return store.queue.plan(tournament.id, games, {entry.name: entry.version_id for entry in entries})


def seated(store: Store, tournament: Tournament) -> list[EntryLine]:
    """The entries that have a seat: those refused before it began, or withdrawn by then, have none."""
    assert tournament.id is not None
    begun = tournament.started
    return [
        entry
        for entry in store.tournaments.entries(tournament.id)
        if entry.withdrawn is None or (begun is not None and entry.withdrawn > begun)
    ]


def _seats(store: Store, tournament: Tournament, entries: list[EntryLine]) -> list[Seat]:
    if tournament.format != "ladder":
        return [Seat(entry.seat, entry.withdrawn is not None) for entry in entries]
    strengths = store.ratings.strengths(tournament.pool, [entry.version_id for entry in entries])
    unknown = Rating()
    found = []
    for entry in entries:
        rating = strengths.get(entry.version_id, unknown)
        found.append(Seat(entry.seat, entry.withdrawn is not None, rating.mu, rating.sigma))
    return found


def played(outlines: list[Outline], entries: list[EntryLine]) -> list[Played]:
    """The games as formats see them."""
    seat_of = {entry.version_id: entry.seat for entry in entries}
    return [
        Played(
            game.sequence,
            game.round,
            game.pair,
            seat_of[game.first_id],
            seat_of[game.second_id],
            _STATES.get(game.state, "open"),
            _POINTS.get(game.winner or "") if game.state == "finished" else None,
            game.committed or 0,
        )
        for game in outlines
    ]


_STATES: Mapping[str, State] = {"finished": "done", "void": "void", "cancelled": "cancelled"}
_POINTS = {"first": 1.0, "draw": 0.5, "second": 0.0}


def _welcome(store: Store, tournament: Tournament, document: Document, entries: list[EntryLine]) -> list[EntryLine]:
    """A ladder follows its query: new versions are entered, retired ones withdrawn."""
    assert tournament.id is not None
    field = resolve(store, document)
    present = {entry.version_id for entry in store.tournaments.entries(tournament.id)}
    fresh = [(version_id, reason) for version_id, reason in field.entries if version_id not in present]
    wanted = {version_id for version_id, _ in field.entries}
    gone = [entry.version_id for entry in entries if not entry.withdrawn and entry.version_id not in wanted]
    for version_id, reason in fresh:
        store.tournaments.enter(tournament.id, version_id, reason)
    for version_id in gone:
        store.tournaments.withdraw(tournament.id, version_id)
    return seated(store, tournament) if fresh or gone else entries


# -- steering --------------------------------------------------------------------------------------------------------


def start(store: Store, tournament_id: int, by: int, at: datetime) -> Tournament:
    """Let a scheduled tournament begin now, whatever time it was announced for."""
    tournament = store.tournaments.reschedule(tournament_id, at)
    return _note(store, "tournament.start", tournament, by)


def pause(store: Store, tournament_id: int, by: int, at: datetime) -> Tournament:
    """Stop at once: running games are called off, and played anew after the resumption."""
    return _note(store, "tournament.pause", store.tournaments.move(tournament_id, "paused"), by)


def drain(store: Store, tournament_id: int, by: int, at: datetime) -> Tournament:
    """Let the running games finish, then pause."""
    return _note(store, "tournament.drain", store.tournaments.move(tournament_id, "draining"), by)


def resume(store: Store, tournament_id: int, by: int, at: datetime) -> Tournament:
    """Go on after a pause; one that had not begun waits for its time again."""
    tournament = store.tournaments.get(tournament_id)
    state = "running" if tournament.started or tournament.state == "draining" else "scheduled"
    moved = store.tournaments.move(tournament_id, state, only_from=("paused", "draining"), problem=tournament.problem)
    return _note(store, "tournament.resume", moved, by)


def cancel(store: Store, tournament_id: int, by: int, at: datetime) -> Tournament:
    """End it for good: games without a result never get one; those with one stand."""
    tournament = store.tournaments.move(tournament_id, "cancelled")
    store.queue.cancel(tournament_id)
    return _note(store, "tournament.cancel", tournament, by)


def extend(store: Store, tournament_id: int, by: int, at: datetime, *, amount: int) -> Tournament:
    """Make it longer: by so many rounds of a Swiss, games per pairing of a round robin, games of a ladder or a test.

    A finished one goes on. Raises SettingsError, ConflictError.
    """
    if not 1 <= amount <= 1_000_000:
        raise SettingsError("between 1 and 1,000,000", "amount")
    tournament = store.tournaments.get(tournament_id)
    if tournament.state == "cancelled":
        raise ConflictError(f"tournament {tournament_id} is cancelled; create it anew", tournament.state)
    document = read(tournament.settings)
    settings = document.as_json()
    if document.format == "knockout":
        raise SettingsError("a knockout ends with its final", "format")
    if document.format == "swiss":
        rounds = document.rounds
        if rounds is None:
            rounds = swiss.default_rounds(len(seated(store, tournament)))
        settings["rounds"] = rounds + amount
    elif amount % 2 or document.games % 2:
        raise SettingsError("must be even: games are played in pairs", "amount")
    elif document.format in ("ladder", "sprt"):
        settings[document.format]["games"] += amount
    else:
        settings["games"] += amount
    read(settings)
    store.tournaments.extend(tournament_id, settings)
    if tournament.state == "finished":
        tournament = store.tournaments.move(tournament_id, "running", only_from=("finished",))
    else:
        tournament = store.tournaments.get(tournament_id)
    return _note(store, "tournament.extend", tournament, by, amount=amount)


def enter(store: Store, tournament_id: int, version_id: int, by: int, at: datetime) -> str:
    """Enter a version in a tournament that has not begun, or in a ladder; returns why it may play.

    Raises SettingsError when it may not, ConflictError when it is too late.
    """
    tournament = store.tournaments.get(tournament_id)
    document = read(tournament.settings)
    version = store.versions.get(version_id)
    if version.state != "active":
        raise SettingsError(f"{version.name} is {version.state}; only active versions play", "version")
    verdict = judge(version.capabilities, store.versions.families(version_id), document.ruleset)
    if not verdict.may_play:
        raise SettingsError(f"{version.name}: {verdict.reason}", "version")
    if tournament.started is None:
        if document.format == "sprt":
            raise ConflictError("a sequential test is between the two bots it was made for", tournament.state)
        present = {entry.version_id for entry in store.tournaments.entries(tournament_id) if not entry.withdrawn}
        if version_id in present:
            raise ConflictError(f"{version.name} is entered already", tournament.state)
        wanted = document.entries
        changed = wanted.model_copy(
            update={
                "bots": [*wanted.bots, version.name],
                "without": [name for name in wanted.without if name != version.name],
            }
        )
        _reseat(store, tournament, document.model_copy(update={"entries": changed}))
    elif document.format == "ladder" and tournament.state in ("running", "paused", "draining"):
        if version.name not in document.entries.bots:
            changed = document.entries.model_copy(update={"bots": [*document.entries.bots, version.name]})
            settings = document.model_copy(update={"entries": changed}).as_json()
            store.tournaments.extend(tournament_id, settings)
        store.tournaments.enter(tournament_id, version_id, verdict.reason)
    else:
        raise ConflictError(f"tournament {tournament_id} has begun: too late to enter", tournament.state)
    _note(store, "tournament.enter", tournament, by, version=version.name)
    return verdict.reason


def withdraw(store: Store, tournament_id: int, version_id: int, by: int, at: datetime) -> None:
    """Take a version out: it is paired no more, its planned games are called off. Raises ConflictError."""
    tournament = store.tournaments.get(tournament_id)
    name = store.versions.get(version_id).name
    present = {entry.version_id for entry in store.tournaments.entries(tournament_id) if not entry.withdrawn}
    if version_id not in present:
        raise ConflictError(f"{name} does not play in tournament {tournament_id}", tournament.state)
    if tournament.started is not None:
        if tournament.state not in ("running", "paused", "draining"):
            raise ConflictError(f"tournament {tournament_id} is {tournament.state}", tournament.state)
        store.tournaments.withdraw(tournament_id, version_id)
    else:
        document = read(tournament.settings)
        bot = name.rsplit(" v", 1)[0]
        wanted = document.entries
        changed = wanted.model_copy(
            update={
                "bots": [entry for entry in wanted.bots if entry not in (name, bot)],
                "without": [*wanted.without, name],
            }
        )
        _reseat(store, tournament, document.model_copy(update={"entries": changed}))
    _note(store, "tournament.withdraw", tournament, by, version=name)


def _reseat(store: Store, tournament: Tournament, document: Document) -> None:
    field = resolve(store, document)
    assert tournament.id is not None
    store.tournaments.seat(tournament.id, field.entries, field.refused, settings=document.as_json())


def _note(store: Store, action: str, tournament: Tournament, by: int, **detail: Any) -> Tournament:
    store.audit.note(action, f"tournament:{tournament.id}", by, **detail)
    return tournament
