"""Your account and your tokens."""

from __future__ import annotations

from arena import services
from arena.api.registry import Routes
from arena.api.schemas import (
    Account,
    AccountChange,
    LoginRequest,
    NewToken,
    Number,
    PasswordRequest,
    RoleName,
    TokenItem,
    TokenRequest,
)
from arena.documents.identity import Identity
from arena.documents.page import PageResponse
from arena.http.api_paths import PREFIX
from arena.http.identity import place_of, with_name_and_password, with_password
from arena.http.request_context import RequestContext, RouteResult
from arena.store.base.models import Token

routes = Routes()


@routes.get("/account", tag="account", summary="Show your account", scope="read", example="/api/v1/account")
async def show(call: RequestContext) -> RouteResult[Account]:
    """Return your name, role and profile, the token's scopes, and your storage use."""
    return await _account(call)


@routes.patch(
    "/account",
    tag="account",
    summary="Change your profile",
    scope="submit",
    example="""/api/v1/account -d '{"about": "I write bots.", "link": "https://example.org/me"}'""",
)
async def describe(call: RequestContext, body: AccountChange) -> RouteResult[Account]:
    """Change your public profile."""
    await call.run(services.account.update_profile, call.arena, call.user, body.about, body.link)
    return await _account(call)


async def _account(call: RequestContext) -> RouteResult[Account]:
    user = await call.run(call.store.users.get, call.user.user_id)
    usage = await call.run(call.store.bots.usage, call.user.user_id)
    role: RoleName = call.user.role  # type: ignore[assignment]
    body = Account(
        name=call.user.name,
        role=role,
        scopes=sorted(call.user.scopes),
        token=call.user.token_id,
        bots=usage.bots,
        versions=usage.versions,
        size_bytes=usage.size_bytes,
        about=user.about,
        link=user.link,
    )
    return RouteResult(body, keep="never", is_private=True)


@routes.get(
    "/account/tokens", tag="account", summary="List your tokens", scope="read", example="/api/v1/account/tokens"
)
async def list_tokens(call: RequestContext) -> RouteResult[PageResponse[TokenItem]]:
    """List all your tokens, oldest first, including revoked ones. Secrets are not shown."""
    rows = await call.run(call.store.users.tokens, call.user.user_id)
    return RouteResult(PageResponse(items=[token_item(row) for row in rows]), keep="never", is_private=True)


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
    """Create a token with at most the scopes and lifetime of this one; it is revoked together with this one.

    The secret is shown only in this response. Repeating the request with the same `Idempotency-Key` creates no second
    token: you get 409, which names the token.
    """
    return await _make(call, body, call.user)


async def _make(call: RequestContext, wish: TokenRequest | LoginRequest, by: Identity) -> RouteResult[NewToken]:
    scopes = sorted(by.scopes) if wish.scopes is None else wish.scopes
    row, secret = await call.run(services.token.create, call.arena, wish.name, scopes, wish.days, by)
    body = NewToken(**token_item(row).model_dump(), token=secret)
    headers = {"Location": f"{PREFIX}/account/tokens"}
    return RouteResult(body, status=201, keep="never", headers=headers, is_private=True)


@routes.delete("/account/tokens/{token}", tag="account", summary="Revoke a token", scope="read")
async def revoke(call: RequestContext, token: Number) -> None:
    """Revoke one of your tokens and the tokens created with it. Revoking it again has no effect.

    A token can revoke itself and tokens with no more scopes than its own.
    """
    await call.run(services.token.revoke, call.arena, token, call.user)


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


def token_item(row: Token) -> TokenItem:
    """Convert a token to its schema."""
    assert row.id is not None
    return TokenItem(
        id=row.id,
        name=row.name,
        scopes=row.scopes.split(),
        created_at=row.created_at,
        expires=row.expires,
        last_used=row.last_used,
        revoked=row.revoked,
    )
