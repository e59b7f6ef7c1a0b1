"""User administration. Passwords come in, only hashes are stored."""

from __future__ import annotations

from arena.credentials import SCOPES, hash_password, new_password
from arena.documents.identity import Identity
from arena.errors import ForbiddenError
from arena.services import token
from arena.services.arena import Arena
from arena.store.base.models import User


def add(arena: Arena, name: str, role: str, password: str | None, by: Identity | None = None) -> User:
    """Create a user; without a password they can use tokens only. Raises BadValueError, CredentialError, TakenError."""
    user = arena.store.users.add(name, role, hash_password(password, name) if password is not None else None)
    arena.note("user.make", f"user:{user.name}", by, role=user.role)
    return user


def change(
    arena: Arena,
    name: str,
    *,
    role: str | None = None,
    password: str | None = None,
    is_active: bool | None = None,
    revoke_tokens: bool = False,
    by: Identity | None = None,
) -> User:
    """Change role, password or activation of a user; None leaves a value unchanged.

    All browser sessions of the user end; `revoke_tokens` also revokes all API tokens. Raises NotFoundError,
    BadValueError, CredentialError, and ForbiddenError if admins would remove their own rights.
    """
    if by is not None and name == by.name and (is_active is False or role not in (None, "admin")):
        raise ForbiddenError("you cannot remove your own rights", hint="ask another admin")
    hashed = hash_password(password, name) if password is not None else None
    user = arena.store.users.change(name, role=role, password_hash=hashed, is_active=is_active)
    assert user.id is not None
    if hashed is not None:
        arena.store.trusted_devices.forget(user.id)
    if revoke_tokens:
        arena.store.users.revoke_all(user.id)
    given = {"role": role, "password": password, "is_active": is_active, "revoke_tokens": revoke_tokens or None}
    changed = sorted(word for word, value in given.items() if value is not None)
    arena.note("user.change", f"user:{user.name}", by, changed=changed, role=user.role, is_active=user.is_active)
    return user


def ensure_admin(arena: Arena, name: str) -> tuple[str, str] | None:
    """Create the first administrator and return its password and token, which are not stored; None if one exists.

    Raises TakenError.
    """
    if arena.store.users.count("admin"):
        return None
    password = new_password()
    user = arena.store.users.add(name, "admin", hash_password(password))
    _, secret = token.create_for(arena, user, "from arena init", SCOPES)
    arena.store.audit.note("arena.init", f"user:{name}", user.id)
    return password, secret
