"""Who you are, and your tokens."""

from __future__ import annotations

from arena import services
from arena.api.page import Page
from arena.api.registry import Routes
from arena.api.schemas import (
    Account,
    AccountChange,
    LoginWish,
    NewToken,
    Number,
    PasswordWish,
    RoleName,
    TokenItem,
    TokenWish,
)
from arena.http.api_paths import PREFIX
from arena.http.identity import place_of, with_name_and_password, with_password
from arena.http.request_context import RequestContext, RouteResult
from arena.store import Identity
from arena.store.models import Token

routes = Routes()


@routes.get("/account", tag="account", summary="Who you are", scope="read", example="/api/v1/account")
async def show(call: RequestContext) -> RouteResult[Account]:
    """Your name and role, what this token may do, what you have in store, and what you say of yourself."""
    return await _account(call)


@routes.patch(
    "/account",
    tag="account",
    summary="Say something of yourself",
    scope="submit",
    example="""/api/v1/account -d '{"about": "I write bots.", "link": "https://example.org/me"}'""",
)
async def describe(call: RequestContext, body: AccountChange) -> RouteResult[Account]:
    """Change what your page says of you, to everybody."""
    await call.run(services.account.describe, call.arena, call.user, body.about, body.link)
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


@routes.get("/account/tokens", tag="account", summary="Your tokens", scope="read", example="/api/v1/account/tokens")
async def list_tokens(call: RequestContext) -> RouteResult[Page[TokenItem]]:
    """All your tokens, oldest first, without their secrets; revoked ones included."""
    rows = await call.run(call.store.users.tokens, call.user.user_id)
    return RouteResult(Page(items=[token_item(row) for row in rows]), keep="never", is_private=True)


@routes.post(
    "/account/tokens",
    tag="account",
    summary="Make a token",
    scope="read",
    status=201,
    is_idempotent=True,
    confides="answer",
    problems=("conflict",),
    example="""/api/v1/account/tokens -d '{"name": "laptop", "scopes": ["read", "submit"], "days": 90}'""",
)
async def make(call: RequestContext, body: TokenWish) -> RouteResult[NewToken]:
    """A token that may do no more than this one, lasts no longer and dies with it. Its secret is shown this once.

    The same `Idempotency-Key` again makes no second one: 409 says which token was made.
    """
    return await _make(call, body, call.user)


async def _make(call: RequestContext, wish: TokenWish | LoginWish, by: Identity) -> RouteResult[NewToken]:
    scopes = sorted(by.scopes) if wish.scopes is None else wish.scopes
    row, secret = await call.run(services.token.make, call.arena, wish.name, scopes, wish.days, by)
    body = NewToken(**token_item(row).model_dump(), token=secret)
    headers = {"Location": f"{PREFIX}/account/tokens"}
    return RouteResult(body, status=201, keep="never", headers=headers, is_private=True)


@routes.delete("/account/tokens/{token}", tag="account", summary="Revoke a token", scope="read")
async def revoke(call: RequestContext, token: Number) -> None:
    """Make one of your tokens useless for good, and those made with it. Twice is as good as once.

    A token revokes itself, and others that may do no more than it.
    """
    await call.run(services.token.revoke, call.arena, token, call.user)


@routes.post(
    "/login",
    tag="account",
    summary="Make a token with a password",
    status=201,
    example="""/api/v1/login -d '{"user": "ada", "password": "…", "name": "laptop", "scopes": ["read"]}'""",
)
async def login(call: RequestContext, body: LoginWish) -> RouteResult[NewToken]:
    """For programs of people: `arena login` does this. Slow and few: passwords are not for guessing."""
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
async def change_password(call: RequestContext, body: PasswordWish) -> None:
    """All browser sessions end, and with `revoke_tokens` all tokens, this one too."""
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
    """A token as a document."""
    assert row.id is not None
    return TokenItem(
        id=row.id,
        name=row.name,
        scopes=row.scopes.split(),
        created=row.created,
        expires=row.expires,
        last_used=row.last_used,
        revoked=row.revoked,
    )
