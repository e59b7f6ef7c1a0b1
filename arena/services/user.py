"""Users and their API tokens: read and manage them.

Passwords and tokens are stored only as hashes: a token is shown once, when it is created.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from arena.clock import now
from arena.credentials import SCOPES, digest_of, hash_password, new_password, new_token, scopes_of
from arena.documents.account import Identity, NewToken, TokenItem, UserItem
from arena.documents.bot import BotItem
from arena.documents.game import GameItem, GameQuery
from arena.documents.human_game import ResultsAgainst
from arena.documents.query import PageQuery, PageResponse
from arena.documents.rating import ChangeItem, PoolRating
from arena.documents.tournament import TournamentItem, TournamentQuery
from arena.errors import BadValueError, ForbiddenError
from arena.services import leaderboard
from arena.services.arena import Arena
from arena.store.bots.bots import LEVELS
from referee.rules.core import SIDES

MAX_NAME = 80
MAX_SEARCHED = 100
"""Latest games among which the best wins are searched."""
MAX_GAMES, MAX_WINS = 10, 5
"""Latest games and best wins of a profile."""
MAX_VERSIONS = 20
"""Versions of a user whose games are searched, those of the latest games: each is two parts of the query."""
MAX_BOTS = 50
"""Bots on one page of a profile."""
TOKEN_DAYS = 90
"""Default lifetime of a token."""
NEVER = 0
"""Number of days for a token that lasts until it is revoked."""


def page(arena: Arena, query: PageQuery) -> PageResponse[UserItem]:
    """Return users, ordered by name."""
    return arena.store.users.page(limit=query.limit, after=query.after)


def find(arena: Arena, name: str) -> UserItem:
    """Return the user of that name. Raises NotFoundError."""
    return arena.store.users.find(name)


@dataclass(slots=True)
class PersonalRecord:
    """The results of a person in a family; `level` is the highest one of the champion that they beat, or 0."""

    won: int = 0
    drawn: int = 0
    lost: int = 0
    level: int = 0


@dataclass(frozen=True, slots=True)
class UserProfile:
    """The public profile of a user: bots, best rating of each pool with its changes, organised tournaments.

    `games` are the latest of their bots and of themselves, `records` sum up all of their own by family; `wins` are
    those against the strongest opponents, each with the opponent's rating.
    """

    user: UserItem
    bots: PageResponse[BotItem]
    best: Sequence[PoolRating]
    tournaments: Sequence[TournamentItem]
    changes: Mapping[str, Sequence[ChangeItem]]
    games: Sequence[GameItem]
    records: Mapping[str, PersonalRecord]
    wins: Sequence[tuple[GameItem, float]]


def profile(arena: Arena, name: str, after: str | None = None) -> UserProfile:
    """Return the public profile of a user, with the bots `after` a cursor.

    Raises NotFoundError, BadValueError for an invalid cursor.
    """
    store, user = arena.store, find(arena, name)
    best, versions = store.ratings.best_of_owner(user.id), store.versions.of_owner(user.id)
    curves = leaderboard.curves(arena, [line.version_id for line in best], [line.pool for line in best])
    games = store.games.latest(GameQuery(limit=MAX_SEARCHED), versions=versions[:MAX_VERSIONS]).items
    return UserProfile(
        user,
        store.bots.page(owner_id=user.id, with_retired=True, limit=MAX_BOTS, after=after),
        best,
        store.tournaments.page(TournamentQuery(limit=20), created_by=user.id).items,
        {line.pool: curves.get((line.version_id, line.pool), ()) for line in best},
        games[:MAX_GAMES],
        _records(store.people.results(user_id=user.id)),
        _best_wins(arena, games, set(versions)),
    )


def _records(results: Iterable[ResultsAgainst]) -> dict[str, PersonalRecord]:
    """Sum up the results of a person, by family."""
    records: dict[str, PersonalRecord] = defaultdict(PersonalRecord)
    for line in results:
        record = records[line.family]
        record.won += line.won
        record.drawn += line.drawn
        record.lost += line.lost
        if line.won:
            record.level = max(record.level, LEVELS.get(line.opponent.partition(" ")[0], 0))
    return dict(records)


def _best_wins(arena: Arena, games: Sequence[GameItem], mine: Collection[int]) -> list[tuple[GameItem, float]]:
    """Return the wins against the strongest opponents by their present ratings, one for each opponent."""
    wins: dict[tuple[str, int], GameItem] = {}
    for game in games:
        winner, loser = (game.first_id, game.second_id) if game.winner == "first" else (game.second_id, game.first_id)
        if game.winner in SIDES and winner in mine and loser not in mine:
            wins.setdefault((game.pool, loser), game)
    ratings = {
        (line.pool, line.version_id): line.conservative
        for line in arena.store.ratings.of_versions(sorted({loser for _, loser in wins}))
        if not line.is_provisional
    }
    rated = [(game, ratings[key]) for key, game in wins.items() if key in ratings]
    return sorted(rated, key=lambda win: -win[1])[:MAX_WINS]


def add(arena: Arena, name: str, role: str, password: str | None, by: Identity | None = None) -> UserItem:
    """Create a user; without a password they can use tokens only. Raises BadValueError, CredentialError, TakenError."""
    user = arena.store.users.add(name, role, hash_password(password, name) if password is not None else None)
    arena.note("user.make", f"user:{user.name}", by, role=user.role)
    return user


def change(
    arena: Arena,
    name: str,
    *,
    role: str | None = None,
    password: str | None = None,
    is_active: bool | None = None,
    revoke_tokens: bool = False,
    by: Identity | None = None,
) -> UserItem:
    """Change role, password or activation of a user; None leaves a value unchanged.

    All browser sessions of the user end; `revoke_tokens` also revokes all API tokens. Raises NotFoundError,
    BadValueError, CredentialError, and ForbiddenError if admins would remove their own rights.
    """
    if by is not None and name == by.name and (is_active is False or role not in (None, "admin")):
        raise ForbiddenError("you cannot remove your own rights", hint="ask another admin")
    hashed = hash_password(password, name) if password is not None else None
    user = arena.store.users.change(name, role=role, password_hash=hashed, is_active=is_active)
    if hashed is not None:
        arena.store.trusted_devices.forget(user.id)
    if revoke_tokens:
        arena.store.users.revoke_all(user.id)
    given = {"role": role, "password": password, "is_active": is_active, "revoke_tokens": revoke_tokens or None}
    changed = sorted(word for word, value in given.items() if value is not None)
    arena.note("user.change", f"user:{user.name}", by, changed=changed, role=user.role, is_active=user.is_active)
    return user


def ensure_admin(arena: Arena, name: str) -> tuple[str, str] | None:
    """Create the first administrator and return its password and token, which are not stored; None if one exists.

    Raises TakenError.
    """
    if arena.store.users.count("admin"):
        return None
    password = new_password()
    user = arena.store.users.add(name, "admin", hash_password(password))
    made = create_token_for(arena, user, "from arena init", SCOPES)
    arena.store.audit.note("arena.init", f"user:{name}", user.id)
    return password, made.token


def tokens_of(arena: Arena, by: Identity) -> list[TokenItem]:
    """Return the caller's tokens, oldest first, including revoked ones."""
    return arena.store.users.tokens(by.user_id)


