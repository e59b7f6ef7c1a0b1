"""Games over HTTP in the notation of their family."""

from __future__ import annotations

import pytest

from arena.http.problem import PREFIX
from referee.game.record import GameRecord
from referee.rules import load
from referee.rules.rules import GameText
from tests.arena.api.filled import Arena, play_abalone

MOVES = ("a1b2", "i5h5", "b2c3", "i6h5", "c3d4")


@pytest.fixture(scope="module")
def played(arena: Arena) -> GameRecord:
    return play_abalone(arena.store, MOVES)


def test_a_game_in_aba_pro(arena: Arena, played: GameRecord) -> None:
    reply = arena.server.get(f"{PREFIX}/games/{played.id}/record?notation=aba-pro")
    assert reply.status == 200, reply.body
    assert reply.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert reply.headers["Content-Disposition"] == f'attachment; filename="{played.id}.txt"'
    text = reply.body.decode()
    assert text.splitlines()[-1] == "1.a1b2 i5h5 2.b2c3 i6h5 3.c3d4"
    assert f'[First "{played.first}"]' in text


@pytest.mark.parametrize("form", load("abalone").formats, ids=lambda form: form.name)
def test_a_game_in_a_notation_is_read_back(arena: Arena, played: GameRecord, form) -> None:
    reply = arena.server.get(f"{PREFIX}/games/{played.id}/record?notation={form.name}")
    tags = {"First": played.first, "Second": played.second, "Date": played.started[:10], "Id": played.id}
    found = form.read(reply.body.decode(), load("abalone").settle())
    assert found == [GameText(MOVES, played.variant, {}, None, tags, "1-0")]
