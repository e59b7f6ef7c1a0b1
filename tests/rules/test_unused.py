"""Options and terminations that the rules of a family declare and never use."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.family_template.family import RULES
from referee.rules import load
from referee.rules.core import Termination
from referee.rules.record_invariants import (
    every_option_changes_something,
    every_reason_ends_a_game,
    unused_options,
    unused_reasons,
)
from referee.rules.rules import Option
from referee.verify.conformance import check_conformance

SWITCH = Option("promotion", "check", False, "result", "a pawn becomes a queen")
CHOICE = Option("colour", "combo", "red", "moves", "the colour of the pawns", values=("red", "green", "blue"))
NUMBER = Option("pawns", "spin", 3, "display", "the number of pawns")
DANCE = Termination.by_rules("template-dance", "the pawns danced")


def test_option_that_the_kernel_never_reads_is_named_with_its_values():
    rules = replace(RULES, options=(*RULES.options, SWITCH, CHOICE, NUMBER))
    names = ("promotion (false, true)", "colour (red, green, blue)", "pawns (0, 1, 2, 3, 4, 6, 20, 60)")
    assert unused_options(RULES) == ()
    assert unused_options(rules) == names
    with pytest.raises(AssertionError, match=r"between values of promotion \(false, true\), colour .*rare_positions"):
        every_option_changes_something(rules)


def test_value_that_is_like_another_is_named():
    moves = Option("no_moves", "combo", "pass", "moves", "no move is left", values=("pass", "loss", "draw", "stop"))
    loa = load("loa")
    options = tuple(moves if option.name == "no_moves" else option for option in loa.options)
    (unused,) = unused_options(replace(loa, options=options))
    assert unused.startswith("no_moves (")
    assert "stop" in unused


def test_termination_that_no_game_ends_by_is_named():
    assert unused_reasons(RULES) == ()
    rules = replace(RULES, reasons=(*RULES.reasons, DANCE))
    assert unused_reasons(rules) == ("template-dance",)
    with pytest.raises(AssertionError, match=r"no position ends a game by template-dance; use it in the kernel"):
        every_reason_ends_a_game(rules)


def test_conformance_names_what_is_unused():
    rules = replace(RULES, options=(*RULES.options, SWITCH), reasons=(*RULES.reasons, DANCE))
    broken = {result.invariant: result.problem for result in check_conformance(rules, 1, 1) if result.problem}
    assert "promotion" in broken["every option changes something"]
    assert "template-dance" in broken["every reason ends a game"]
