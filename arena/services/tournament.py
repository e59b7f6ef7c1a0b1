"""Tournaments: list and read them, create, preview, change and steer them, enter and withdraw bots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean
from typing import Any

from arena import tournaments
from arena.clock import now
from arena.coordinator import cron
from arena.documents.account import Identity
from arena.documents.game import GameItem, GameQuery
from arena.documents.query import PageResponse
from arena.documents.tournament import (
    EntryItem,
    PlanQuery,
    TournamentItem,
    TournamentQuery,
    TournamentResponse,
)
from arena.errors import BadValueError, ConflictError, ForbiddenError, NotFoundError
from arena.services.arena import Arena
from arena.services.bot import versions_of
from arena.store import Store
from arena.tournaments.creation import check_start, shortage
from arena.tournaments.entry import read_name, resolve
from referee.tournament import openings
from referee.tournament.document import Document
from referee.tournament.match import PRIORITIES, PlanItem
from referee.tournament.preview import Extent, extent

MAX_SAMPLED_GAMES = 200
"""Number of recent games from which the duration of the next ones is estimated."""
_Act = Callable[[Store, int, datetime], TournamentItem]
ACTIONS: Mapping[str, _Act] = {
    "start": tournaments.start,
    "pause": tournaments.pause,
    "drain": tournaments.drain,
    "resume": tournaments.resume,
    "cancel": tournaments.cancel,
}
"""Actions of organisers on a tournament, by name."""


def get(arena: Arena, tournament_id: int) -> TournamentItem:
    """Return a tournament. Raises NotFoundError."""
    return arena.store.tournaments.get(tournament_id)


def show(arena: Arena, tournament_id: int) -> TournamentResponse:
    """Return a tournament with its entries and its games counted by state. Raises NotFoundError."""
    tournament = get(arena, tournament_id)
    return TournamentResponse(
        id=tournament.id,
        name=tournament.name,
        family=tournament.family,
        variant=tournament.variant,
        format=tournament.format,
        pool=tournament.pool,
        is_rated=tournament.is_rated,
        state=tournament.state,
        problem=tournament.problem,
        priority=tournament.priority,
        start_time=tournament.start_time,
        started_at=tournament.started_at,
        finished_at=tournament.finished_at,
        planned_games=tournament.planned_games,
        later_games=tournament.later_games,
        finished_games=tournament.finished_games,
        schedule_id=tournament.schedule_id,
        options=tournament.options,
        settings=tournament.settings,
        findings=tournament.findings,
        fire_time=tournament.fire_time,
        created_by=tournament.created_by,
        created_at=tournament.created_at,
        entries=arena.store.tournaments.entries(tournament_id),
        games=arena.store.games.counts(tournament_id),
    )


def page(arena: Arena, query: TournamentQuery) -> PageResponse[TournamentItem]:
    """Return tournaments, latest start first. Raises BadValueError for an invalid cursor."""
    return arena.store.tournaments.page(query)


def games(arena: Arena, tournament_id: int, query: PlanQuery) -> PageResponse[GameItem]:
    """Return games of a tournament in planned order. Raises NotFoundError, BadValueError for an invalid cursor."""
    get(arena, tournament_id)
    return arena.store.games.of_tournament(tournament_id, query)


@dataclass(frozen=True, slots=True)
class Plan:
    """Part of the games that match a query; `count` is the number of all of them, `openings` are keyed by game id."""

    games: Sequence[GameItem]
    count: int
    openings: Mapping[str, str]


def plan(arena: Arena, tournament_id: int, query: PlanQuery, *, sort: str, is_descending: bool, offset: int) -> Plan:
    """Return games of a tournament, sorted by a column of `GameItem`, from `offset` on."""
    lines, count = arena.store.games.schedule(
        tournament_id, query, sort=sort, is_descending=is_descending, offset=offset
    )
    return Plan(lines, count, arena.store.games.openings([line.id for line in lines]))


def game_id(arena: Arena, tournament_id: int, sequence: int) -> str:
    """Return the id of the game with this number in the tournament's plan. Raises NotFoundError."""
    found = arena.store.games.id_of(tournament_id, sequence)
    if found is None:
        raise NotFoundError(f"game in tournament {tournament_id}", str(sequence))
    return found


@dataclass(frozen=True, slots=True)
class TournamentNews:
    """A tournament and some of its results in commit order; `commit_number` is the next `after` to pass to `news`."""

    tournament: TournamentItem
    results: Sequence[GameItem]
    commit_number: int


