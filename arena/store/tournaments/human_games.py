"""Games of people: players, progress, and actions that the referee has not processed yet.

In lists of games, ratings and records, a person is a special bot with one version, called `@name`. All people without
an account share one such bot, called `guest`. In each family, people's games belong to one tournament, which is always
open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, case, func, insert, select, update
from sqlmodel import col

from arena.clock import now
from arena.documents.human_game import HumanGame, OpponentItem, ResultsAgainst
from arena.errors import ConflictError, NotFoundError
from arena.store.base.engine import Repository, fetch
from arena.store.base.tables.bots import BotIdentity, Version, VersionFamily
from arena.store.base.tables.games import Game, StoredHumanGame
from arena.store.base.tables.people import User
from arena.store.base.tables.tournaments import Tournament
from arena.store.bots.bots import LEVELS, OWNER, ensure_owner
from arena.store.tournaments.meetings import number_meetings
from arena.store.tournaments.queue import row_of_game
from referee.game.spec import GameSpec, PlannedGame

GUEST = "guest"
"""Name in records for people without an account."""
MAX_TAKEN_BACK = 100
"""Maximum number of moves taken back in a game."""
_OPEN = ("planned", "queued", "running")
_IS_FIRST = col(StoredHumanGame.side) == "first"


@dataclass(frozen=True, slots=True)
class PendingAction:
    """The person in an open game, with the `action` that the referee has not processed yet (None: no action)."""

    action: Mapping[str, Any] | None
    is_guest: bool
    """Whether the person has no account."""
    seen_at: datetime
    """When the person's page last contacted the server."""
    is_streamed: bool
    """Whether the person's page has followed the stream of the game."""


_LINE = (
    *(col(getattr(Game, name)) for name in ("id", "state", "attempt", "is_rated")),
    *(
        col(getattr(StoredHumanGame, name))
        for name in ("user_id", "guest", "side", "plies", "asked", "created_at", "seen_at")
    ),
)
"""The columns of a `HumanGame`, in its order."""


