"""Read permissions for games and logs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arena.documents.game import LogResponse
from arena.errors import ForbiddenError, NotFoundError
from arena.services import Arena, game
from tests.arena.field import Field, record_of
from tests.arena.services.conftest import Person


def test_only_owner_and_organisers_read_a_log(arena: Arena, person: Person) -> None:
    field = Field(arena.store)
    spec, waiting = field.plan(2)
    arena.store.results.commit(replace(record_of(spec), logs={"first": "hello"}))
    zoe = replace(person("mask"), name="zoe")
    assert game.read_log(arena, spec.id, "first", zoe) == LogResponse(spec.id, "first", spec.spec.first.name, "hello")
    assert game.read_log(arena, spec.id, "second", person("olga", "organiser")).log == ""
    with pytest.raises(ForbiddenError, match="for its owner, zoe"):
        game.read_log(arena, spec.id, "first", person("bob"))
    with pytest.raises(game.NoLogError, match="has no log yet: it is planned") as caught:
        game.read_log(arena, waiting.id, "first", zoe)
    assert (caught.value.kind, caught.value.extra) == ("not-found", {"state": "planned"})
    with pytest.raises(NotFoundError):
        game.read_log(arena, "0" * 16, "first", zoe)


def test_read_game_before_and_after_its_end(arena: Arena) -> None:
    field = Field(arena.store)
    (spec,) = field.plan(1)
    found = game.read(arena, spec.id)
    assert (found.record, dict(found.changes), set(found.owners.values())) == (None, {}, {"zoe"})
    arena.store.results.commit(record_of(spec))
    found = game.read(arena, spec.id)
    assert found.record is not None
    assert set(found.changes) == set(found.owners) == {found.version_of("first"), found.version_of("second")}
