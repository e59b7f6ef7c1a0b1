"""Analyses on request: of finished games and of positions; their marks in game texts."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest

from arena.collections.notation import write_record
from arena.config import Settings
from arena.documents.account import Identity
from arena.documents.analysis import AnalysedMove, PositionRequest
from arena.errors import BadValueError, ConflictError, NotFoundError
from arena.services import Arena, analysis
from arena.store import Store
from referee.rules import load
from tests.arena.field import Field
from tests.arena.store.games.test_analyses import figures

DATA: dict[str, Any] = {
    "game": "",
    "nodes": 10_000,
    "plies": [
        asdict(AnalysedMove(1, "first", "b1b3", 30, 0.2, "c1c3", 0.4, "??", "c1c3 a2c2")),
        asdict(AnalysedMove(2, "second", "a2c2", 30, 0.2, "a2c2", 0.0, "", "a2c2")),
    ],
}


@pytest.fixture
def arena(sqlite_store: Store) -> Arena:
    return Arena(sqlite_store, Settings())


def who(arena: Arena, name: str = "ada") -> Identity:
    user = arena.store.users.add(name)
    assert user.id is not None
    return Identity(user.id, name, "author", ("read", "submit"))


def test_game_is_analysed_only_when_over(arena: Arena) -> None:
    field, ada = Field(arena.store), who(arena)
    (game,) = field.play(1)
    (planned,) = field.plan(1, first_sequence=2)
    assert analysis.read(arena, game.id).state == "none"
    with pytest.raises(NotFoundError):
        analysis.read(arena, "0" * 16)
    assert analysis.ask(arena, game.id, ada).state == "waiting"
    assert analysis.ask(arena, game.id, ada).state == "waiting"
    with pytest.raises(ConflictError, match="when it is over"):
        analysis.ask(arena, planned.id, ada)
    with pytest.raises(NotFoundError):
        analysis.ask(arena, "0" * 16, ada)
    with pytest.raises(BadValueError, match="nodes"):
        analysis.ask(arena, game.id, ada, 10**9)
    arena.store.analyses.put(figures(game.id), DATA)
    analysed = analysis.ask(arena, game.id, ada)
    assert (analysed.state, analysed.by_ply[1].mark) == ("done", "??")
    assert arena.store.analyses.next() is None
    analysis.ask(arena, game.id, ada, 50_000)
    task = arena.store.analyses.next()
    assert task is not None
    assert task.nodes == 50_000


def test_annotated_adds_marks_unless_people_gave_some(arena: Arena) -> None:
    (game,) = Field(arena.store).play(1)
    assert analysis.annotated(arena, game).marks == {}
    arena.store.analyses.put(figures(game.id), DATA)
    assert analysis.annotated(arena, game).marks == {1: "??"}
    rules = load("loa").settle()
    whole = replace(analysis.annotated(arena, game), position=rules.write(rules.read()))
    assert "?? " in write_record(whole, load("loa").formats[0].name)
    assert analysis.annotated(arena, replace(game, marks={2: "!"})).marks == {2: "!"}


def test_position_is_analysed_on_request(arena: Arena) -> None:
    ada = who(arena)
    line = analysis.read_question(PositionRequest(family="loa", moves="b1b3 a2c2"))
    question = analysis.ask_position(arena, line, ada)
    assert not question.is_done
    assert analysis.read_answer(arena, question.id, ada) == question
    task = arena.store.analyses.next()
    assert task is not None
    assert (task.request, task.nodes) == (question.id, analysis.POSITION_NODES)
    with pytest.raises(NotFoundError):
        analysis.read_answer(arena, question.id, who(arena, "eve"))
    with pytest.raises(BadValueError, match="is illegal"):
        analysis.read_question(PositionRequest(family="loa", moves="a1a8"))
    with pytest.raises(BadValueError, match="chess"):
        analysis.read_question(PositionRequest(family="chess"))
