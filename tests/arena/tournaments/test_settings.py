"""The settings document: what is taken, and that whatever is not is named."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.tournaments import SettingsError, read, read_toml
from arena.tournaments.settings import FORMATS

PLAIN: dict[str, Any] = {"name": "Cup", "family": "loa", "entries": {"bots": ["a", "b"]}}


def test_a_toml_document_with_everything() -> None:
    found = read_toml("""
        name = "Cup of {date}"
        family = "abalone"
        variant = "belgian-daisy"
        format = "swiss"
        games = 4
        rounds = 5
        time = "1+0.01"
        pondering = "pinned"
        openings = "random:4:7"
        seed = 3
        rated = false
        [rulings]
        draw = "after=40,moves=8,score=10"
        resign = "moves=4,score=600,both=1"
        max_plies = 300
        [limits]
        margin_ms = 50
        [entries]
        bots = ["zeta v3"]
        top = 8
        without = ["eta"]
        [schedule]
        cron = "0 20 * * 5"
        zone = "Europe/Paris"
        missed = "skip"
    """)
    assert found.control.base_ms == 1000
    assert (found.adjudication.draw_moves, found.adjudication.resign_score, found.adjudication.max_plies) == (
        8,
        600,
        300,
    )
    assert found.bounds.margin_ms == 50
    assert (found.pondering, read(PLAIN).pondering) == ("pinned", "frozen")
    assert found.ruleset.variant.name == "belgian-daisy"
    assert read(found.as_json()) == found


def test_defaults_are_those_of_the_arena() -> None:
    found = read(PLAIN)
    assert (found.format, found.games, found.time, found.rated, found.starts) == (
        "round-robin",
        2,
        "10+0.1",
        True,
        None,
    )
    assert found.ruleset.variant.name == "standard"
    assert read(found.as_json()) == found


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"family": "chess"}, "family"),
        ({"variant": "nope"}, "variant"),
        ({"options": {"nope": 1}}, "options"),
        ({"format": "royal"}, "format"),
        ({"games": 0}, "games"),
        ({"games": "two"}, "games"),
        ({"time": "fast"}, "time"),
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
        ({"rulings": {"draw": "nonsense"}}, "rulings"),
        ({"pondering": "sometimes"}, "pondering"),
        ({"scale_clocks": True, "time": "nodes:1000"}, "scale_clocks"),
        ({"scale_clocks": True, "pool": "remote"}, "scale_clocks"),
        ({"scale_clocks": True, "time": "fast"}, "time"),
        ({"starts": "2027-01-01T20:00:00"}, "starts"),
        ({"schedule": {"cron": "* * * * *"}, "starts": "2027-01-01T20:00:00Z"}, "starts"),
        ({"surprise": 1}, "surprise"),
        ({"seed": 2**40}, "seed"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, Any], field: str) -> None:
    with pytest.raises(SettingsError) as caught:
        read(PLAIN | change)
    assert caught.value.field == field
    assert str(caught.value)


def test_not_toml() -> None:
    with pytest.raises(SettingsError, match="TOML"):
        read_toml("name = ")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
_KEYS = st.sampled_from(
    [*PLAIN, "format", "options", "entries", "rulings", "limits", "sprt", "ladder", "starts", "time"]
)


@given(st.dictionaries(_KEYS, _JSON | st.sampled_from(FORMATS), max_size=5))
def test_anything_at_all_is_a_document_or_a_settings_error(data: dict[str, Any]) -> None:
    with contextlib.suppress(SettingsError):
        read(PLAIN | data)
