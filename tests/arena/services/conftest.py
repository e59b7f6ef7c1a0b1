"""An arena without a web server, for calling use cases directly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from arena.config_file import read_settings
from arena.credentials import scopes_of
from arena.documents.account import Identity
from arena.services import Arena
from arena.store import Store
from tests.arena.services.ear import Ear

Person = Callable[..., Identity]


@pytest.fixture
def ear() -> Ear:
    return Ear()


@pytest.fixture
def arena(sqlite_store: Store, tmp_path: Path, ear: Ear) -> Arena:
    settings = read_settings(None, data=tmp_path, allow_weak_sandbox=True, quota_versions=2)
    return Arena(sqlite_store, settings, ear)


@pytest.fixture
def person(arena: Arena) -> Person:
    """Return a factory of users: `person("ada", "organiser")`."""

    def make(name: str, role: str = "author") -> Identity:
        user = arena.store.users.add(name, role)
        return Identity(user.id or 0, name, role, scopes_of(role))

    return make
