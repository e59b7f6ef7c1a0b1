"""Terminations: the referee's own words and each family's, found by their word."""

import pickle

import pytest

from referee.game.record import RecordError, read_record
from referee.rules import families, load, terminations
from referee.rules.core import Kind, Termination
from tests.referee.conftest import a_record


def test_every_word_is_found_again_as_the_one_object():
    for word, one in terminations().items():
        assert Termination(word) is one
        assert pickle.loads(pickle.dumps(one)) is one
        assert one.__reduce_ex__(5) == (Termination, (word,))  # not by its name, as some patch releases of 3.11 do
        assert (str(one), f"{one}", one.value, one) == (word,) * 4


@pytest.mark.parametrize("family", families())
def test_terminations_of_families_have_kind_rules_and_a_sentence(family):
    reasons = load(family).reasons
    assert len(set(reasons)) == len(reasons)
    for one in reasons:
        assert one.kind is Kind.RULES
        assert one.sentence
        assert terminations()[one.value].kind is Kind.RULES


def test_terminations_include_those_of_the_referee():
    assert set(Termination) <= set(terminations().values())
    assert all(one.sentence for one in Termination)


def test_unknown_termination_word_is_rejected():
    with pytest.raises(ValueError, match="worn-out"):
        Termination("worn-out")


def test_a_family_cannot_take_a_word_of_the_referee():
    with pytest.raises(ValueError, match="choose another word"):
        Termination.by_rules("time", "the sand has run out")


def test_record_with_a_family_termination_is_read_again():
    for family in families():
        for one in load(family).reasons:
            line = a_record().line().replace('"draw-agreed"', f'"{one}"').replace('"adjudication"', '"rules"')
            assert read_record(line).termination is Termination(one)
    with pytest.raises(RecordError, match="termination"):
        read_record(a_record().line().replace('"draw-agreed"', '"worn-out"'))
