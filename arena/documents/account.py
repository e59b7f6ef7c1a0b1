"""Users, the identity that makes a request, and their accounts, tokens, notices and actions."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from arena.clock import now
from arena.documents.table import size_in_words
from arena.errors import QuotaError
from referee.meaning import HIDDEN, meaning


@dataclass(frozen=True, slots=True)
class Identity:
    """The caller of a request with its scopes. `csrf` is set for browser sessions, `token_id` for API tokens."""

    user_id: int
    name: str
    role: str
    scopes: frozenset[str]
    token_id: int | None = None
    csrf: str | None = None


MAX_ABOUT, MAX_LINK, MAX_EMAIL = 1000, 200, 254
"""Maximum lengths of a user's profile text, of the address of their own page, and of their e-mail address."""
RoleName = Literal["author", "organiser", "admin"]
ScopeName = Literal["read", "submit", "organise", "admin", "worker"]


@dataclass(frozen=True, slots=True)
class UserItem:
    """A user account."""

    name: str
    role: RoleName
    is_active: bool = field(metadata=meaning("false: the user cannot log in, and their tokens are rejected"))
    about: str = field(metadata=meaning("public text about the user, empty by default"))
    link: str = field(metadata=meaning("address of a page of the user's own, empty by default"))
    created_at: datetime
    id: int = field(metadata=HIDDEN)


@dataclass(frozen=True, slots=True)
class TokenItem:
    """A token without its secret."""

    id: int = field(metadata=meaning("number with which the token is revoked"))
    name: str = field(metadata=meaning("label given by its owner, such as `laptop`"))
    scopes: list[str] = field(metadata=meaning("of `read`, `submit`, `organise`, `admin` and `worker`"))
    created_at: datetime
    expires: datetime | None = field(metadata=meaning("null: never"))
    last_used: datetime | None = field(metadata=meaning("to the minute; null: never used"))
    revoked: datetime | None = field(metadata=meaning("null: not revoked"))
    parent_id: int | None = field(metadata=HIDDEN)

    @property
    def has_expired(self) -> bool:
        """True once the token has expired."""
        return self.expires is not None and self.expires <= now()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken(TokenItem):
    """A new token with its secret, which is shown only in this response."""

    token: str = field(metadata=meaning("the secret to send as `Authorization: Bearer …`: `arena_` and 43 characters"))


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

    def require_bot(self, max_bots: int) -> None:
        """Raise QuotaError unless the user may have another bot."""
        if self.bots >= max_bots:
            raise QuotaError(f"you have the maximum of {max_bots} bots; retire one")

    def require_room(self, size_bytes: int, max_versions: int | None, max_bytes: int | None) -> None:
        """Raise QuotaError unless another version of `size_bytes` fits the limits; a limit of None means unlimited."""
        if max_versions is not None and self.versions >= max_versions:
            raise QuotaError(f"you have {self.versions} versions; the limit is {max_versions}; retire some")
        if max_bytes is not None and self.size_bytes + size_bytes > max_bytes:
            raise QuotaError(
                f"your bundles take {size_in_words(self.size_bytes)}; with {size_in_words(size_bytes)} more they "
                f"exceed the limit of {size_in_words(max_bytes)}; retire some versions"
            )


@dataclass(frozen=True, slots=True)
class Account:
    """Your account: name, role, storage use and profile. `token` is the number of the token you sent, `scopes` are its
    scopes. `email` is private.
    """

    name: str
    role: RoleName
    scopes: list[str] = field(metadata=meaning("of `read`, `submit`, `organise`, `admin` and `worker`"))
    token: int | None = field(
        metadata=meaning("its `id` in the list of your tokens; null: you are logged in with a browser")
    )
    bots: int = field(metadata=meaning("your bots, without retired ones"))
    versions: int = field(metadata=meaning("your versions in any state except `retired`"))
    size_bytes: int = field(metadata=meaning("total size of the bundles of these versions"))
    about: str = field(metadata=meaning("public text about you, empty by default"))
    link: str = field(metadata=meaning("public address of a page of yours, empty by default"))
    email: str = field(metadata=meaning("address for links that reset your password, empty by default"))


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
    """A bot, a tournament or a person that a user follows. `key` is the last part of its page's address."""

    kind: Literal["bot", "tournament", "user"]
    name: str
    key: str


@dataclass(frozen=True, slots=True)
class AuditItem:
    """An entry of the audit log: the user, the action, and its subject."""

    id: int
    logged_at: datetime
    user: str | None = field(metadata=meaning("name of the user who acted; null: the operator or the server itself"))
    action: str = field(metadata=meaning("object and verb, such as `bot.retire`"))
    subject: str = field(metadata=meaning("kind and name or id, such as `bot:zeta` or `tournament:7`"))
    detail: dict[str, Any] = field(metadata=meaning("further values, by names that depend on the action"))
