"""Settings documents: valid ones are read, every fault of an invalid one is reported."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee import toml
from referee.tournament.document import read
from referee.tournament.formats import names
from referee.tournament.part import SettingsError

PLAIN: dict[str, Any] = {"name": "Cup", "family": "loa", "entries": {"bots": ["a", "b"]}}


def test_a_table_of_a_format_without_one_is_told_what_to_write() -> None:
    with pytest.raises(SettingsError, match=r"^swiss\.rounds: unknown key; did you mean rounds\?$"):
        read({**PLAIN, "swiss": {"rounds": 3}})
    with pytest.raises(SettingsError, match=r'write format = "gauntlet"$'):
        read({**PLAIN, "gauntlet": {}})


@pytest.mark.parametrize("key", ["int", "str", "bool", "float"])
def test_an_unknown_key_with_the_name_of_a_type_is_an_unknown_key(key: str) -> None:
    with pytest.raises(SettingsError, match=rf"^entries\.{key}: unknown key; "):
        read({**PLAIN, "entries": {"bots": ["a", "b"], key: 1}})
    with pytest.raises(SettingsError, match=rf"^{key}: unknown key; "):
        read({**PLAIN, key: 1})


def test_a_toml_document_with_everything() -> None:
    document = read(
        toml.read("""
        name = "Cup of {date}"
        family = "abalone"
        variant = "belgian-daisy"
        format = "swiss"
        games = 4
        rounds = 5
        time_control = "1+0.01"
        pondering = "pinned"
        openings = "random:4:7"
        seed = 3
        rated = false
        [adjudication]
        draw = "after=40,moves=8,score=10"
        resign = "moves=4,score=600,both=1"
        max_plies = 300
        [limits]
        margin_ms = 50
        [entries]
        bots = ["zeta v3"]
        top = 8
        exclude = ["eta"]
        [schedule]
        cron = "0 20 * * 5"
        timezone = "Europe/Paris"
        catch_up = "skip"
    """)
    )
    assert document.control.base_ms == 1000
    assert (
        document.game_adjudication.draw_moves,
        document.game_adjudication.resign_score,
        document.game_adjudication.max_plies,
    ) == (
        8,
        600,
        300,
    )
    assert document.game_limits.margin_ms == 50
    assert (document.pondering, read(PLAIN).pondering) == ("pinned", "frozen")
    assert document.ruleset.variant.name == "belgian-daisy"
    assert read(document.as_json()) == document


def test_defaults_are_those_of_the_arena() -> None:
    plain = read(PLAIN)
    assert (plain.format, plain.games, plain.time_control, plain.rated, plain.start_time) == (
        "round-robin",
        2,
        "10+0.1",
        True,
        None,
    )
    assert plain.ruleset.variant.name == "standard"
    assert read(plain.as_json()) == plain


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"family": "chess"}, "family"),
        ({"variant": "nope"}, "variant"),
        ({"rule_options": {"nope": 1}}, "rule_options"),
        ({"format": "royal"}, "format"),
        ({"games": 0}, "games"),
        ({"games": "two"}, "games"),
        ({"time_control": "fast"}, "time_control"),
        ({"rounds": 3}, "rounds"),
        ({"format": "knockout", "games": 3}, "games"),
        ({"format": "ladder", "games": 4}, "games"),
        ({"format": "race", "games": 4}, "games"),
        ({"format": "race", "race": {"games": 3}}, "race.games"),
        ({"format": "race", "race": {"confidence": 1}}, "race.confidence"),
        ({"entries": {}}, "entries"),
        ({"entries": {"top": -1}}, "entries.top"),
        ({"entries": {"bots": [1]}}, "entries.bots.0"),
        ({"format": "sprt", "entries": {"bots": ["a"]}}, "entries.bots"),
        ({"format": "sprt", "sprt": {"elo0": 5, "elo1": 5}}, "sprt"),
        ({"format": "ladder", "ladder": {"games": 3}}, "ladder.games"),
        ({"adjudication": {"draw": "nonsense"}}, "adjudication"),
        ({"pondering": "sometimes"}, "pondering"),
        ({"scale_time_control": True, "time_control": "nodes:1000"}, "scale_time_control"),
        ({"scale_time_control": True, "pool": "remote"}, "scale_time_control"),
        ({"scale_time_control": True, "time_control": "fast"}, "time_control"),
        ({"start_time": "2027-01-01T20:00:00"}, "start_time"),
        ({"schedule": {"cron": "* * * * *"}, "start_time": "2027-01-01T20:00:00Z"}, "start_time"),
        ({"surprise": 1}, "surprise"),
        ({"seed": 2**40}, "seed"),
    ],
)
def test_invalid_documents_name_the_field(change: dict[str, Any], field: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read(PLAIN | change)
    assert caught.value.field == field
    assert str(caught.value)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
_KEYS = st.sampled_from(
    [
        *PLAIN,
        "format",
        "rule_options",
        "entries",
        "adjudication",
        "limits",
        "sprt",
        "ladder",
        "start_time",
        "time_control",
    ]
)


@given(st.dictionaries(_KEYS, _JSON | st.sampled_from(names()), max_size=5))
def test_read_returns_a_document_or_raises_settings_error(data: dict[str, Any]) -> None:
    with contextlib.suppress(SettingsError):
        read(PLAIN | data)
