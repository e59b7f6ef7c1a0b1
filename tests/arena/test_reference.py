"""The reference pages of the arena's files have every key of the models."""

from __future__ import annotations

from arena.config import Settings
from arena.tournaments.settings import Document
from arena.validation import keys
from docs.extensions import file_reference


def test_every_key_is_in_the_reference() -> None:
    tournaments, settings = file_reference.tournament_files(), file_reference.settings()
    for key in keys(Document):
        assert f"| `{key.rpartition('.')[2]}` |" in tournaments, key
    for name in Settings.model_fields:
        assert f"| `{name}` |" in settings, name
