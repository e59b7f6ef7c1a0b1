"""Webhooks and their deliveries in the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.clock import now
from arena.errors import NotFoundError, QuotaError
from arena.features.webhooks.news import News, ended, forfeits, leader
from arena.features.webhooks.tables import Webhook, WebhookDelivery, WebhookMark
from arena.store import Store

MAX_HOOKS = 50
KEPT_DAYS = 30
"""Days for which deliveries are kept that have been made or have failed."""
BACKOFF = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 600))
"""Pauses after each failed attempt; after the last one the delivery has failed."""
_OVERLAP = timedelta(seconds=60)


class Webhooks:
    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, hook: Webhook) -> Webhook:
        """Store a webhook, which gets what happens from now on. Raises QuotaError."""
        with self._store.writing() as session:
            count = session.scalar(select(func.count()).select_from(Webhook)) or 0
            if count >= MAX_HOOKS:
                raise QuotaError(f"there are {MAX_HOOKS} webhooks", hint="remove one with `arena webhook remove ID`")
            if not count:
                # Without a webhook the news are not read: they would all come at once.
                session.execute(delete(WebhookMark))
            session.add(hook)
            session.flush()
            session.expunge(hook)
        return hook

    def all(self) -> list[Webhook]:
        """Return all webhooks, oldest first."""
        with self._store.reading() as session:
            hooks = list(session.scalars(select(Webhook).order_by(col(Webhook.id))))
            session.expunge_all()
        return hooks

    def get(self, number: int) -> Webhook:
        """Return a webhook. Raises NotFoundError."""
        hooks = {hook.id: hook for hook in self.all()}
        if number not in hooks:
            raise NotFoundError("webhook", str(number), [str(known) for known in hooks])
        return hooks[number]

    def remove(self, number: int) -> None:
        """Remove a webhook with its deliveries. Raises NotFoundError."""
        self.get(number)
        with self._store.writing() as session:
            session.execute(delete(WebhookDelivery).where(col(WebhookDelivery.hook_id) == number))
            session.execute(delete(Webhook).where(col(Webhook.id) == number))

    def deliveries(self, number: int, limit: int = 50) -> list[WebhookDelivery]:
        """Return the latest deliveries of a webhook, latest first. Raises NotFoundError."""
        self.get(number)
        query = (
            select(WebhookDelivery)
            .where(col(WebhookDelivery.hook_id) == number)
            .order_by(col(WebhookDelivery.id).desc())
            .limit(limit)
        )
        with self._store.reading() as session:
            deliveries = list(session.scalars(query))
            session.expunge_all()
        return deliveries

    def read_news(self) -> int:
        """Queue what has happened since the last call for each webhook that wants it; return the number of deliveries.

        The first call only notes how far the news have come.
        """
        hooks = self.all()
        if not hooks:
            return 0
        with self._store.reading() as session:
            marks = {mark.name: mark.value for mark in session.scalars(select(WebhookMark))}
            key = col(WebhookDelivery.key)
            known = set(session.scalars(select(key).where(key.startswith("end "))))
        is_first = "commit" not in marks
        marks.setdefault("commit", self._store.results.last_commit())
        marks.setdefault("end", int(now().timestamp()))
        news, last, pools = forfeits(self._store, marks["commit"])
        if is_first:
            pools = {item.pool for item in self._store.ratings.pools()}
        # The end of a tournament may be committed after a later one.
        since = datetime.fromtimestamp(marks["end"], UTC) - _OVERLAP
        marks["end"] = int(now().timestamp())
        if any("end" in hook.news for hook in hooks):
            news += ended(self._store, since, known)
        for pool in sorted(pools):
            leads = leader(self._store, pool, last)
            if leads is None:
                continue
            news_of_leader, version = leads
            if marks.setdefault(f"leader {pool}", version) != version:
                news.append(news_of_leader)
                marks[f"leader {pool}"] = version
        marks["commit"] = last
        with self._store.writing() as session:
            for name, value in marks.items():
                session.merge(WebhookMark(name=name, value=value))
            return sum(_queue(session, hook, news) for hook in hooks)

    def due(self, limit: int) -> list[tuple[Webhook, WebhookDelivery]]:
        """Return deliveries whose time has come, with their webhooks, those that wait longest first."""
        query = (
            select(Webhook, WebhookDelivery)
            .join(WebhookDelivery, col(WebhookDelivery.hook_id) == col(Webhook.id))
            .where(col(WebhookDelivery.state) == "waiting", col(WebhookDelivery.next_at) <= now())
            .order_by(col(WebhookDelivery.next_at), col(WebhookDelivery.id))
            .limit(limit)
        )
        with self._store.reading() as session:
            rows = [(hook, delivery) for hook, delivery in session.execute(query)]
            session.expunge_all()
        return rows

    def note(self, number: int, status: int | None, problem: str) -> None:
        """Note an attempt: delivered without a `problem`, else to be tried again until the pauses are used up."""
        with self._store.writing() as session:
            delivery = session.get(WebhookDelivery, number)
            if delivery is None:  # the webhook was removed meanwhile
                return
            delivery.status, delivery.problem = status, problem[:300]
            delivery.tries += 1
            if not problem:
                delivery.state = "delivered"
            elif delivery.tries > len(BACKOFF):
                delivery.state = "failed"
            else:
                delivery.next_at = now() + BACKOFF[delivery.tries - 1]

    def forget(self, before: datetime) -> int:
        """Delete deliveries that are no longer waiting and are older than `before`; return their number."""
        old = (col(WebhookDelivery.state) != "waiting", col(WebhookDelivery.created_at) < before)
        with self._store.writing() as session:
            return int(session.execute(delete(WebhookDelivery).where(*old)).rowcount)  # type: ignore[attr-defined]


def _queue(session: Session, hook: Webhook, news: Sequence[News]) -> int:
    """Queue the news that a webhook wants and does not have yet; return their number."""
    wanted = {item.key: item for item in news if item.kind in hook.news}
    mine = (col(WebhookDelivery.hook_id) == hook.id, col(WebhookDelivery.key).in_(list(wanted)))
    known = set(session.scalars(select(col(WebhookDelivery.key)).where(*mine))) if wanted else set()
    new = [item for key, item in wanted.items() if key not in known]
    for item in new:
        session.add(WebhookDelivery(hook_id=hook.id, key=item.key, news=asdict(item), next_at=now()))
    return len(new)
