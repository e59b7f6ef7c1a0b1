"""The identity that makes a request."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Identity:
    """The caller of a request with its scopes. `csrf` is set for browser sessions, `token_id` for API tokens."""

    user_id: int
    name: str
    role: str
    scopes: frozenset[str]
    token_id: int | None = None
    csrf: str | None = None
