"""The audit log."""

from __future__ import annotations

from datetime import timedelta

from arena.clock import now
from arena.documents.service import AuditQuery
from arena.store import Store
from tests.arena.field import Field


def test_page_filters_by_subject_and_user(store: Store, field: Field) -> None:
    for number in range(5):
        store.audit.note("bot.retire", f"bot:{number % 2}", field.user_id, reason=number)
    assert [line.detail["reason"] for line in store.audit.page(AuditQuery(limit=3)).items] == [4, 3, 2]
    assert [line.detail["reason"] for line in store.audit.page(AuditQuery(subject="bot:1")).items] == [3, 1]
    store.audit.note("bot.retire", "bot:2", store.users.add("zed").id, reason=5)
    page = store.audit.page(AuditQuery(user=store.users.get(field.user_id).name, limit=2))
    assert [line.detail["reason"] for line in page.items] == [4, 3]
    assert [line.detail["reason"] for line in store.audit.page(AuditQuery(limit=2, after=page.next)).items] == [2, 1]


def test_since_returns_recent_actions(store: Store) -> None:
    for action in ("bot.retire", "worker.shut-out", "worker.verified", "worker.throttled"):
        store.audit.note(action, "worker:one")
    found = store.audit.since(now() - timedelta(hours=1), "worker.shut-out", "worker.throttled")
    assert [line.action for line in found] == ["worker.throttled", "worker.shut-out"]
    assert store.audit.since(now() + timedelta(hours=1), "worker.shut-out") == []