def tokens_of_user(arena: Arena, user: UserItem) -> list[TokenItem]:
    """Return the tokens of a user, oldest first, including revoked ones."""
    return arena.store.users.tokens(user.id)


def create_token(arena: Arena, name: str, scopes: Iterable[str], days: int | None, by: Identity) -> NewToken:
    """Create a token with at most the caller's scopes. Its secret is not stored.

    It expires after `days`: None is `TOKEN_DAYS`, 0 is never. A token made with another token ends with that token.
    Raises BadValueError, ForbiddenError.
    """
    wanted = list(scopes)
    if missing := sorted(set(wanted) - by.scopes):
        hint = f"yours are {', '.join(sorted(by.scopes))}"
        raise ForbiddenError(f"you cannot grant the scope {missing[0]!r}", field="scopes", hint=hint)
    if by.token_id is not None and days:
        end = arena.store.users.token(by.user_id, by.token_id).expires
        if end is not None and _end_of_token(days) > end:
            hint = "omit days: the new token then expires with yours"
            raise ForbiddenError(f"your own token expires at {end:%Y-%m-%d %H:%M} UTC", field="days", hint=hint)
    return _create_token(arena, by.user_id, name, wanted, days, parent_id=by.token_id)


def create_token_for(
    arena: Arena, user: UserItem, name: str, scopes: Iterable[str], days: int | None = None
) -> NewToken:
    """Create a token for another user, on behalf of the operator; `days` as in `create_token`.

    Raises BadValueError, CredentialError.
    """
    return _create_token(arena, user.id, name, list(scopes), days)


def _create_token(
    arena: Arena, user_id: int, name: str, scopes: list[str], days: int | None, *, parent_id: int | None = None
) -> NewToken:
    if not name or len(name) > MAX_NAME or not name.isprintable():
        hint = f"write 1 to {MAX_NAME} characters, such as the name of the machine it is for"
        raise BadValueError("invalid name of a token", hint=hint, field="name")
    secret = new_token()
    days = TOKEN_DAYS if days is None else days
    expires = None if days == NEVER else _end_of_token(days)
    row = arena.store.users.add_token(user_id, name, digest_of(secret), " ".join(scopes), expires, parent_id=parent_id)
    arena.store.audit.note("token.make", f"token:{row.id}", user_id, scopes=" ".join(row.scopes))
    return NewToken(
        id=row.id,
        name=row.name,
        scopes=row.scopes,
        created_at=row.created_at,
        expires=row.expires,
        last_used=row.last_used,
        revoked=row.revoked,
        parent_id=row.parent_id,
        token=secret,
    )


def _end_of_token(days: int) -> datetime:
    return now() + timedelta(days=days)


def revoke_token(arena: Arena, token_id: int, by: Identity) -> None:
    """Revoke one of the caller's own tokens and those made with it. Revoking twice is harmless.

    A token may revoke itself, and tokens whose scopes it has. Raises NotFoundError, ForbiddenError.
    """
    row = arena.store.users.token(by.user_id, token_id)
    missing = sorted((set(row.scopes) & scopes_of(by.role)) - by.scopes)
    if missing and token_id != by.token_id:
        hint = "log in, or use a token with that scope"
        raise ForbiddenError(f"you lack the scope {missing[0]!r} of that token", hint=hint)
    arena.store.users.revoke(by.user_id, token_id)
    arena.note("token.revoke", f"token:{token_id}", by)


def revoke_token_for(arena: Arena, user: UserItem, token_id: int | None, by: Identity | None = None) -> None:
    """Revoke a token of another user, or all of them, on behalf of an admin or the operator. Raises NotFoundError."""
    if token_id is None:
        arena.store.users.revoke_all(user.id)
    else:
        arena.store.users.revoke(user.id, token_id)
    subject = f"user:{user.name}" if token_id is None else f"token:{token_id}"
    arena.note("token.revoke", subject, by, of=user.name)
