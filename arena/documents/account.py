"""Users, their accounts, tokens, notices and actions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from arena.clock import now
from arena.documents.query import hidden
from arena.errors import QuotaError

MAX_ABOUT, MAX_LINK, MAX_EMAIL = 1000, 200, 254
"""Maximum lengths of a user's profile text, of the address of their own page, and of their e-mail address."""
RoleName = Literal["author", "organiser", "admin"]
ScopeName = Literal["read", "submit", "organise", "admin", "worker"]


@dataclass(frozen=True, slots=True)
class UserItem:
    """A user account."""

    name: str
    role: RoleName
    is_active: bool
    about: str
    link: str
    created_at: datetime
    id: int = hidden()


@dataclass(frozen=True, slots=True)
class TokenItem:
    """A token without its secret."""

    id: int
    name: str
    scopes: list[str]
    created_at: datetime
    expires: datetime | None
    last_used: datetime | None
    revoked: datetime | None
    parent_id: int | None = hidden()

    @property
    def has_expired(self) -> bool:
        """True once the token has expired."""
        return self.expires is not None and self.expires <= now()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken(TokenItem):
    """A new token with its secret, which is shown only in this response."""

    token: str


@dataclass(frozen=True, slots=True)
class AccountLinkResponse:
    """A link with a secret, shown only in this response. It is a path if the server has no public address."""

    link: str
    expires: datetime


@dataclass(frozen=True, slots=True)
class Usage:
    """A user's numbers of bots and unretired versions, and the bytes of their bundles."""

    bots: int
    versions: int
    size_bytes: int

    def require_room(self, size_bytes: int, max_versions: int | None, max_bytes: int | None) -> None:
        """Raise QuotaError unless another version of `size_bytes` fits the limits; a limit of None means unlimited."""
        if max_versions is not None and self.versions >= max_versions:
            raise QuotaError(f"you have {self.versions} versions; the limit is {max_versions}; retire some")
        if max_bytes is not None and self.size_bytes + size_bytes > max_bytes:
            raise QuotaError(
                f"your bundles take {self.size_bytes} bytes; with {size_bytes} more they exceed the limit of "
                f"{max_bytes}; retire some versions"
            )


@dataclass(frozen=True, slots=True)
class Account:
    """Your account: name, role, storage use and profile. `token` is the number of the token you sent, `scopes` are its
    scopes. `email` is private.
    """

    name: str
    role: RoleName
    scopes: list[str]
    token: int | None
    bots: int
    versions: int
    size_bytes: int
    about: str
    link: str
    email: str


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice about the version or tournament `name`. `key` is the last part of the address of the page to read.

    `what` is the state of the version or tournament, the termination of a lost game, or `suspended`; `detail` is the
    reason if known. The kind `version` is a new version of a followed bot.
    """

    kind: Literal["check", "fault", "suspension", "tournament", "version"]
    at: datetime
    name: str
    key: str
    what: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class FollowedItem:
    """A bot or a tournament that a user follows. `key` is the last part of its page's address."""

    kind: Literal["bot", "tournament"]
    name: str
    key: str


@dataclass(frozen=True, slots=True)
class AuditItem:
    """An entry of the audit log: the user, the action, and its subject."""

    id: int
    logged_at: datetime
    user: str | None
    action: str
    subject: str
    detail: dict[str, Any]
