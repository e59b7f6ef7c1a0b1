"""Your account and your tokens."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from arena import services
from arena.api.registry import In, Number, OneLine, Prose, Routes, UserName
from arena.credentials import MAX_PASSWORD, MIN_PASSWORD
from arena.documents.account import MAX_LINK, Account, Identity, NewToken, ScopeName, TokenItem
from arena.documents.query import PageResponse
from arena.http.identity import place_of, with_name_and_password, with_password
from arena.http.problem import PREFIX
from arena.http.request_context import RequestContext, RouteResult

routes = Routes()


class AccountChange(In):
    """Changes of your public profile. `link` is the address of a page of yours; empty removes it."""

    about: Prose | None = None
    """Text about you. Null: unchanged."""
    link: Annotated[str, Field(max_length=MAX_LINK)] | None = None
    """Begins with `http://` or `https://`. Null: unchanged."""


class TokenRequest(In):
    """A token to create. It expires after `days`: 90 by default, 0 for never."""

    name: OneLine
    """Label for your list of tokens, such as `laptop`."""
    scopes: Annotated[list[ScopeName], Field(min_length=1, max_length=5)]
    """At most those of the token or session that you use."""
    days: Annotated[int, Field(ge=0, le=3650)] | None = None


class LoginRequest(In):
    """A token to create with your password. By default it has all scopes of your role; `days` as in `TokenRequest`."""

    name: OneLine
    """Label for your list of tokens, such as `laptop`."""
    scopes: Annotated[list[ScopeName], Field(min_length=1, max_length=5)] | None = None
    days: Annotated[int, Field(ge=0, le=3650)] | None = None

    user: UserName
    """Name of your account."""
    password: Annotated[str, Field(min_length=1, max_length=MAX_PASSWORD)]


class PasswordRequest(In):
    """A change of your password; `revoke_tokens` also revokes all tokens."""

    password: Annotated[str, Field(min_length=1, max_length=MAX_PASSWORD)]
    """Your present password."""
    new_password: Annotated[str, Field(min_length=MIN_PASSWORD, max_length=MAX_PASSWORD)]
    revoke_tokens: bool = False


@routes.get("/account", tag="account", summary="Show your account", scope="read", example="/api/v1/account")
async def show(call: RequestContext) -> RouteResult[Account]:
    """Return your name, role and profile, the token's scopes, and your storage use."""
    return RouteResult(await call.run(services.account.read, call.arena, call.user), keep="never", is_private=True)


@routes.patch(
    "/account",
    tag="account",
    summary="Change your profile",
    scope="submit",
    example="""/api/v1/account -d '{"about": "I write bots.", "link": "https://example.org/me"}'""",
)
async def describe(call: RequestContext, body: AccountChange) -> RouteResult[Account]:
    """Change your public profile."""
    account = await call.run(services.account.update_profile, call.arena, call.user, body.about, body.link)
    return RouteResult(account, keep="never", is_private=True)


@routes.get(
    "/account/tokens", tag="account", summary="List your tokens", scope="read", example="/api/v1/account/tokens"
)
async def list_tokens(call: RequestContext) -> RouteResult[PageResponse[TokenItem]]:
    """List all your tokens, oldest first, including revoked ones. Secrets are not shown."""
    tokens = await call.run(services.user.tokens_of, call.arena, call.user)
    return RouteResult(PageResponse(tokens), keep="never", is_private=True)


@routes.post(
    "/account/tokens",
    tag="account",
    summary="Create a token",
    scope="read",
    status=201,
    is_idempotent=True,
    confides="answer",
    problems=("conflict",),
    example="""/api/v1/account/tokens -d '{"name": "laptop", "scopes": ["read", "submit"], "days": 90}'""",
)
async def make(call: RequestContext, body: TokenRequest) -> RouteResult[NewToken]:
    """Create a token with at most the scopes and lifetime of the token you send; revoking the latter revokes both.

    The secret is shown only in this response. Repeating the request with the same `Idempotency-Key` creates no second
    token: you get 409, which names the token.
    """
    return await _make(call, body, call.user)


async def _make(call: RequestContext, wish: TokenRequest | LoginRequest, by: Identity) -> RouteResult[NewToken]:
    scopes = sorted(by.scopes) if wish.scopes is None else wish.scopes
    body = await call.run(services.user.create_token, call.arena, wish.name, scopes, wish.days, by)
    headers = {"Location": f"{PREFIX}/account/tokens"}
    return RouteResult(body, status=201, keep="never", headers=headers, is_private=True)


@routes.delete("/account/tokens/{token}", tag="account", summary="Revoke a token", scope="read")
async def revoke(call: RequestContext, token: Number) -> None:
    """Revoke one of your tokens and the tokens created with it. Revoking it again has no effect.

    A token can revoke itself and tokens with no more scopes than its own.
    """
    await call.run(services.user.revoke_token, call.arena, token, call.user)


@routes.post(
    "/login",
    tag="account",
    summary="Create a token with a password",
    status=201,
    example="""/api/v1/login -d '{"user": "ada", "password": "…", "name": "laptop", "scopes": ["read"]}'""",
)
async def login(call: RequestContext, body: LoginRequest) -> RouteResult[NewToken]:
    """Create a token with your name and password, as `arena login` does. Attempts are rate-limited."""
    by = await with_name_and_password(call, services.account.authenticate, body.user, body.password)
    return await _make(call, body, by)


@routes.post(
    "/account/password",
    tag="account",
    summary="Change your password",
    scope="read",
    status=204,
    example="""/api/v1/account/password -d '{"password": "…", "new_password": "another horse, no battery"}'""",
)
async def change_password(call: RequestContext, body: PasswordRequest) -> None:
    """Change your password. This ends all browser sessions; `revoke_tokens` also revokes all tokens, including this
    one.
    """
    await with_password(
        call,
        services.account.change_password,
        call.arena,
        call.user,
        body.password,
        body.new_password,
        place_of(call.request),
        revoke_tokens=body.revoke_tokens,
    )
