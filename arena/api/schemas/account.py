"""People: accounts, tokens, users."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from arena.api.schemas.word import In, OneLine, Out, Prose, RoleName, ScopeName, UserName
from arena.store.credentials import MAX_PASSWORD, MIN_PASSWORD
from arena.store.models import MAX_LINK


class Account(Out):
    """Who you are, what you may do and have. `token` is the number of the token you sent."""

    name: str
    role: RoleName
    scopes: list[str]
    token: int | None
    bots: int
    versions: int
    size_bytes: int
    about: str
    link: str


class AccountChange(In):
    """What you say of yourself, to everybody. `link` is the address of a page of yours; empty for none."""

    about: Prose | None = None
    link: Annotated[str, Field(max_length=MAX_LINK)] | None = None


class TokenItem(Out):
    """A token, without its secret."""

    id: int
    name: str
    scopes: list[str]
    created_at: datetime
    expires: datetime | None
    last_used: datetime | None
    revoked: datetime | None


class NewToken(TokenItem):
    """A token with its secret, which is shown this once."""

    token: str


class TokenRequest(In):
    """A token to be made. It ends after `days`: 90 unless given, 0 for no end."""

    name: OneLine
    scopes: Annotated[list[ScopeName], Field(min_length=1, max_length=5)]
    days: Annotated[int, Field(ge=0, le=3650)] | None = None


class LoginRequest(In):
    """A token for somebody who has a password: for these scopes, or for all of the role; `days` as for any token."""

    name: OneLine
    scopes: Annotated[list[ScopeName], Field(min_length=1, max_length=5)] | None = None
    days: Annotated[int, Field(ge=0, le=3650)] | None = None

    user: UserName
    password: Annotated[str, Field(min_length=1, max_length=MAX_PASSWORD)]


class PasswordRequest(In):
    """Another password for who knows the present one; `revoke_tokens` ends all tokens too."""

    password: Annotated[str, Field(min_length=1, max_length=MAX_PASSWORD)]
    new_password: Annotated[str, Field(min_length=MIN_PASSWORD, max_length=MAX_PASSWORD)]
    revoke_tokens: bool = False


class UserItem(Out):
    """Somebody with an account."""

    name: str
    role: RoleName
    is_active: bool
    about: str
    link: str
    created_at: datetime


class UserRequest(In):
    """A user to be made; without a password there is no log-in by form."""

    name: UserName
    role: RoleName = "author"
    password: Annotated[str, Field(min_length=MIN_PASSWORD, max_length=MAX_PASSWORD)] | None = None


class UserChange(In):
    """What may be changed of a user; what is left out stays."""

    role: RoleName | None = None
    password: Annotated[str, Field(min_length=MIN_PASSWORD, max_length=MAX_PASSWORD)] | None = None
    is_active: bool | None = None
    revoke_tokens: bool = False
