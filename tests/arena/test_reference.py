"""The reference of all keys matches the models."""

from __future__ import annotations

from arena.config import Settings
from arena.tournaments.settings import Document
from arena.validation import keys
from tests.arena.reference import FILE, text


def test_the_reference_is_made_from_the_models() -> None:
    assert FILE.read_text(encoding="utf-8") == text(), "python -m tests.arena.reference writes it"


def test_every_key_is_in_it() -> None:
    found = FILE.read_text(encoding="utf-8")
    for key in (*keys(Document), *Settings.model_fields):
        assert f"| `{key.rpartition('.')[2]}` |" in found, key
