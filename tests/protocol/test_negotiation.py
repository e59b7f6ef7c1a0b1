"""Tables: what a bot announced, what the game is, what it is told."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.messages import SetOption
from protocol.negotiation import Agreement, Ineligible, plan_setoptions
from protocol.options import parse_option

KINDS = {
    "simultaneous": "result",
    "no_moves": "moves",
    "king_max_step": "moves",
    "king_armed": "moves",
    "repetition": "limits",
    "max_plies": "limits",
    "show_score": "display",
    "swap_phase": "moves",
}
DEFAULTS: dict[str, Any] = {
    "simultaneous": "draw",
    "no_moves": "pass",
    "king_max_step": 8,
    "king_armed": True,
    "repetition": 3,
    "max_plies": 0,
    "show_score": False,
    "swap_phase": False,
}
STANDARD = {
    "family": "loa",
    "variant": "standard",
    "default_variant": "standard",
    "variant_start_only": True,
    "changed_rules": {},
    "rule_kinds": KINDS,
    "rule_defaults": DEFAULTS,
    "setup": None,
    "phase_rule": "swap_phase",
    "phase_option": "SwapPhase",
    "has_phase": False,
}
VARIANT = "option name Variant type combo default standard var standard var scrambled var zen"


def plan(*lines: str, **game: Any) -> Agreement | Ineligible:
    options = {option.name: option for option in map(parse_option, lines)}
    return plan_setoptions(options, **(STANDARD | game))


def told(found: Agreement | Ineligible) -> dict[str, str | None]:
    assert isinstance(found, Agreement), found
    return {message.name: message.value for message in found.setoptions}


def test_a_bot_that_announces_nothing_plays_the_standard_game():
    assert plan() == Agreement((), use_startpos=True, passes_phase=False)


def test_options_of_other_names_are_left_alone():
    lines = ["option name Hash type spin default 1 min 1 max 9", "option name Setup type string default mine"]
    assert plan(*lines) == Agreement()


# Variants ---------------------------------------------------------------------------------------------------------

SCRAMBLED = {"variant": "scrambled"}
ZEN = {"variant": "zen", "variant_start_only": False}


@pytest.mark.parametrize(
    ("line", "game", "sent", "use_startpos"),
    [
        (None, SCRAMBLED, {}, False),
        (VARIANT, {}, {}, True),
        (VARIANT, SCRAMBLED, {"Variant": "scrambled"}, True),
        (VARIANT, ZEN, {"Variant": "zen"}, True),
        (VARIANT, {"variant": "other"}, {}, False),
        ("option name Variant type combo default zen var zen var standard", {}, {"Variant": "standard"}, True),
        ("option name Variant type combo default zen var zen var standard", SCRAMBLED, {"Variant": "standard"}, False),
        ("option name Variant type combo default zen var zen", ZEN, {}, True),
        ("option name Variant type combo default Standard var Standard var Zen", ZEN, {"Variant": "Zen"}, True),
        ("option name Variant type combo var standard var zen", {}, {"Variant": "standard"}, True),
        ("option name Variant type string default standard", ZEN, {"Variant": "zen"}, True),
    ],
)
def test_variants(line, game, sent, use_startpos):
    found = plan(*([line] if line else []), **game)
    assert told(found) == sent
    assert isinstance(found, Agreement)
    assert found.use_startpos is use_startpos


@pytest.mark.parametrize(
    ("line", "game", "words"),
    [
        (None, ZEN, ["has no option Variant", "option name Variant type combo default standard var standard var zen"]),
        ("option name Variant type combo default standard var standard", ZEN, ["does not take it", "var zen"]),
        ("option name Variant type combo default zen var zen", {}, ["does not take standard"]),
        ("option name Variant type combo default zen var zen", SCRAMBLED, ["does not take standard"]),
        ("option name Variant type check default true", {}, ["does not take standard"]),
    ],
)
def test_variants_that_make_a_bot_ineligible(line, game, words):
    found = plan(*([line] if line else []), **game)
    assert isinstance(found, Ineligible)
    for word in words:
        assert word in str(found)


# Rule options -----------------------------------------------------------------------------------------------------

SIMULTANEOUS = "option name Rule.simultaneous type combo default draw var draw var mover"
STEP = "option name Rule.king_max_step type spin default 8 min 2 max 8"
ARMED = "option name Rule.king_armed type check default true"
PLIES = "option name Rule.max_plies type spin default 0 min 0 max 500"


@pytest.mark.parametrize(
    ("lines", "changed", "sent"),
    [
        ([SIMULTANEOUS], {"simultaneous": "mover"}, {"Rule.simultaneous": "mover"}),
        ([SIMULTANEOUS], {}, {}),
        (
            [STEP, ARMED],
            {"king_max_step": 4, "king_armed": False},
            {"Rule.king_max_step": "4", "Rule.king_armed": "false"},
        ),
        ([PLIES], {"max_plies": 300}, {"Rule.max_plies": "300"}),
        ([PLIES], {"max_plies": 501}, {}),
        ([], {"max_plies": 300, "repetition": 2, "show_score": True}, {}),
        # A bot whose own default is not the family's is told the family's.
        (
            ["option name Rule.simultaneous type combo default mover var mover var draw"],
            {},
            {"Rule.simultaneous": "draw"},
        ),
        (["option name Rule.simultaneous type combo default mover var mover var draw"], {"simultaneous": "mover"}, {}),
        (["option name Rule.max_plies type spin default 100 min 0 max 500"], {}, {"Rule.max_plies": "0"}),
        (["option name Rule.king_armed type check"], {}, {"Rule.king_armed": "true"}),
        (
            ["option name Rule.king_armed type spin default 1 min 0 max 1"],
            {"king_armed": False},
            {"Rule.king_armed": "0"},
        ),
        (["option name Rule.unheard_of type check default true"], {}, {}),
    ],
)
def test_rules(lines, changed, sent):
    assert told(plan(*lines, changed_rules=changed)) == sent


@pytest.mark.parametrize(
    ("lines", "changed", "words"),
    [
        ([], {"simultaneous": "mover"}, "option name Rule.simultaneous type combo default draw var draw var mover"),
        ([], {"king_max_step": 4}, "option name Rule.king_max_step type spin default 8 min 4 max 8"),
        ([], {"king_armed": False}, "option name Rule.king_armed type check default true"),
        ([STEP], {"king_max_step": 1}, "does not take that value"),
        ([SIMULTANEOUS], {"no_moves": "loss"}, "Rule.no_moves"),
        (["option name Rule.simultaneous type combo default mover var mover"], {}, "simultaneous=draw"),
        ([], {"brand_new": "x"}, "option name Rule.brand_new type combo default x var x"),
    ],
)
def test_rules_that_make_a_bot_ineligible(lines, changed, words):
    found = plan(*lines, changed_rules=changed)
    assert isinstance(found, Ineligible)
    assert words in found.reason


def test_the_line_a_reason_asks_for_makes_the_bot_eligible():
    changed = {"simultaneous": "mover", "king_max_step": 4, "king_armed": False}
    lines: list[str] = []
    for _ in range(5):
        agreement = plan(*lines, changed_rules=changed, **ZEN)
        if isinstance(agreement, Agreement):
            break
        lines.append(agreement.reason.rpartition("announce: ")[2])
    assert told(agreement) == {
        "Variant": "zen",
        "Rule.simultaneous": "mover",
        "Rule.king_max_step": "4",
        "Rule.king_armed": "false",
    }


# A variant that sets rules ----------------------------------------------------------------------------------------

PRESET = {"variant": "zen", "variant_start_only": False, "variant_rules": {"king_max_step": 4, "king_armed": False}}


def test_a_bot_that_takes_the_variant_need_not_announce_its_rules():
    found = plan(VARIANT, changed_rules={"king_max_step": 4, "king_armed": False}, **PRESET)
    assert told(found) == {"Variant": "zen"}


def test_what_the_variant_sets_is_not_told_again():
    step = "option name Rule.king_max_step type spin default 4 min 1 max 20"
    repetition = "option name Rule.repetition type spin default 3 min 2 max 9"
    found = plan(VARIANT, step, repetition, changed_rules={"king_max_step": 4, "king_armed": False}, **PRESET)
    assert told(found) == {"Variant": "zen"}


def test_rules_set_on_top_of_a_variant_must_be_announced():
    assert isinstance(plan(VARIANT, changed_rules={"king_max_step": 5, "king_armed": False}, **PRESET), Ineligible)
    # The organiser took the variant's own change back: the family's default has to be told.
    assert isinstance(plan(VARIANT, changed_rules={"king_armed": False}, **PRESET), Ineligible)
    found = plan(VARIANT, STEP, changed_rules={"king_armed": False}, **PRESET)
    assert told(found) == {"Variant": "zen", "Rule.king_max_step": "8"}


def test_the_variant_is_told_before_the_rules():
    found = plan(
        PLIES, STEP, VARIANT, changed_rules={"max_plies": 9, "king_max_step": 4, "king_armed": False}, **PRESET
    )
    assert list(told(found)) == ["Variant", "Rule.king_max_step", "Rule.max_plies"]


# Set-ups and swaps ------------------------------------------------------------------------------------------------

SETUP = "option name Setup type string default standard"
SWAP = "option name SwapPhase type check default false"
NUMBERED = {"family": "pijersi", "variant": "pijersi-8100#7", "setup": "pijersi-8100#7"}
PLAIN = {"family": "pijersi", "setup": "standard"}


@pytest.mark.parametrize(
    ("lines", "game", "sent", "use_startpos"),
    [
        ([], PLAIN, {}, True),
        ([], NUMBERED, {}, False),
        ([SETUP], PLAIN, {}, True),
        ([SETUP], NUMBERED, {"Setup": "pijersi-8100#7"}, True),
        (
            [SETUP],
            NUMBERED | {"setup": "a16:RPSRPS b13:PSR b4:WW b57:SRP"},
            {"Setup": "a16:RPSRPS b13:PSR b4:WW b57:SRP"},
            True,
        ),
        (["option name Setup type string default pijersi-36#1"], PLAIN, {"Setup": "standard"}, True),
        (["option name Setup type combo default pijersi-36#1 var pijersi-36#1"], PLAIN, {}, False),
        (["option name Setup type combo default standard var standard"], NUMBERED, {}, False),
        ([SETUP, VARIANT], NUMBERED, {"Setup": "pijersi-8100#7"}, True),
        ([VARIANT], NUMBERED, {}, False),
        ([], {"family": "pijersi", "variant": "half-random"}, {}, False),
    ],
)
def test_setups(lines, game, sent, use_startpos):
    found = plan(*lines, **game)
    assert told(found) == sent
    assert isinstance(found, Agreement)
    assert found.use_startpos is use_startpos


@pytest.mark.parametrize(
    ("lines", "sent", "passes", "use_startpos"),
    [
        ([], {}, True, False),
        ([SWAP], {"SwapPhase": "true"}, False, True),
        (["option name SwapPhase type check default true"], {}, False, True),
        (["option name Rule.swap_phase type check default false"], {"Rule.swap_phase": "true"}, False, True),
    ],
)
def test_the_swap_phase(lines, sent, passes, use_startpos):
    found = plan(*lines, has_phase=True, changed_rules={"swap_phase": True}, **PLAIN)
    assert told(found) == sent
    assert isinstance(found, Agreement)
    assert (found.passes_phase, found.use_startpos) == (passes, use_startpos)


@pytest.mark.parametrize(
    "line",
    [
        "option name SwapPhase type combo default never var never",
        "option name SwapPhase type spin default 0 min 0 max 0",
        "option name SwapPhase type button",
        "option name Rule.swap_phase type combo default never var never",
    ],
)
def test_an_option_that_cannot_be_switched_on_is_no_swap_phase(line):
    found = plan(line, has_phase=True, changed_rules={"swap_phase": True}, **PLAIN)
    assert found == Agreement((), use_startpos=False, passes_phase=True)


def test_one_of_the_two_options_of_the_swap_phase_is_enough():
    never = "option name SwapPhase type combo default never var never"
    rule = "option name Rule.swap_phase type check default false"
    found = plan(never, rule, has_phase=True, changed_rules={"swap_phase": True}, **PLAIN)
    assert found == Agreement((SetOption("Rule.swap_phase", "true"),), use_startpos=True, passes_phase=False)
    assert plan(never, **PLAIN) == Agreement(), "without the phase there is nothing to pass"


def test_a_bot_that_swaps_by_default_is_told_not_to():
    assert told(plan("option name SwapPhase type check default true", **PLAIN)) == {"SwapPhase": "false"}
    assert plan(SWAP, **PLAIN) == Agreement()


# Families ---------------------------------------------------------------------------------------------------------


def test_a_bot_plays_the_families_it_named():
    assert plan(families=("loa", "tablut")) == Agreement()
    found = plan(families=("abalone", "tablut"))
    assert isinstance(found, Ineligible)
    assert found.reason == "the bot plays abalone, tablut only; announce: id family loa"


# Laws -------------------------------------------------------------------------------------------------------------

LINES = st.lists(
    st.sampled_from([VARIANT, SIMULTANEOUS, STEP, ARMED, PLIES, SETUP, SWAP, "option name Rule.no_moves type button"]),
    unique=True,
)
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "simultaneous": st.just("mover"),
        "king_max_step": st.integers(1, 7),
        "king_armed": st.just(False),
        "max_plies": st.integers(1, 600),
    },
)


@given(LINES, CHANGES, st.sampled_from(["standard", "scrambled", "zen", "other"]), st.booleans(), st.booleans())
def test_whatever_is_told_was_announced_and_is_news(lines, changed, variant, start_only, phase):
    options = {option.name: option for option in map(parse_option, lines)}
    agreement = plan_setoptions(
        options,
        **(
            STANDARD
            | {"variant": variant, "variant_start_only": start_only, "changed_rules": changed, "has_phase": phase}
        ),
    )
    if isinstance(agreement, Ineligible):
        assert "announce: " in agreement.reason
        return
    for message in agreement.setoptions:
        assert isinstance(message, SetOption)
        assert message.value is not None
        assert options[message.name].accepts(message.value)
        assert not options[message.name].is_default(message.value)
    for name in changed:
        assert KINDS[name] == "limits" or f"Rule.{name}" in told(agreement)
