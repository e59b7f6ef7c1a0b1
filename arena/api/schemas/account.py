"""Accounts, tokens and users."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from arena.api.schemas.word import In, OneLine, Out, Prose, RoleName, ScopeName, UserName
from arena.credentials import MAX_PASSWORD, MIN_PASSWORD
from arena.store.base.models import MAX_LINK


class Account(Out):
    """Your account: name, role, storage use and profile. `token` is the number of the token you sent, `scopes` are its
    scopes.
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


class AccountChange(In):
    """Changes of your public profile. `link` is the address of a page of yours; empty removes it."""

    about: Prose | None = None
    link: Annotated[str, Field(max_length=MAX_LINK)] | None = None


class TokenItem(Out):
    """A token without its secret."""

    id: int
    name: str
    scopes: list[str]
    created_at: datetime
    expires: datetime | None
    last_used: datetime | None
    revoked: datetime | None


class NewToken(TokenItem):
    """A new token with its secret, which is shown only in this response."""

    token: str


class TokenRequest(In):
    """A token to create. It expires after `days`: 90 by default, 0 for never."""

    name: OneLine
    scopes: Annotated[list[ScopeName], Field(min_length=1, max_length=5)]
    days: Annotated[int, Field(ge=0, le=3650)] | None = None


class LoginRequest(In):
    """A token to create with a password: with these scopes, by default all of your role. `days` as for any token."""

    name: OneLine
    scopes: Annotated[list[ScopeName], Field(min_length=1, max_length=5)] | None = None
    days: Annotated[int, Field(ge=0, le=3650)] | None = None

    user: UserName
    password: Annotated[str, Field(min_length=1, max_length=MAX_PASSWORD)]


class PasswordRequest(In):
    """A change of your password; `revoke_tokens` also revokes all tokens."""

    password: Annotated[str, Field(min_length=1, max_length=MAX_PASSWORD)]
    new_password: Annotated[str, Field(min_length=MIN_PASSWORD, max_length=MAX_PASSWORD)]
    revoke_tokens: bool = False


class UserItem(Out):
    """A user account."""

    name: str
    role: RoleName
    is_active: bool
    about: str
    link: str
    created_at: datetime


class UserRequest(In):
    """A user to create. Users without a password cannot log in on the website."""

    name: UserName
    role: RoleName = "author"
    password: Annotated[str, Field(min_length=MIN_PASSWORD, max_length=MAX_PASSWORD)] | None = None


class UserChange(In):
    """Changes of a user. Omitted fields stay."""

    role: RoleName | None = None
    password: Annotated[str, Field(min_length=MIN_PASSWORD, max_length=MAX_PASSWORD)] | None = None
    is_active: bool | None = None
    revoke_tokens: bool = False
