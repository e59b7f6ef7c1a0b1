"""Plies packed: the same as one by one, in a fraction of the time."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.plies import Plies, Ply
from referee.record import read_record
from tests.referee.conftest import a_record

_MS = st.integers(0, 10**10).map(lambda us: us / 1000)
_NUMBER = st.none() | st.integers(-(10**9), 10**9)
_LINE = st.sampled_from(["", "b1b3 h4f2", 'a"\\b'])
_PLIES = st.lists(st.builds(Ply, _MS, _MS, _MS, _NUMBER, _NUMBER, _NUMBER, st.booleans(), _LINE), max_size=5)


@given(_PLIES)
def test_what_went_in_comes_out(plies: list[Ply]) -> None:
    packed = Plies(plies)
    assert list(packed) == plies
    assert [packed[number] for number in range(len(packed))] == plies
    assert packed[-2:] == tuple(plies[-2:])
    assert packed == plies
    assert tuple(plies) == packed
    assert pickle.loads(pickle.dumps(packed)) == packed
    assert packed != Plies([*plies, Ply()])


@given(_PLIES)
def test_a_record_is_written_the_same_whichever_way_its_plies_are_kept(plies: list[Ply]) -> None:
    loose = a_record(moves=("b1b3",) * len(plies), plies=tuple(plies), logs={"first": '"plies":[]'}, worker="one")
    packed = replace(loose, plies=Plies(plies))
    assert packed.line() == loose.line() == json.dumps(packed.as_json(), separators=(",", ":"), ensure_ascii=False)
    assert packed == loose == read_record(packed.line())
    again = pickle.loads(pickle.dumps(packed))
    assert again == packed
    assert again.line() == packed.line()


def test_a_change_of_any_part_is_another_record() -> None:
    plies = [Ply(1.0, 0.5, 0.25, 10, 2, 300), Ply(book=True)]
    for number, other in enumerate([(2.0,), (1.0, 0.6), (1.0, 0.5, 0.3), (1.0, 0.5, 0.25, 11)]):
        assert Plies([Ply(*other), plies[1]]) != Plies(plies), number
    assert Plies(plies) != Plies([plies[0], Ply()])
    assert Plies() == ()


def test_a_place_that_is_not_there_is_refused() -> None:
    with pytest.raises(IndexError):
        Plies([Ply()])[1]
