"""Answers to requests with an idempotency key, given again when the request is repeated."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from arena.store.base.engine import Sessions
from arena.store.base.models import Answer, now

ANSWERS_KEPT = timedelta(hours=24)
"""How long the answer to a request with an idempotency key is given again."""


class Answers:
    """By user and key."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def begin(self, user_id: int, key: str, route: str, digest: str) -> Answer | None:
        """Reserve an idempotency key; what is stored under it already, if anything.

        `status` 0 means that the first request is still at work. The caller compares `route` and `digest`.
        """
        with self._sessions.writing() as session:
            session.execute(delete(Answer).where(col(Answer.created_at) < now() - ANSWERS_KEPT))
        try:
            with self._sessions.writing() as session:
                session.add(Answer(user_id=user_id, key=key, route=route, digest=digest, status=0))
        except IntegrityError:
            with self._sessions.reading() as session:
                return session.get(Answer, (user_id, key))
        return None

    def end(self, user_id: int, key: str, status: int, body: Mapping[str, Any]) -> None:
        """Keep what was answered."""
        with self._sessions.writing() as session:
            mine = (col(Answer.user_id) == user_id, col(Answer.key) == key)
            session.execute(update(Answer).where(*mine).values(status=status, body=dict(body)))

    def drop(self, user_id: int, key: str) -> None:
        """Forget a key whose request came to nothing: it may be sent again."""
        with self._sessions.writing() as session:
            session.execute(delete(Answer).where(col(Answer.user_id) == user_id, col(Answer.key) == key))
