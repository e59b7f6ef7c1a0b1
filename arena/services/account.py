"""Who somebody is: a name and a password, and the session of a browser."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from arena.errors import UnauthorisedError
from arena.services.arena import Arena
from arena.store import Identity, NotFoundError
from arena.store.credentials import digest_of, new_secret, scopes_of, verify_password
from arena.store.models import now


@dataclass(frozen=True, slots=True)
class Session:
    """A browser's session: what its cookie holds, and for how long."""

    secret: str
    seconds: int


def authenticate(arena: Arena, name: str, password: str) -> Identity:
    """Who has this name and this password, with all that the role allows; takes most of a second of a core, and 64 MiB.

    Raises UnauthorisedError without saying which of them was wrong.
    """
    try:
        user = arena.store.users.find(name)
    except NotFoundError:
        user = None
    is_right = verify_password(user.password_hash if user else None, password)
    if not is_right or user is None or not user.is_active:
        arena.note("login.refused", f"user:{name}", None)
        raise UnauthorisedError("no user with this name and password")
    assert user.id is not None
    return Identity(user.id, user.name, user.role, scopes_of(user.role))


def log_in(arena: Arena, name: str, password: str) -> Session:
    """A fresh session of a user. Raises UnauthorisedError."""
    user = authenticate(arena, name, password)
    secret = new_secret()
    hours = arena.settings.session_hours
    arena.store.users.add_login(user.user_id, digest_of(secret), new_secret(), now() + timedelta(hours=hours))
    arena.note("login", f"user:{user.name}", user)
    return Session(secret, hours * 3600)


def log_out(arena: Arena, secret: str) -> None:
    """End a session; one that is none is as good as ended."""
    arena.store.users.end_login(digest_of(secret))
