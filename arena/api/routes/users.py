"""Users, for admins."""

from __future__ import annotations

from arena import services
from arena.api.page import PageQuery, page
from arena.api.registry import Routes
from arena.api.routes.account import token_item
from arena.api.schemas import Number, TokenItem, UserChange, UserItem, UserName, UserRequest
from arena.documents.page import PageResponse
from arena.http.api_paths import PREFIX
from arena.http.identity import with_password
from arena.http.request_context import RequestContext, RouteResult

routes = Routes()


@routes.get("/users", tag="users", summary="List users", scope="admin", example="/api/v1/users")
async def list_users(call: RequestContext, query: PageQuery) -> PageResponse[UserItem]:
    """List users by name."""
    rows = await call.run(call.store.users.page, limit=query.limit, after=query.after)
    return page(rows, UserItem.model_validate)


@routes.post(
    "/users",
    tag="users",
    summary="Create a user",
    scope="admin",
    status=201,
    is_idempotent=True,
    confides="request",
    problems=("conflict",),
    example="""/api/v1/users -d '{"name": "ada", "role": "organiser"}'""",
)
async def make(call: RequestContext, body: UserRequest) -> RouteResult[UserItem]:
    """Create a user. Without a password they cannot log in on the website: create a token for them."""
    row = await with_password(call, services.user.add, call.arena, body.name, body.role, body.password, call.user)
    headers = {"Location": f"{PREFIX}/users/{body.name}"}
    return RouteResult(UserItem.model_validate(row), status=201, headers=headers, is_private=True)


@routes.get("/users/{user}", tag="users", summary="Get a user", scope="admin", example="/api/v1/users/arena")
async def show(call: RequestContext, user: UserName) -> UserItem:
    """Return a user."""
    return UserItem.model_validate(await call.run(call.store.users.find, user))


@routes.patch(
    "/users/{user}",
    tag="users",
    summary="Change a user",
    scope="admin",
    example="""/api/v1/users/ada -d '{"is_active": false}'""",
)
async def change(call: RequestContext, user: UserName, body: UserChange) -> UserItem:
    """Change the role or password of a user, or deactivate them. This ends their browser sessions, with `revoke_tokens`
    also their tokens.
    """
    row = await with_password(
        call,
        services.user.change,
        call.arena,
        user,
        role=body.role,
        password=body.password,
        is_active=body.is_active,
        revoke_tokens=body.revoke_tokens,
        by=call.user,
    )
    return UserItem.model_validate(row)


@routes.get(
    "/users/{user}/tokens",
    tag="users",
    summary="List a user's tokens",
    scope="admin",
    example="/api/v1/users/arena/tokens",
)
async def list_tokens(call: RequestContext, user: UserName) -> RouteResult[PageResponse[TokenItem]]:
    """List all tokens of a user, oldest first, including revoked ones. Secrets are not shown."""
    row = await call.run(call.store.users.find, user)
    tokens = await call.run(call.store.users.tokens, row.id or 0)
    return RouteResult(PageResponse(items=[token_item(one) for one in tokens]), keep="never", is_private=True)


@routes.delete("/users/{user}/tokens/{token}", tag="users", summary="Revoke a user's token", scope="admin")
async def revoke(call: RequestContext, user: UserName, token: Number) -> None:
    """Revoke a token of a user and the tokens created with it. Revoking it again has no effect."""
    row = await call.run(call.store.users.find, user)
    await call.run(services.token.revoke_for, call.arena, row, token, call.user)
