"""People with accounts, for admins. Refuses to know what they do."""

from __future__ import annotations

from arena.api.page import Page, PageQuery, page
from arena.api.registry import PREFIX, Routes
from arena.api.schemas import UserChange, UserItem, UserName, UserWish
from arena.http.call import Answer, Call
from arena.http.problem import Problem, not_found
from arena.store import NotFoundError
from arena.store.credentials import hash_password

routes = Routes()


@routes.get("/users", tag="users", summary="All users", scope="admin", example="/api/v1/users")
async def list_users(call: Call, query: PageQuery) -> Page[UserItem]:
    """Users by name."""
    rows = await call.run(call.store.users.page, limit=query.limit, after=query.after)
    return page(rows, UserItem.model_validate)


@routes.post(
    "/users",
    tag="users",
    summary="Make a user",
    scope="admin",
    status=201,
    is_idempotent=True,
    confides="request",
    problems=("conflict",),
    example="""/api/v1/users -d '{"name": "ada", "role": "organiser"}'""",
)
async def make(call: Call, body: UserWish) -> Answer[UserItem]:
    """A new user. Without a password there is no log-in by form: give them a token then."""
    hashed = await _hashed(call, body.password)
    row = await call.run(call.store.users.add, body.name, body.role, hashed)
    await call.note("user.make", f"user:{body.name}", role=body.role)
    headers = {"Location": f"{PREFIX}/users/{body.name}"}
    return Answer(UserItem.model_validate(row), status=201, headers=headers, is_private=True)


@routes.get("/users/{user}", tag="users", summary="A user", scope="admin", example="/api/v1/users/arena")
async def show(call: Call, user: UserName) -> UserItem:
    """One user."""
    try:
        return UserItem.model_validate(await call.run(call.store.users.find, user))
    except NotFoundError:
        raise not_found("user", user) from None


@routes.patch(
    "/users/{user}",
    tag="users",
    summary="Change a user",
    scope="admin",
    example="""/api/v1/users/ada -d '{"is_active": false}'""",
)
async def change(call: Call, user: UserName, body: UserChange) -> UserItem:
    """Another role, another password, or an end. All browser sessions of the user end."""
    if user == call.user.name and (body.is_active is False or body.role not in (None, "admin")):
        raise Problem("forbidden", "you cannot take your own rights", hint="another admin can")
    hashed = await _hashed(call, body.password)
    try:
        row = await call.run(
            call.store.users.change, user, role=body.role, password_hash=hashed, is_active=body.is_active
        )
    except NotFoundError:
        raise not_found("user", user) from None
    changed = sorted(body.model_fields_set)
    await call.note("user.change", f"user:{user}", changed=changed, role=row.role, is_active=row.is_active)
    return UserItem.model_validate(row)


async def _hashed(call: Call, password: str | None) -> str | None:
    if password is None:
        return None
    async with call.context.hashing:
        return await call.run(hash_password, password)
