"""Stored responses to repeated requests."""

from __future__ import annotations

from datetime import timedelta

import pytest

from arena.clock import now
from arena.store import Store
from arena.store.operations import idempotent_responses as responses
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


def test_begin_key_of_a_request_that_died_reserves_it_again(
    store: Store, field: Field, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = store.idempotent_responses.begin
    assert begin(field.user_id, "key", "POST /bots", "digest") is None
    monkeypatch.setattr(responses, "now", lambda: now() + responses.ABANDONED - timedelta(seconds=5))
    assert begin(field.user_id, "key", "POST /bots", "digest") is not None
    monkeypatch.setattr(responses, "now", lambda: now() + responses.ABANDONED + timedelta(seconds=5))
    assert begin(field.user_id, "key", "POST /bots", "digest") is None
    store.idempotent_responses.end(field.user_id, "key", 200, {})
    monkeypatch.setattr(responses, "now", lambda: now() + 3 * responses.ABANDONED)
    assert begin(field.user_id, "key", "POST /bots", "digest") is not None
