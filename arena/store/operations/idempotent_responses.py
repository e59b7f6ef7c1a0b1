"""Responses to requests with an idempotency key, returned again when a request is repeated."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from arena.clock import now
from arena.store.base.engine import Repository
from arena.store.base.tables.operations import IdempotentResponse

RESPONSES_RETENTION = timedelta(hours=24)
"""Retention of a response to a request with an idempotency key."""
ABANDONED = timedelta(minutes=15)
"""Age from which an unanswered request counts as abandoned: its process has died."""


class IdempotentResponses(Repository):
    """Stored responses by user and idempotency key."""

    def begin(self, user_id: int, key: str, route: str, digest: str) -> IdempotentResponse | None:
        """Reserve an idempotency key; return the response already stored under it, or None.

        `status` 0 means that the first request is still in progress. The caller compares the stored `route`
        and `digest` with those of its request.
        """
        at, created_at = now(), col(IdempotentResponse.created_at)
        abandoned = (col(IdempotentResponse.status) == 0) & (created_at < at - ABANDONED)
        with self._sessions.writing() as session:
            session.execute(delete(IdempotentResponse).where((created_at < at - RESPONSES_RETENTION) | abandoned))
        try:
            with self._sessions.writing() as session:
                session.add(IdempotentResponse(user_id=user_id, key=key, route=route, digest=digest, status=0))
        except IntegrityError:
            with self._sessions.reading() as session:
                return session.get(IdempotentResponse, (user_id, key))
        return None

    def end(self, user_id: int, key: str, status: int, body: Mapping[str, Any]) -> None:
        """Store the response, which further requests with this key get."""
        with self._sessions.writing() as session:
            mine = (col(IdempotentResponse.user_id) == user_id, col(IdempotentResponse.key) == key)
            session.execute(update(IdempotentResponse).where(*mine).values(status=status, body=dict(body)))

    def drop(self, user_id: int, key: str) -> None:
        """Delete the key of a failed request, which may then be sent again."""
        with self._sessions.writing() as session:
            session.execute(
                delete(IdempotentResponse).where(
                    col(IdempotentResponse.user_id) == user_id, col(IdempotentResponse.key) == key
                )
            )
