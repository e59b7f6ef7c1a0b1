"""The generated reference of all keys is up to date."""

from __future__ import annotations

from arena.config import Settings
from arena.tournaments.settings import Document
from arena.validation import keys
from tests.arena.reference import FILE, text


def test_the_reference_is_up_to_date() -> None:
    assert FILE.read_text(encoding="utf-8") == text(), "python -m tests.arena.reference writes it"


def test_the_reference_lists_every_key() -> None:
    found = FILE.read_text(encoding="utf-8")
    for key in (*keys(Document), *Settings.model_fields):
        assert f"| `{key.rpartition('.')[2]}` |" in found, key
