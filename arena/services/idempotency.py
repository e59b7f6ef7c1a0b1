"""Idempotency keys: the response to a request is stored under its key, and returned when the request is repeated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena.documents.identity import Identity
from arena.services.arena import Arena
from arena.store.base.models import IdempotentResponse


def begin(arena: Arena, by: Identity, key: str, route: str, digest: str) -> IdempotentResponse | None:
    """Reserve a key; return the response stored under it, with status 0 while its request runs, or None."""
    return arena.store.idempotent_responses.begin(by.user_id, key, route, digest)


def end(arena: Arena, by: Identity, key: str, status: int, body: Mapping[str, Any]) -> None:
    """Store the response."""
    arena.store.idempotent_responses.end(by.user_id, key, status, body)


def drop(arena: Arena, by: Identity, key: str) -> None:
    """Delete the key of a failed request, which may then be sent again."""
    arena.store.idempotent_responses.drop(by.user_id, key)