class People(Repository):
    """Games of people against bots: their plies so far, what the person asked, and who may play."""

    def version(self, user_id: int | None) -> Version:
        """Return the version that represents a user, or all people without an account. It is created if missing."""
        with self._sessions.writing() as session:
            user = session.get(User, user_id or ensure_owner(session))
            if user is None:
                raise NotFoundError("user", user_id)
            name = f"@{user.name}" if user_id else GUEST
            version = session.scalar(select(Version).where(col(Version.name) == name))
            if version is None:
                bot = BotIdentity(name=f"@{user.name if user_id else ''}", owner_id=user.id, description="A person.")
                session.add(bot)
                session.flush()
                version = Version(bot_id=bot.id, number=1, name=name, state="person")
                session.add(version)
                session.flush()
            return version

    def results(self, **who: Any) -> list[ResultsAgainst]:
        """Return the results of the games with these column values, by family and opponent."""
        query = _results(case((_IS_FIRST, col(Game.second)), else_=col(Game.first)), who)
        with self._sessions.reading() as session:
            return [ResultsAgainst(*row) for row in fetch(session, query)]

    def tournament(self, family: str, title: str, settings: Mapping[str, Any], pool: str) -> int:
        """Return the id of the open tournament for people's games in a family. It is created if missing."""
        mine = select(col(Tournament.id)).where(col(Tournament.state) == "open", col(Tournament.family) == family)
        with self._sessions.writing() as session:
            number = session.scalar(mine)
            if number is None:
                row = Tournament(
                    name=title,
                    family=family,
                    variant=str(settings["variant"]),
                    format="round-robin",
                    settings=dict(settings),
                    pool=pool,
                    is_challenge=True,
                    state="open",
                    start_time=now(),
                    created_by=ensure_owner(session),
                )
                session.add(row)
                session.flush()
                number = row.id
        return int(number or 0)

    def begin(
        self,
        tournament_id: int,
        spec: GameSpec,
        versions: Mapping[str, int],
        person: StoredHumanGame,
        *,
        is_rated: bool,
    ) -> str:
        """Plan a game of a person, to be played when a slot is free; return its id."""
        with self._sessions.writing() as session:
            tournament = session.get(Tournament, tournament_id, with_for_update=True)
            if tournament is None:
                raise NotFoundError("tournament", tournament_id)
            # The tournament's row is locked: two games that begin in the same moment get different numbers.
            last = session.scalar(select(func.max(col(Game.sequence))).where(col(Game.tournament_id) == tournament_id))
            number = (last or 0) + 1
            game = PlannedGame.of(replace(spec, sequence=number, pair=number, round=1))
            planned = row_of_game(tournament, game, versions, {}) | {"is_rated": is_rated}
            number_meetings(session, [planned])
            session.execute(insert(Game), [planned])
            tournament.planned_games += 1
            person.game_id = game.id
            session.add(person)
        return game.id

    def open(self, **who: Any) -> list[HumanGame]:
        """Return the games that are not over, oldest first: all, or those with these column values."""
        with self._sessions.reading() as session:
            return [HumanGame(*row) for row in fetch(session, _open(select(*_LINE), who))]

    def count_open(self, **who: Any) -> int:
        """Count the games that are not over: all, or those with these column values."""
        with self._sessions.reading() as session:
            counted = _open(select(col(Game.id)), who).order_by(None).subquery()
            return session.scalar(select(func.count()).select_from(counted)) or 0

    def asked(self) -> dict[str, PendingAction]:
        """Return the person and the pending action of each open game, by game id, oldest game first.

        The query is cheap enough for polling.
        """
        columns = (
            col(StoredHumanGame.asked),
            col(StoredHumanGame.user_id),
            col(StoredHumanGame.seen_at),
            col(StoredHumanGame.is_streamed),
        )
        query = _open(select(col(Game.id), *columns), {})
        with self._sessions.reading() as session:
            return {
                game: PendingAction(action, user is None, seen_at, is_streamed)
                for game, action, user, seen_at, is_streamed in fetch(session, query)
            }

    def see(self, game_id: str, *, is_stream: bool = False) -> None:
        """Note that the page of a game has contacted the server. `is_stream`: the page follows the game's stream."""
        seen: dict[str, Any] = {"seen_at": now()} | ({"is_streamed": True} if is_stream else {})
        with self._sessions.writing() as session:
            session.execute(update(StoredHumanGame).where(col(StoredHumanGame.game_id) == game_id).values(**seen))

    def get(self, game_id: str) -> HumanGame:
        """Return a game of a person. Raises NotFoundError."""
        query = (
            select(*_LINE)
            .join(StoredHumanGame, col(StoredHumanGame.game_id) == col(Game.id))
            .where(col(Game.id) == game_id)
        )
        with self._sessions.reading() as session:
            games = [HumanGame(*row) for row in fetch(session, query)]
        if not games:
            raise NotFoundError("game of a person", game_id)
        return games[0]

    def ask(self, game_id: str, asked: Mapping[str, Any]) -> None:
        """Store a person's action until the referee processes it. Raises ConflictError once the game is over."""
        with self._sessions.writing() as session:
            row = session.get(StoredHumanGame, game_id, with_for_update=True)
            state = session.scalar(select(col(Game.state)).where(col(Game.id) == game_id))
            if row is None or state not in _OPEN:
                raise ConflictError("the game is over", str(state))
            row.asked, row.seen_at = dict(asked), now()

    def start(self, game_id: str, owner: str) -> int:
        """Mark a game as running and return its attempt number, which stays the same if the game resumes.

        Raises ConflictError once the game is over.
        """
        with self._sessions.writing() as session:
            game = session.get(Game, game_id, with_for_update=True)
            if game is None or game.state not in _OPEN:
                raise ConflictError("the game is over", str(game and game.state))
            game.state, game.lease_owner = "running", owner
            game.started_at = game.started_at or now()
            game.attempt = max(1, game.attempt)
            return game.attempt

    def keep(self, game_id: str, plies: Sequence[Any], *, is_done: bool, is_back: bool = False) -> None:
        """Store the plies of a game. `is_done` means that the person's action was processed and is deleted.

        `is_back` means that a move was taken back: the game becomes unrated, and its attempt number rises, so that
        pages that follow the game start over.
        """
        done: dict[str, Any] = {"asked": None} if is_done else {}
        with self._sessions.writing() as session:
            session.execute(
                update(StoredHumanGame).where(col(StoredHumanGame.game_id) == game_id).values(plies=list(plies), **done)
            )
            if is_back:
                session.execute(
                    update(Game).where(col(Game.id) == game_id).values(is_rated=False, attempt=col(Game.attempt) + 1)
                )

    def cancel(self, game_id: str) -> None:
        """Cancel a game in which the person never moved, or that never got a slot."""
        with self._sessions.writing() as session:
            game = session.get(Game, game_id, with_for_update=True)
            if game is not None and game.state in _OPEN:
                game.state = "cancelled"
                tournament = session.get(Tournament, game.tournament_id, with_for_update=True)
                if tournament is not None:
                    tournament.planned_games -= 1

    def allow(self, bot_id: int, allowed: bool) -> None:
        """Set whether people may play against a bot."""
        with self._sessions.writing() as session:
            session.execute(update(BotIdentity).where(col(BotIdentity.id) == bot_id).values(plays_people=allowed))

    def opponents(self, family: str, who: Mapping[str, Any] | None = None) -> list[OpponentItem]:
        """Return the bots that people may play in a family: samples, then bots whose owners allow it.

        `who` has the column values of the games that count as results against them.
        """
        columns = (col(BotIdentity.name), col(Version.name), col(Version.id), col(User.name))
        query = (
            _playable(select(*columns))
            .where(col(VersionFamily.family) == family)
            .order_by(col(User.name) != OWNER, col(BotIdentity.name), col(Version.number).desc())
        )
        if who:
            opponent = case((_IS_FIRST, col(Game.second_id)), else_=col(Game.first_id))
            mine = _results(opponent, who).where(col(Game.family) == family).subquery()
            query = query.add_columns(mine.c.won, mine.c.drawn, mine.c.lost)
            query = query.outerjoin(mine, mine.c.opponent == col(Version.id))
        with self._sessions.reading() as session:
            rows = fetch(session, query)
        newest: dict[str, OpponentItem] = {}
        for bot, version, version_id, owner, *counts in rows:
            level, results = LEVELS.get(bot) if owner == OWNER else None, counts if any(counts) else ()
            item = OpponentItem(bot=bot, version=version, version_id=version_id, level=level, results=results)
            newest.setdefault(bot, item)
        return list(newest.values())

    def families_of(self, bot: str) -> set[str]:
        query = _playable(select(col(VersionFamily.family))).where(col(BotIdentity.name) == bot)
        with self._sessions.reading() as session:
            return set(session.scalars(query))


