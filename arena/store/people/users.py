"""Users, their API tokens and browser sessions. Secrets come in as digests; refuses to know how they are made."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from arena.store.base.credentials import CredentialError, read_name, read_scopes, scopes_of
from arena.store.base.engine import Sessions
from arena.store.base.errors import BadValueError, ConflictError, NotFoundError, StoreUnavailableError, TakenError
from arena.store.base.models import Login, Token, User, now
from arena.store.base.page import DEFAULT_LIMIT, Page, bounded, cut, read_cursor

_USE_NOTED_EVERY = timedelta(minutes=1)
"""`last_used` of a token is no finer than that: reading must not write each time."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who makes a request and what it may do. `csrf` is set for browser sessions, `token_id` for API tokens."""

    user_id: int
    name: str
    role: str
    scopes: frozenset[str]
    token_id: int | None = None
    csrf: str | None = None


class Users:
    """People and their keys."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    # -- users -------------------------------------------------------------------------------------------------------

    def add(self, name: str, role: str = "author", password_hash: str | None = None) -> User:
        """A new user. Raises BadValueError for the name or the role, TakenError when the name is taken."""
        try:
            user = User(name=read_name(name, "user"), role=role, password_hash=password_hash)
            scopes_of(role)
        except CredentialError as error:
            raise BadValueError(str(error)) from None
        try:
            with self._sessions.writing() as session:
                session.add(user)
        except IntegrityError:
            raise TakenError(f"there is a user {name!r} already") from None
        return user

    def get(self, user_id: int) -> User:
        """A user by number. Raises NotFoundError."""
        with self._sessions.reading() as session:
            user = session.get(User, user_id)
        if user is None:
            raise NotFoundError("user", user_id)
        return user

    def find(self, name: str) -> User:
        """A user by name. Raises NotFoundError."""
        with self._sessions.reading() as session:
            user = session.scalar(select(User).where(col(User.name) == name))
        if user is None:
            raise NotFoundError("user", name)
        return user

    def page(self, *, limit: int = DEFAULT_LIMIT, after: str | None = None) -> Page[User]:
        """All users by name."""
        limit = bounded(limit)
        query = select(User).order_by(col(User.name)).limit(limit + 1)
        if keys := read_cursor(after, str):
            query = query.where(col(User.name) > keys[0])
        with self._sessions.reading() as session:
            return cut(session.scalars(query).all(), limit, lambda user: (user.name,))

    def names(self, user_ids: Sequence[int]) -> dict[int, str]:
        """The names of these users; unknown ones are left out."""
        query = select(col(User.id), col(User.name)).where(col(User.id).in_(set(user_ids)))
        with self._sessions.reading() as session:
            return {user_id: name for user_id, name in session.execute(query).all() if user_id is not None}

    def count(self, role: str) -> int:
        """How many active users have a role."""
        query = select(func.count()).select_from(User).where(col(User.role) == role, col(User.is_active).is_(True))
        with self._sessions.reading() as session:
            return session.scalar(query) or 0

    def change(
        self, name: str, *, role: str | None = None, password_hash: str | None = None, is_active: bool | None = None
    ) -> User:
        """Change what is given. A new password or a lost right ends all browser sessions.

        Raises NotFoundError, and ConflictError where nobody would be left to administer.
        """
        if role is not None:
            try:
                scopes_of(role)
            except CredentialError as error:
                raise BadValueError(str(error)) from None
        with self._sessions.writing() as session:
            user = session.scalar(select(User).where(col(User.name) == name))
            if user is None:
                raise NotFoundError("user", name)
            is_leaving = role not in (None, "admin") or is_active is False
            if is_leaving and user.role == "admin" and user.is_active:
                admins = select(col(User.id)).where(col(User.role) == "admin", col(User.is_active).is_(True)).limit(2)
                if len(session.scalars(admins).all()) == 1:
                    raise ConflictError(f"{name} is the only administrator; make another one first (--role admin)")
            user.role = role or user.role
            user.password_hash = password_hash or user.password_hash
            user.is_active = user.is_active if is_active is None else is_active
            session.execute(delete(Login).where(col(Login.user_id) == user.id))
        return user

    def describe(self, user_id: int, about: str, link: str) -> None:
        """Change what a user says of himself."""
        with self._sessions.writing() as session:
            session.execute(update(User).where(col(User.id) == user_id).values(about=about, link=link))

    # -- API tokens --------------------------------------------------------------------------------------------------

    def add_token(
        self,
        user_id: int,
        name: str,
        digest: str,
        scopes: str = "read",
        expires: datetime | None = None,
        *,
        parent_id: int | None = None,
    ) -> Token:
        """Store a token by its digest; one made with another, its parent, ends with that at the latest.

        Raises BadValueError for unknown scopes, for ones the user's role lacks, and for a parent that has ended.
        """
        user = self.get(user_id)
        try:
            wanted = read_scopes(scopes)
        except CredentialError as error:
            raise BadValueError(str(error)) from None
        if missing := [scope for scope in wanted if scope not in scopes_of(user.role)]:
            raise BadValueError(f"user {user.name} ({user.role}) cannot give the scope {missing[0]!r}")
        words = " ".join(wanted)
        token = Token(
            user_id=user_id, name=name[:80], digest=digest, scopes=words, expires=expires, parent_id=parent_id
        )
        with self._sessions.writing() as session:
            if parent_id is not None:
                parent = session.get(Token, parent_id, with_for_update=True)
                if parent is None or parent.revoked or parent.has_expired:
                    raise BadValueError("the token it is made with has ended")
                ends = [moment for moment in (expires, parent.expires) if moment is not None]
                token.expires = min(ends, default=None)
            session.add(token)
        return token

    def tokens(self, user_id: int) -> list[Token]:
        """A user's tokens, oldest first, revoked ones included."""
        query = select(Token).where(col(Token.user_id) == user_id).order_by(col(Token.id))
        with self._sessions.reading() as session:
            return list(session.scalars(query))

    def token(self, user_id: int, token_id: int) -> Token:
        """One of a user's tokens. Raises NotFoundError, for others' tokens too."""
        with self._sessions.reading() as session:
            token = session.get(Token, token_id)
        if token is None or token.user_id != user_id:
            raise NotFoundError("token", token_id)
        return token

    def revoke(self, user_id: int, token_id: int) -> None:
        """Make a token useless for good, and all that were made with it; once is as good as twice.

        Raises NotFoundError for others' tokens too.
        """
        with self._sessions.writing() as session:
            token = session.get(Token, token_id, with_for_update=True)
            if token is None or token.user_id != user_id:
                raise NotFoundError("token", token_id)
            ids: Sequence[int | None] = [token_id]
            while ids:
                mine = (col(Token.id).in_(ids), col(Token.revoked).is_(None))
                session.execute(update(Token).where(*mine).values(revoked=now()))
                ids = session.scalars(select(col(Token.id)).where(col(Token.parent_id).in_(ids))).all()

    def revoke_all(self, user_id: int) -> int:
        """Make all tokens of a user useless for good; how many still were good."""
        mine = (col(Token.user_id) == user_id, col(Token.revoked).is_(None))
        with self._sessions.writing() as session:
            found = session.execute(update(Token).where(*mine).values(revoked=now()))
            return int(found.rowcount)  # type: ignore[attr-defined]

    def by_token(self, digest: str) -> Identity | None:
        """Who the token with this digest speaks for; None when it is unknown, revoked, expired or the user disabled."""
        at = now()
        query = select(Token, User).join(User, col(User.id) == col(Token.user_id)).where(col(Token.digest) == digest)
        with self._sessions.reading() as session:
            row = session.execute(query).one_or_none()
        if row is None:
            return None
        token, user = row
        if token.revoked or token.has_expired or not user.is_active:
            return None
        assert user.id is not None
        assert token.id is not None
        if token.last_used is None or token.last_used < at - _USE_NOTED_EVERY:
            with contextlib.suppress(StoreUnavailableError), self._sessions.writing() as session:
                session.execute(update(Token).where(col(Token.id) == token.id).values(last_used=at))
        scopes = frozenset(token.scopes.split()) & scopes_of(user.role)
        return Identity(user.id, user.name, user.role, scopes, token_id=token.id)

    def why_useless(self, digest: str) -> str:
        """Say why the token with this digest speaks for nobody: unknown, revoked, expired, or of a disabled user."""
        with self._sessions.reading() as session:
            token = session.scalar(select(Token).where(col(Token.digest) == digest))
        if token is None:
            return "the token is unknown"
        if token.revoked:
            return f"the token was revoked on {token.revoked:%Y-%m-%d %H:%M} UTC"
        if token.has_expired:
            return f"the token expired on {token.expires:%Y-%m-%d %H:%M} UTC"
        return "the token is of a disabled user"

    # -- browser sessions --------------------------------------------------------------------------------------------

    def add_login(self, user_id: int, digest: str, csrf: str, expires: datetime) -> None:
        """Store a browser session by the digest of its cookie, and forget those that have expired."""
        with self._sessions.writing() as session:
            session.execute(delete(Login).where(col(Login.expires) <= now()))
            session.add(Login(digest=digest, user_id=user_id, csrf=csrf, expires=expires))

    def by_login(self, digest: str) -> Identity | None:
        """Who is logged in with the cookie of this digest; None when nobody is any more."""
        query = select(Login, User).join(User, col(User.id) == col(Login.user_id)).where(col(Login.digest) == digest)
        with self._sessions.reading() as session:
            row = session.execute(query).one_or_none()
        if row is None:
            return None
        login, user = row
        if login.expires <= now() or not user.is_active:
            return None
        assert user.id is not None
        return Identity(user.id, user.name, user.role, scopes_of(user.role), csrf=login.csrf)

    def end_login(self, digest: str) -> None:
        """Log out; a session that is not there is ended already."""
        with self._sessions.writing() as session:
            session.execute(delete(Login).where(col(Login.digest) == digest))
