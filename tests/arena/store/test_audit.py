"""The audit log."""

from __future__ import annotations

from arena.store import Store
from tests.arena.field import Field


def test_audit(store: Store, field: Field) -> None:
    for number in range(5):
        store.audit.note("bot.retire", f"bot:{number % 2}", field.user_id, reason=number)
    assert [line.detail["reason"] for line in store.audit.page(limit=3).items] == [4, 3, 2]
    assert [line.detail["reason"] for line in store.audit.page(subject="bot:1").items] == [3, 1]
    page = store.audit.page(user_id=field.user_id, limit=2)
    assert [line.detail["reason"] for line in store.audit.page(limit=2, after=page.next).items] == [2, 1]
