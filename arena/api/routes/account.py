"""Who you are, and your tokens. Refuses to know other people (see `arena.api.routes.users`)."""

from __future__ import annotations

from datetime import timedelta

from arena.api.page import Page
from arena.api.registry import PREFIX, Routes
from arena.api.schemas import Account, LoginWish, NewToken, Number, RoleName, TokenItem, TokenWish
from arena.http.call import Answer, Call
from arena.http.identity import too_many
from arena.http.problem import Problem
from arena.store import NotFoundError
from arena.store.credentials import digest_of, new_token, scopes_of, verify_password
from arena.store.models import Token, User, now

routes = Routes()


@routes.get("/account", tag="account", summary="Who you are", scope="read", example="/api/v1/account")
async def show(call: Call) -> Answer[Account]:
    """Your name and role, what this token may do, and what you have in store."""
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
    )
    return Answer(body, keep="never", is_private=True)


@routes.get("/account/tokens", tag="account", summary="Your tokens", scope="read", example="/api/v1/account/tokens")
async def tokens(call: Call) -> Answer[Page[TokenItem]]:
    """All your tokens, oldest first, without their secrets; revoked ones included."""
    rows = await call.run(call.store.users.tokens, call.user.user_id)
    return Answer(Page(items=[_item(row) for row in rows]), keep="never", is_private=True)


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
async def make(call: Call, body: TokenWish) -> Answer[NewToken]:
    """A token that may do no more than this one. Its secret is shown this once.

    The same `Idempotency-Key` again makes no second one: 409 says which token was made.
    """
    if missing := sorted(set(body.scopes) - call.user.scopes):
        raise Problem(
            "forbidden",
            f"you cannot give away the scope {missing[0]!r}",
            field="scopes",
            hint=f"yours are {', '.join(sorted(call.user.scopes))}",
        )
    return await _make(call, call.user.user_id, body)


async def _make(call: Call, user_id: int, wish: TokenWish) -> Answer[NewToken]:
    secret = new_token()
    expires = now() + timedelta(days=wish.days) if wish.days else None
    scopes = " ".join(dict.fromkeys(wish.scopes))
    row = await call.run(call.store.users.add_token, user_id, wish.name, digest_of(secret), scopes, expires)
    await call.run(lambda: call.store.house.note("token.make", f"token:{row.id}", user_id, scopes=scopes))
    body = NewToken(**_item(row).model_dump(), token=secret)
    headers = {"Location": f"{PREFIX}/account/tokens"}
    return Answer(body, status=201, keep="never", headers=headers, is_private=True)


@routes.delete("/account/tokens/{token}", tag="account", summary="Revoke a token", scope="read")
async def revoke(call: Call, token: Number) -> None:
    """Make one of your tokens useless for good. Twice is as good as once."""
    await call.run(call.store.users.revoke, call.user.user_id, token)
    await call.note("token.revoke", f"token:{token}")


@routes.post(
    "/login",
    tag="account",
    summary="Make a token with a password",
    status=201,
    cost="login",
    example="""/api/v1/login -d '{"user": "ada", "password": "…", "name": "laptop", "scopes": ["read"]}'""",
)
async def login(call: Call, body: LoginWish) -> Answer[NewToken]:
    """For programs of people: `arena login` does this. Slow and few: passwords are not for guessing."""
    user = await authenticate(call, body.user, body.password)
    if missing := sorted(set(body.scopes) - scopes_of(user.role)):
        raise Problem("forbidden", f"{user.role}s have no scope {missing[0]!r}", field="scopes")
    assert user.id is not None
    return await _make(call, user.id, body)


async def authenticate(call: Call, name: str, password: str) -> User:
    """The user of a name and a password. Raises Problem: 401 without saying which was wrong, 429 after many tries."""
    if wait := call.context.limiters["login"].take(f"name:{name}"):
        raise too_many(wait)
    try:
        user = await call.run(call.store.users.find, name)
    except NotFoundError:
        user = None
    async with call.context.hashing:  # each takes 64 MiB: few at a time
        is_right = await call.run(verify_password, user.password_hash if user else None, password)
    if not is_right or user is None or not user.is_active:
        await call.run(lambda: call.store.house.note("login.refused", f"user:{name}", None))
        raise Problem("unauthorised", "no user with this name and password")
    return user


def _item(row: Token) -> TokenItem:
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
