"""Users, for admins."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from arena import services
from arena.api.registry import In, Number, Routes, UserName
from arena.credentials import MAX_PASSWORD, MIN_PASSWORD
from arena.documents.account import AccountLinkResponse, RoleName, TokenItem, UserItem
from arena.documents.query import PageQuery, PageResponse
from arena.http.identity import with_password
from arena.http.problem import PREFIX
from arena.http.request_context import RequestContext, RouteResult
from arena.services.registration import INVITATION_DAYS, MAX_INVITATION_DAYS, MAX_USES

routes = Routes()


class UserRequest(In):
    """A user to create. Users without a password cannot log in on the website."""

    name: UserName
    role: RoleName = "author"
    password: Annotated[str, Field(min_length=MIN_PASSWORD, max_length=MAX_PASSWORD)] | None = None


class UserChange(In):
    """Changes of a user. Omitted fields keep their values."""

    role: RoleName | None = None
    password: Annotated[str, Field(min_length=MIN_PASSWORD, max_length=MAX_PASSWORD)] | None = None
    is_active: bool | None = None
    """False: the user cannot log in, and their tokens are rejected."""
    revoke_tokens: bool = False
    """Revoke all tokens of the user."""


class InvitationRequest(In):
    """An invitation to create `uses` accounts within `days`."""

    role: Literal["author", "organiser"] = "author"
    """Role of the accounts."""
    uses: Annotated[int, Field(ge=1, le=MAX_USES)] = 1
    days: Annotated[int, Field(ge=1, le=MAX_INVITATION_DAYS)] = INVITATION_DAYS


@routes.post(
    "/invitations",
    tag="users",
    summary="Invite people to create accounts",
    scope="admin",
    status=201,
    problems=("forbidden",),
    example="""/api/v1/invitations -d '{"uses": 20, "days": 7}'""",
)
async def invite(call: RequestContext, body: InvitationRequest) -> RouteResult[AccountLinkResponse]:
    """Create a link to the page where people create their own accounts. It is shown only in this response."""
    made = await call.run(services.registration.invite, call.arena, body.role, body.uses, body.days, call.user)
    return RouteResult(made, status=201, keep="never", is_private=True)


@routes.post(
    "/users/{user}/reset-links",
    tag="users",
    summary="Make a link that resets a password",
    scope="admin",
    status=201,
    example="/api/v1/users/ada/reset-links -X POST",
)
async def make_reset_link(call: RequestContext, user: UserName) -> RouteResult[AccountLinkResponse]:
    """Create a link with which the user sets a new password within 24 hours. It is shown only in this response."""
    made = await call.run(services.registration.make_reset_link, call.arena, user, call.user)
    return RouteResult(made, status=201, keep="never", is_private=True)


@routes.get("/users", tag="users", summary="List users", scope="admin", example="/api/v1/users")
async def list_users(call: RequestContext, query: PageQuery) -> PageResponse[UserItem]:
    """List users by name."""
    return await call.run(services.user.page, call.arena, query)


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
    return RouteResult(row, status=201, headers=headers, is_private=True)


@routes.get("/users/{user}", tag="users", summary="Get a user", scope="admin", example="/api/v1/users/arena")
async def show(call: RequestContext, user: UserName) -> UserItem:
    """Return a user."""
    return await call.run(services.user.find, call.arena, user)


@routes.patch(
    "/users/{user}",
    tag="users",
    summary="Change a user",
    scope="admin",
    example="""/api/v1/users/ada -d '{"is_active": false}'""",
)
async def change(call: RequestContext, user: UserName, body: UserChange) -> UserItem:
    """Change the role or password of a user, or deactivate them. This ends their browser sessions;
    `revoke_tokens` also revokes their tokens.
    """
    return await with_password(
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


@routes.get(
    "/users/{user}/tokens",
    tag="users",
    summary="List a user's tokens",
    scope="admin",
    example="/api/v1/users/arena/tokens",
)
async def list_tokens(call: RequestContext, user: UserName) -> RouteResult[PageResponse[TokenItem]]:
    """List all tokens of a user, oldest first, including revoked ones. Secrets are not shown."""
    tokens = await call.run(lambda: services.user.tokens_of_user(call.arena, services.user.find(call.arena, user)))
    return RouteResult(PageResponse(tokens), keep="never", is_private=True)


@routes.delete("/users/{user}/tokens/{token}", tag="users", summary="Revoke a user's token", scope="admin")
async def revoke(call: RequestContext, user: UserName, token: Number) -> None:
    """Revoke a token of a user and the tokens created with it. Revoking it again has no effect."""
    row = await call.run(services.user.find, call.arena, user)
    await call.run(services.user.revoke_token_for, call.arena, row, token, call.user)
