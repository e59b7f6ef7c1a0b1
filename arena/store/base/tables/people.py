"""Users with their tokens and browser sessions, and the bots, tournaments and people that they follow."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, UniqueConstraint
from sqlmodel import Field, SQLModel

from arena.clock import now
from arena.documents.account import MAX_ABOUT, MAX_EMAIL, MAX_LINK
from arena.store.base.fields import created, moment, number


class User(SQLModel, table=True):
    """A user account. `role` is `author`, `organiser` or `admin`. The log-in form needs a password hash."""

    __tablename__ = "users"
    id: int = number()
    name: str = Field(unique=True, max_length=40)
    role: str = Field(default="author", max_length=16)
    password_hash: str | None = None
    is_active: bool = True
    about: str = Field(default="", max_length=MAX_ABOUT)
    """Public profile text; `link` is a public address."""
    link: str = Field(default="", max_length=MAX_LINK)
    email: str = Field(default="", max_length=MAX_EMAIL, index=True)
    """Private; only for links to reset the password."""
    created_at: datetime = created()


class AccountLink(SQLModel, table=True):
    """A secret link, stored as the SHA-256 of its secret: an invitation, or one that resets the password of `user_id`.

    An invitation can still create `uses_left` accounts, each with its `role`.
    """

    __tablename__ = "account_links"
    digest: str = Field(primary_key=True, max_length=64)
    user_id: int | None = Field(default=None, foreign_key="users.id", index=True)
    role: str = Field(default="", max_length=16)
    uses_left: int = 1
    expires: datetime = moment(index=True)
    created_at: datetime = created()


class Token(SQLModel, table=True):
    """An API token: only the SHA-256 of its secret is stored. `scopes` is a blank-separated list.

    `parent_id` is the token with which this token was made; revoking the parent revokes this token too.
    """

    __tablename__ = "tokens"
    id: int = number()
    user_id: int = Field(foreign_key="users.id", index=True)
    name: str = Field(max_length=80)
    digest: str = Field(unique=True, max_length=64)
    scopes: str = "read"
    created_at: datetime = created()
    expires: datetime | None = moment(nullable=True)
    last_used: datetime | None = moment(nullable=True)
    revoked: datetime | None = moment(nullable=True)
    parent_id: int | None = Field(default=None, foreign_key="tokens.id", index=True)

    @property
    def has_expired(self) -> bool:
        """True once the time `expires` has passed."""
        return self.expires is not None and self.expires <= now()


class Login(SQLModel, table=True):
    """A browser session: the SHA-256 of its cookie, and the CSRF token that its forms must send."""

    __tablename__ = "logins"
    digest: str = Field(primary_key=True, max_length=64)
    user_id: int = Field(foreign_key="users.id", index=True)
    csrf: str = Field(max_length=64)
    created_at: datetime = created()
    expires: datetime = moment(index=True)


class LoginAttempt(SQLModel, table=True):
    """Counter of recent wrong log-ins or of recent requests. `key` is the SHA-256 of, for example, an IP address."""

    __tablename__ = "login_attempts"
    key: str = Field(primary_key=True, max_length=64)
    count: float = 0.0
    updated_at: datetime = moment()


class TrustedDevice(SQLModel, table=True):
    """A device from which a user has logged in: the SHA-256 of its browser cookie or of its IP address."""

    __tablename__ = "trusted_devices"
    user_id: int = Field(primary_key=True, foreign_key="users.id")
    digest: str = Field(primary_key=True, max_length=64, index=True)
    seen: datetime = moment()


class Follow(SQLModel, table=True):
    """A bot, a tournament or a person that a user follows: exactly one of them. Its news become notices of the user."""

    __tablename__ = "follows"
    __table_args__ = (
        UniqueConstraint("user_id", "bot_id"),
        UniqueConstraint("user_id", "tournament_id"),
        Index("ix_follows_user_id_person_id", "user_id", "person_id", unique=True),
    )
    id: int = number()
    user_id: int = Field(foreign_key="users.id")
    bot_id: int | None = Field(default=None, foreign_key="bots.id", index=True)
    tournament_id: int | None = Field(default=None, foreign_key="tournaments.id", index=True)
    person_id: int | None = Field(default=None, index=True)
    """Number of the followed user. No foreign key: SQLite could add one only by copying the table."""
    followed_at: datetime = created()