def news(arena: Arena, tournament_id: int, after: int | None, limit: int) -> TournamentNews:
    """Return a tournament and its results with commit numbers above `after`, or no results if `after` is None.

    Raises NotFoundError.
    """
    # Read the state before the results: when it is final, all results have been committed.
    tournament, store = get(arena, tournament_id), arena.store.results
    if after is None:
        return TournamentNews(tournament, (), store.last_commit_of(tournament_id))
    results = store.committed(tournament_id, after, limit)
    return TournamentNews(tournament, results, (results[-1].commit_number if results else None) or after)


def bots(arena: Arena, family: str) -> list[str]:
    """Return the bots with an active version in a family, by name."""
    return sorted({line.bot for line in arena.store.versions.active(family)})


def create(arena: Arena, document: Mapping[str, Any] | Document, by: Identity) -> TournamentItem:
    """Store a tournament with its entries, to start at its start time. Raises SettingsError, ForbiddenError."""
    require_organiser(by)
    row = tournaments.create(arena.store, document, by.user_id, now())
    arena.wake()
    return row


@dataclass(frozen=True, slots=True)
class Preview:
    """The tournament that a document would create. `entries` and `refused` are pairs of version and reason.

    `problems` prevent its creation; `fires` are the next dates of a schedule in its time zone.
    """

    extent: Extent
    entries: tuple[tuple[str, str], ...]
    refused: tuple[tuple[str, str], ...]
    problems: tuple[str, ...]
    fires: tuple[datetime, ...]


def preview(arena: Arena, document: Document, by: Identity, present: datetime | None = None) -> Preview:
    """Preview a tournament or schedule without creating it; `present` is the start time of a stored tournament.

    Raises SettingsError, ForbiddenError.
    """
    require_organiser(by)
    check_start(document, now(), present)
    return expected(arena, document)


def expected(arena: Arena, document: Document) -> Preview:
    """Return what a document would create with the bots of today. Raises SettingsError."""
    fires = cron.upcoming(document, now())
    openings.check(document)
    field = resolve(arena.store, document)
    names = {
        key: version.name
        for key, version in arena.store.versions.by_ids([key for key, _ in (*field.entries, *field.refused)]).items()
    }
    missing = shortage(document, field)
    return Preview(
        extent(document, len(field.entries), *_measured(arena, document)),
        tuple((names[key], why) for key, why in field.entries),
        tuple((names[key], why) for key, why in field.refused),
        (*field.problems, *([missing] if missing else [])),
        tuple(fires),
    )


def _measured(arena: Arena, document: Document) -> tuple[float | None, float | None, float | None]:
    """Return the means of the variant's latest games: plies, seconds, bytes of the record.

    The seconds are those of games at the document's time control.
    """
    variant = document.ruleset.variant.name
    lines = arena.store.games.latest(GameQuery(family=document.family, variant=variant, limit=MAX_SAMPLED_GAMES))
    played = [line for line in lines.items if line.plies and line.started_at and line.finished_at]
    settings = arena.store.rating_history.settings({line.tournament_id for line in played})
    alike = {key for key, options in settings.items() if options.get("time_control") == document.time_control}
    seconds = [
        (line.finished_at - line.started_at).total_seconds()
        for line in played
        if line.tournament_id in alike and line.started_at and line.finished_at
    ]
    return (
        fmean(line.plies for line in played) if played else None,
        fmean(seconds) if seconds else None,
        arena.store.games.record_bytes([line.id for line in played]),
    )


def change(arena: Arena, tournament_id: int, document: Mapping[str, Any] | Document, by: Identity) -> TournamentItem:
    """Replace the document of a tournament before its start. Raises SettingsError, ConflictError, ForbiddenError."""
    require_organiser(by)
    row = tournaments.change(arena.store, tournament_id, document, now())
    _note(arena, "change", tournament_id, by, name=row.name)
    return row


def steer(arena: Arena, tournament_id: int, act: str, by: Identity) -> TournamentItem:
    """Apply one of `ACTIONS` to a tournament.

    Raises NotFoundError, ConflictError, ForbiddenError, BadValueError for any other word.
    """
    require_organiser(by)
    if act not in ACTIONS:
        raise BadValueError(f"unknown action {act[:40]!r}", hint="choose from " + ", ".join(ACTIONS), field="verb")
    row = ACTIONS[act](arena.store, tournament_id, now())
    _note(arena, act, tournament_id, by)
    return row


