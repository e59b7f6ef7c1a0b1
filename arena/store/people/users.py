"""Users, their API tokens and browser sessions, and secret links: invitations to create an account, and links to reset
a password. Secrets are stored as digests.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from arena.clock import now
from arena.credentials import CredentialError, read_name, read_scopes, scopes_of
from arena.documents.account import Identity, RoleName, TokenItem, UserItem
from arena.documents.query import PageResponse
from arena.errors import BadValueError, ConflictError, NotFoundError, StoreUnavailableError, TakenError
from arena.store.base.engine import Repository, fetch
from arena.store.base.page import DEFAULT_LIMIT, bounded, cut, read_cursor
from arena.store.base.tables.people import AccountLink, Login, Token, User

_USER = tuple(col(getattr(User, name)) for name in UserItem.__dataclass_fields__)
"""The columns of a `UserItem`, without the password and the private address."""
_LAST_USED_RESOLUTION = timedelta(minutes=1)
"""Resolution of a token's `last_used`, so that not every read writes."""
_MAX_SAME_EMAIL = 10
"""Users with one e-mail address that are looked up: an address need not be unique."""


class Users(Repository):
    # -- users -------------------------------------------------------------------------------------------------------

    def add(self, name: str, role: str = "author", password_hash: str | None = None, *, email: str = "") -> UserItem:
        """Add a user. Raises BadValueError for an invalid name or role, TakenError for a taken name."""
        try:
            user = User(name=read_name(name, "user"), role=role, password_hash=password_hash, email=email)
            scopes_of(role)
        except CredentialError as error:
            raise BadValueError(str(error)) from None
        try:
            with self._sessions.writing() as session:
                session.add(user)
        except IntegrityError:
            raise TakenError(f"the user name {name!r} is taken; choose another name") from None
        return self.find(name)

    def get(self, user_id: int) -> UserItem:
        """Return a user by id. Raises NotFoundError."""
        return self._where(col(User.id) == user_id, user_id)

    def find(self, name: str) -> UserItem:
        """Return a user by name. Raises NotFoundError."""
        return self._where(col(User.name) == name, name)

    def _where(self, condition: ColumnElement[bool], name: object) -> UserItem:
        """Return the user that meets a condition. Raises NotFoundError with `name`."""
        with self._sessions.reading() as session:
            rows = fetch(session, select(*_USER).where(condition))
        if not rows:
            raise NotFoundError("user", name)
        return _user_item(rows[0])

    def password_hash(self, name: str) -> str | None:
        """Return the stored hash of a user's password; None if there is none or the user is unknown."""
        with self._sessions.reading() as session:
            return session.scalar(select(col(User.password_hash)).where(col(User.name) == name))

    def page(self, *, limit: int = DEFAULT_LIMIT, after: str | None = None) -> PageResponse[UserItem]:
        """Return all users ordered by name."""
        limit = bounded(limit)
        query = select(*_USER).order_by(col(User.name)).limit(limit + 1)
        if keys := read_cursor(after, str):
            query = query.where(col(User.name) > keys[0])
        with self._sessions.reading() as session:
            return cut([_user_item(row) for row in fetch(session, query)], limit, lambda user: (user.name,))

    def count(self, role: str) -> int:
        """Count the active users with a role."""
        query = select(func.count()).select_from(User).where(col(User.role) == role, col(User.is_active).is_(True))
        with self._sessions.reading() as session:
            return session.scalar(query) or 0

    def change(
        self, name: str, *, role: str | None = None, password_hash: str | None = None, is_active: bool | None = None
    ) -> UserItem:
        """Change the given fields of a user, and end all browser sessions of the user.

        Raises NotFoundError, and ConflictError if no administrator would be left.
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
                admins = select(col(User.id)).where(col(User.role) == "admin", col(User.is_active).is_(True))
                # Locked: the last two administrators may leave in the same moment.
                if session.scalars(admins.order_by(col(User.id)).with_for_update()).all() == [user.id]:
                    raise ConflictError(f"{name} is the only administrator; add another one first (--role admin)")
            user.role = role or user.role
            user.password_hash = password_hash or user.password_hash
            user.is_active = user.is_active if is_active is None else is_active
            session.execute(delete(Login).where(col(Login.user_id) == user.id))
        return self.find(name)

    def describe(self, user_id: int, about: str, link: str) -> None:
        """Set a user's profile."""
        with self._sessions.writing() as session:
            session.execute(update(User).where(col(User.id) == user_id).values(about=about, link=link))

    def email(self, user_id: int) -> str:
        """Return the private e-mail address of a user; empty if there is none."""
        with self._sessions.reading() as session:
            return session.scalar(select(col(User.email)).where(col(User.id) == user_id)) or ""

    def with_email(self, email: str) -> list[UserItem]:
        """Return the users with this e-mail address, ignoring case."""
        query = select(*_USER).where(func.lower(col(User.email)) == email.lower()).order_by(col(User.id))
        with self._sessions.reading() as session:
            return [_user_item(row) for row in fetch(session, query.limit(_MAX_SAME_EMAIL))] if email else []

    def set_email(self, user_id: int, email: str) -> None:
        """Set or, with an empty text, remove the e-mail address of a user."""
        with self._sessions.writing() as session:
            session.execute(update(User).where(col(User.id) == user_id).values(email=email))

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
    ) -> TokenItem:
        """Store a token by its digest. A token made with another token, its parent, expires with it at the latest.

        Raises BadValueError for unknown scopes, for scopes that the user's role lacks, and for an invalid parent.
        """
        user = self.get(user_id)
        try:
            wanted = read_scopes(scopes)
        except CredentialError as error:
            raise BadValueError(str(error)) from None
        if missing := [scope for scope in wanted if scope not in scopes_of(user.role)]:
            raise BadValueError(f"user {user.name} ({user.role}) cannot grant the scope {missing[0]!r}")
        token = Token(
            user_id=user_id,
            name=name[:80],
            digest=digest,
            scopes=" ".join(wanted),
            expires=expires,
            parent_id=parent_id,
        )
        with self._sessions.writing() as session:
            if parent_id is not None:
                # Locked: a revocation in the same moment comes first, or finds this token among the children.
                parent = session.get(Token, parent_id, with_for_update=True)
                if parent is None or parent.revoked or parent.has_expired:
                    raise BadValueError("the token used to create this one has expired or was revoked")
                ends = [moment for moment in (expires, parent.expires) if moment is not None]
                token.expires = min(ends, default=None)
            session.add(token)
        return self.token(user_id, token.id)

    def tokens(self, user_id: int) -> list[TokenItem]:
        """Return a user's tokens, oldest first, including revoked ones."""
        return self._tokens(col(Token.user_id) == user_id)

    def token(self, user_id: int, token_id: int) -> TokenItem:
        """Return one of a user's tokens. Raises NotFoundError, also for other users' tokens."""
        tokens = self._tokens(col(Token.user_id) == user_id, col(Token.id) == token_id)
        if not tokens:
            raise NotFoundError("token", token_id)
        return tokens[0]

    def _tokens(self, *conditions: ColumnElement[bool]) -> list[TokenItem]:
        query = select(Token).where(*conditions).order_by(col(Token.id))
        with self._sessions.reading() as session:
            return [_token_item(row) for row in session.scalars(query)]

    def revoke(self, user_id: int, token_id: int) -> None:
        """Revoke a token and all tokens made with it. Revoking twice is harmless.

        Raises NotFoundError, also for other users' tokens.
        """
        with self._sessions.writing() as session:
            token = session.get(Token, token_id, with_for_update=True)
            if token is None or token.user_id != user_id:
                raise NotFoundError("token", token_id)
            ids: Sequence[int | None] = [token_id]
            while ids:
                valid = (col(Token.id).in_(ids), col(Token.revoked).is_(None))
                session.execute(update(Token).where(*valid).values(revoked=now()))
                ids = session.scalars(select(col(Token.id)).where(col(Token.parent_id).in_(ids))).all()

    def revoke_all(self, user_id: int) -> int:
        """Revoke all tokens of a user; return how many were still valid."""
        valid = (col(Token.user_id) == user_id, col(Token.revoked).is_(None))
        with self._sessions.writing() as session:
            revoked = session.execute(update(Token).where(*valid).values(revoked=now()))
            return int(revoked.rowcount)  # type: ignore[attr-defined]

    def by_token(self, digest: str) -> Identity | None:
        """Return the identity of the token with this digest; None if it is unknown or no longer valid."""
        at = now()
        query = select(Token, User).join(User, col(User.id) == col(Token.user_id)).where(col(Token.digest) == digest)
        with self._sessions.reading() as session:
            row = session.execute(query).one_or_none()
        if row is None:
            return None
        token, user = row
        if token.revoked or token.has_expired or not user.is_active:
            return None
        if token.last_used is None or token.last_used < at - _LAST_USED_RESOLUTION:
            # A token is valid whether or not its use can be noted.
            with contextlib.suppress(StoreUnavailableError), self._sessions.writing() as session:
                session.execute(update(Token).where(col(Token.id) == token.id).values(last_used=at))
        scopes = frozenset(token.scopes.split()) & scopes_of(user.role)
        return Identity(user.id, user.name, user.role, scopes, token_id=token.id)

    def why_useless(self, digest: str) -> str:
        """Return why the token with this digest is rejected: unknown, revoked, expired, or of a disabled user."""
        with self._sessions.reading() as session:
            token = session.scalar(select(Token).where(col(Token.digest) == digest))
        if token is None:
            return "the token is unknown"
        if token.revoked:
            return f"the token was revoked on {token.revoked:%Y-%m-%d %H:%M} UTC"
        if token.has_expired:
            return f"the token expired on {token.expires:%Y-%m-%d %H:%M} UTC"
        return "the user of the token is disabled"

    # -- browser sessions --------------------------------------------------------------------------------------------

    def add_login(self, user_id: int, digest: str, csrf: str, expires: datetime) -> None:
        """Store a browser session by the digest of its cookie, and delete expired ones."""
        with self._sessions.writing() as session:
            session.execute(delete(Login).where(col(Login.expires) <= now()))
            session.add(Login(digest=digest, user_id=user_id, csrf=csrf, expires=expires))

    def by_login(self, digest: str) -> Identity | None:
        """Return the identity logged in with the cookie of this digest; None if the session has ended."""
        query = select(Login, User).join(User, col(User.id) == col(Login.user_id)).where(col(Login.digest) == digest)
        with self._sessions.reading() as session:
            row = session.execute(query).one_or_none()
        if row is None:
            return None
        login, user = row
        if login.expires <= now() or not user.is_active:
            return None
        return Identity(user.id, user.name, user.role, scopes_of(user.role), csrf=login.csrf)

    def end_login(self, digest: str) -> None:
        """End a session. Unknown sessions are ignored."""
        with self._sessions.writing() as session:
            session.execute(delete(Login).where(col(Login.digest) == digest))


