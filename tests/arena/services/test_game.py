"""Read permissions for games and logs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arena.documents.game import GameQuery, LogResponse
from arena.errors import ForbiddenError, NotFoundError
from arena.services import Arena, game
from tests.arena.field import Field, record_of
from tests.arena.services.conftest import Person
from tests.arena.store.games.test_analyses import figures


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
    details = game.read(arena, spec.id)
    assert (details.record, dict(details.changes), set(details.owners.values())) == (None, {}, {"zoe"})
    arena.store.results.commit(record_of(spec))
    details = game.read(arena, spec.id)
    assert details.record is not None
    assert set(details.changes) == set(details.owners) == {details.version_of("first"), details.version_of("second")}


def test_search_filters_and_sorts_results(arena: Arena) -> None:
    field = Field(arena.store)
    played = field.play(4)
    ids = [record.id for record in reversed(played)]
    first = game.search(arena, GameQuery(limit=3))
    rest = game.search(arena, GameQuery(limit=3, after=first.next))
    assert [[line.id for line in page.items] for page in (first, rest)] == [ids[:3], ids[3:]]
    won = game.search(arena, GameQuery(bot="ada", winner="first")).items
    assert {line.id for line in won} == {
        record.id for record in played if record.winner == "first" and "ada v1" in (record.first, record.second)
    }
    arena.store.analyses.put(figures(ids[1], blunders=2), {})
    arena.store.analyses.put(figures(ids[3], blunders=5), {})
    rising = GameQuery(sort="blunders", order="rising")
    assert [line.id for line in game.search(arena, rising).items] == [ids[1], ids[3]]
    assert [line.id for line in game.search(arena, GameQuery(blunders=3)).items] == [ids[3]]
    assert len(list(game.records(arena, GameQuery(tournament=field.tournament_id)))) == 4
    for query in (GameQuery(bot="eve"), GameQuery(tournament=99)):
        with pytest.raises(NotFoundError):
            game.search(arena, query)


def test_neighbours_are_those_of_the_plan_and_the_pair(arena: Arena) -> None:
    field = Field(arena.store)
    lines = [game.find(arena, one.id) for one in field.plan(3)]
    before, following, swapped = game.neighbours(arena, lines[1])
    assert (before, following) == (lines[0], lines[2])
    assert swapped is None, "the bots of neighbours differ"
    assert game.neighbours(arena, lines[0]).before is None
    assert game.neighbours(arena, lines[2]).following is None
