import json
import pickle
from dataclasses import fields

import pytest

from referee.game.record import GameRecord, Ply, now, read_record
from referee.rules.core import Kind, Termination

PLIES = (
    Ply(1.234, 1.2, 0.034, -15, 7, 123_456, pv="e3e4 d5d6"),
    Ply(0.5, 0.5),
    Ply(book=True),
)


def record(*plies: Ply) -> GameRecord:
    return GameRecord(
        id="g",
        family="loa",
        variant="standard",
        options={},
        position="8/8 w",
        first="one",
        second="two",
        winner="first",
        termination=Termination.RESIGNED,
        kind=Kind.FORFEIT,
        moves=("a1a2",) * len(plies),
        plies=plies,
        started=now(),
        finished=now(),
    )


def test_ply_as_json_names_every_field_but_the_move() -> None:
    names = [field.name for field in fields(Ply) if field.name != "move"]
    assert list(Ply(pv="e3e4").as_json()) == names
    assert list(Ply().as_json()) == [name for name in names if name != "pv"]
    assert all(value == getattr(PLIES[0], name) for name, value in PLIES[0].as_json().items())


@pytest.mark.parametrize("plies", [(), PLIES, (*PLIES, Ply(move="a1a2", ms=3.0))])
def test_record_pickled_keeps_every_value(plies: tuple[Ply, ...]) -> None:
    game = record(*plies)
    assert pickle.loads(pickle.dumps(game)) == game


def test_record_line_read_again_is_the_record() -> None:
    one = record(*PLIES)
    assert read_record(one.line()) == one
    assert json.loads(one.line()) == json.loads(json.dumps(one.as_json()))
