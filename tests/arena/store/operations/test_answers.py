"""Stored responses to repeated requests."""

from __future__ import annotations

from arena.store import Store
from tests.arena.field import Field


def test_begin_repeated_key_returns_stored_response(store: Store, field: Field) -> None:
    begin = store.idempotent_responses.begin
    assert begin(field.user_id, "key", "POST /bots", "digest") is None
    again = begin(field.user_id, "key", "POST /bots", "digest")
    assert again is not None
    assert again.status == 0
    store.idempotent_responses.end(field.user_id, "key", 201, {"name": "zeta"})
    again = begin(field.user_id, "key", "POST /bots", "digest")
    assert again is not None
    assert (again.status, again.body) == (201, {"name": "zeta"})
    store.idempotent_responses.drop(field.user_id, "key")
    assert begin(field.user_id, "key", "POST /bots", "digest") is None
