"""Idempotency keys: the response to a request is stored under its key, and returned when the request is repeated.

Reusing a key for a different request is an error, and so is a repetition while the first request is running.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import Any

from arena.documents.account import Identity
from arena.errors import BadValueError, ConflictError
from arena.services.arena import Arena


def digest_of(content: bytes, secret: str = "") -> str:
    """Return the digest that identifies a request.

    If the request has a password, the digest is keyed with a secret of the caller, so that it reveals nothing.
    """
    return (hmac.digest(secret.encode(), content, "sha256") if secret else hashlib.sha256(content).digest()).hex()


def begin(arena: Arena, by: Identity, key: str, route: str, digest: str) -> tuple[int, Mapping[str, Any]] | None:
    """Reserve a key; return the status and the response stored under it, or None for a new key.

    Raises BadValueError if it was used for a different request, ConflictError while the first request is running.
    """
    known = arena.store.idempotent_responses.begin(by.user_id, key, route, digest)
    if known is None:
        return None
    if (known.route, known.digest) != (route, digest):
        raise BadValueError("this key was used for a different request", hint="use a new key")
    if not known.status:
        raise ConflictError("the first request with this key is still running")
    return known.status, known.body


def end(arena: Arena, by: Identity, key: str, status: int, body: Mapping[str, Any]) -> None:
    arena.store.idempotent_responses.end(by.user_id, key, status, body)


def drop(arena: Arena, by: Identity, key: str) -> None:
    """Delete the key of a failed request, which may then be sent again."""
    arena.store.idempotent_responses.drop(by.user_id, key)