def extend(
    arena: Arena, tournament_id: int, by: Identity, *, to: int | None = None, amount: int | None = None
) -> PlanItem:
    """Extend a tournament up to `to` or by `amount` rounds or games, as its format counts; return its new size.

    A finished tournament resumes. Raises SettingsError, NotFoundError, ConflictError, ForbiddenError.
    """
    require_organiser(by)
    plan = tournaments.extend(arena.store, tournament_id, to=to, amount=amount)
    detail = {"to": to} if amount is None else {"amount": amount}
    _note(arena, "extend", tournament_id, by, **detail)
    return plan


def prioritise(arena: Arena, tournament_id: int, priority: int, by: Identity) -> TournamentItem:
    """Set the priority of a tournament: its share in the games that are handed out.

    Raises BadValueError, NotFoundError, ConflictError, ForbiddenError.
    """
    require_organiser(by)
    least, _, most = PRIORITIES
    if not least <= priority <= most:
        raise BadValueError(f"invalid priority {priority}: expected {least} to {most}", field="priority")
    row = arena.store.tournaments.prioritise(tournament_id, priority)
    _note(arena, "priority", tournament_id, by, priority=priority)
    return row


def enter(arena: Arena, tournament_id: int, bot: str, number: int | None, by: Identity) -> None:
    """Enter a version of a bot, given like `zeta v3` or by its `number`; by default the newest active one.

    Raises NotFoundError, ForbiddenError, SettingsError if it may not play, ConflictError if it is too late.
    """
    require_organiser(by)
    arena.store.tournaments.get(tournament_id)
    name, number = _named(bot, number)
    try:
        version = arena.store.versions.find(name, number)
    except NotFoundError:
        known = [line.name for line in versions_of(arena, name)]
        raise NotFoundError("active version" if number is None else "version", bot, known) from None
    tournaments.enter(arena.store, tournament_id, version.id or 0)
    _note(arena, "enter", tournament_id, by, version=version.name)


def withdraw(arena: Arena, tournament_id: int, bot: str, number: int | None, by: Identity) -> None:
    """Withdraw an entry, given like `zeta v3`, by its bot, or by bot and `number`. Its planned games are cancelled.

    Raises ConflictError, NotFoundError, ForbiddenError, BadValueError if several versions of the bot play.
    """
    require_organiser(by)
    arena.store.tournaments.get(tournament_id)
    entry = _entry(arena, tournament_id, bot, number)
    tournaments.withdraw(arena.store, tournament_id, entry.version_id)
    _note(arena, "withdraw", tournament_id, by, version=entry.name)


def _named(bot: str, number: int | None) -> tuple[str, int | None]:
    """Return the bot name and the version number, which `bot` may contain as well. Raises BadValueError."""
    name, own = read_name(bot)
    if None not in (number, own) and number != own:
        raise BadValueError(f"{bot} is not version {number}", hint="omit one of the two", field="number")
    return name, own if number is None else number


def _entry(arena: Arena, tournament_id: int, bot: str, number: int | None) -> EntryItem:
    """Return the playing entry of that name. Raises BadValueError, ConflictError, NotFoundError with similar names."""
    name, number = _named(bot, number)
    lines = arena.store.tournaments.entries(tournament_id)
    known = [line for line in lines if line.bot == name and number in (None, line.version)]
    playing = [line for line in known if not line.withdrawn]
    if len(playing) > 1:
        names = " and ".join(line.name for line in playing)
        raise BadValueError(f"several versions of {name} play: {names}", hint="name one of them", field="bot")
    if playing:
        return playing[0]
    if known:
        raise ConflictError(f"{bot} does not play in tournament {tournament_id}")
    near = [line.bot if number is None else line.name for line in lines if not line.withdrawn]
    raise NotFoundError("entry", bot, near)


def _note(arena: Arena, action: str, tournament_id: int, by: Identity, **detail: Any) -> None:
    """Write an action into the audit log and wake the coordinator."""
    arena.note(f"tournament.{action}", f"tournament:{tournament_id}", by, **detail)
    arena.wake()


def require_organiser(by: Identity) -> None:
    """Raise ForbiddenError unless the caller may organise."""
    if "organise" not in by.scopes:
        raise ForbiddenError("only organisers may change tournaments", hint="ask an organiser")