def _playable(query: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    """Join a query of versions to their bots, owners and families, and keep those that people may play."""
    return (
        query.select_from(Version)
        .join(BotIdentity, col(BotIdentity.id) == col(Version.bot_id))
        .join(User, col(User.id) == col(BotIdentity.owner_id))
        .join(VersionFamily, col(VersionFamily.version_id) == col(Version.id))
        .where(
            col(Version.state) == "active",
            col(Version.place) == "",
            (col(User.name) == OWNER) | col(BotIdentity.plays_people),
        )
    )


def _open(query: Select[Any], who: Mapping[str, Any]) -> Select[Any]:
    of_people = _of(query, who).where(col(Game.state).in_(_OPEN))
    return of_people.order_by(col(StoredHumanGame.created_at), col(Game.id))


def _results(opponent: ColumnElement[Any], who: Mapping[str, Any]) -> Select[Any]:
    """Count the games won, drawn and lost by the person with these column values, by family and `opponent`."""
    is_won, is_drawn = col(Game.winner) == col(StoredHumanGame.side), col(Game.winner) == "draw"
    won, drawn = (func.sum(case((is_counted, 1), else_=0)) for is_counted in (is_won, is_drawn))
    counts = (won.label("won"), drawn.label("drawn"), (func.count() - won - drawn).label("lost"))
    query = _of(select(col(Game.family), opponent.label("opponent"), *counts), who)
    return query.where(col(Game.winner).is_not(None)).group_by(col(Game.family), opponent)


def _of(query: Select[Any], who: Mapping[str, Any]) -> Select[Any]:
    """Join a query of games to those of people, and keep those with these column values."""
    query = query.select_from(Game).join(StoredHumanGame, col(StoredHumanGame.game_id) == col(Game.id))
    return query.where(*(col(getattr(StoredHumanGame, name)) == value for name, value in who.items()))