def _user_item(row: User) -> UserItem:
    """Return a user as a document. Any row of `_USER` will do."""
    return UserItem(
        name=row.name,
        role=cast(RoleName, row.role),
        is_active=row.is_active,
        about=row.about,
        link=row.link,
        created_at=row.created_at,
        id=row.id,
    )


def _token_item(row: Token) -> TokenItem:
    """Return a stored token as a document."""
    return TokenItem(
        id=row.id,
        name=row.name,
        scopes=row.scopes.split(),
        created_at=row.created_at,
        expires=row.expires,
        last_used=row.last_used,
        revoked=row.revoked,
        parent_id=row.parent_id,
    )


@dataclass(frozen=True, slots=True)
class ValidLink:
    """A link that can still be used: the role of an invitation, or the user whose password it resets."""

    role: str
    user_id: int | None


class AccountLinks(Repository):
    """Account links, found by the digests of their secrets."""

    def add(self, digest: str, expires: datetime, *, user_id: int | None = None, role: str = "", uses: int = 1) -> None:
        """Store a link: one that resets the password of a user, or an invitation for a role."""
        with self._sessions.writing() as session:
            session.add(AccountLink(digest=digest, user_id=user_id, role=role, uses_left=uses, expires=expires))

    def find(self, digest: str) -> ValidLink | None:
        """Return a link; None if it is unknown, used up or expired."""
        valid = (col(AccountLink.uses_left) > 0, col(AccountLink.expires) > now())
        query = select(col(AccountLink.role), col(AccountLink.user_id)).where(col(AccountLink.digest) == digest, *valid)
        with self._sessions.reading() as session:
            row = session.execute(query).one_or_none()
        return ValidLink(*row) if row else None

    def take(self, digest: str) -> bool:
        """Use a link once; return False if it is unknown, used up or expired."""
        valid = (col(AccountLink.uses_left) > 0, col(AccountLink.expires) > now())
        # One statement tests and counts, so that two people cannot take the last use together.
        using = update(AccountLink).where(col(AccountLink.digest) == digest, *valid)
        with self._sessions.writing() as session:
            used = session.execute(using.values(uses_left=col(AccountLink.uses_left) - 1))
            return bool(used.rowcount)  # type: ignore[attr-defined]

    def give_back(self, digest: str) -> None:
        """Undo one use of a link."""
        with self._sessions.writing() as session:
            link = update(AccountLink).where(col(AccountLink.digest) == digest)
            session.execute(link.values(uses_left=col(AccountLink.uses_left) + 1))

    def count_resets(self, user_id: int, since: datetime) -> int:
        """Count the links for resetting a user's password that were made since a moment."""
        recent = (col(AccountLink.user_id) == user_id, col(AccountLink.created_at) >= since)
        with self._sessions.reading() as session:
            return session.scalar(select(func.count()).select_from(AccountLink).where(*recent)) or 0

    def forget(self, user_id: int) -> None:
        """Delete all links that reset a user's password."""
        with self._sessions.writing() as session:
            session.execute(delete(AccountLink).where(col(AccountLink.user_id) == user_id))
