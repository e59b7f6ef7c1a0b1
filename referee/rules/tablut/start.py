"""The named rule sets of Tablut. All share one start board; an option decides which side moves first."""

from __future__ import annotations

from collections.abc import Mapping

from referee.rules.rules import Value, Variant

START = "3ttt3/4t4/4T4/t3T3t/ttTTKTTtt/t3T3t/4T4/4t4/3ttt3"

_A1: dict[str, Value] = {"goal": "edge_no_bases"}
"""The first adaptation of Bell's rules: the king may not escape through a base."""
_STRICT: dict[str, Value] = _A1 | {"king_bases": "forbidden"}
_K4: dict[str, Value] = {"king_max_step": 4}
"""The second adaptation: the king moves at most four cells."""
_PRESETS: tuple[tuple[str, str, Mapping[str, Value]], ...] = (
    ("bell", "after R. C. Bell: the king escapes to any border cell", {}),
    ("bell_a1", "base cells of the border are not goals", _A1),
    ("bell_a1_nostop", "bell_a1, and the king may not stay in a base", _A1 | {"king_bases": "no_stop"}),
    ("bell_a1_strict", "bell_a1, and the king may not even pass over a base", _STRICT),
    (
        "bell_a1_attenuated",
        "a base is barred to the king only while an attacker is in it",
        _STRICT | {"king_bases_when": "occupied"},
    ),
    ("bell_k4", "the king moves at most four cells", _K4),
    ("bell_a1_k4", "bell_a1 and at most four cells", _A1 | _K4),
    ("bell_a1_strict_k4", "bell_a1_strict and at most four cells", _STRICT | _K4),
    (
        "ashton",
        "after J. C. Ashton, as in the Tablut challenge of Bologna: defenders first, closed and hostile camps",
        {
            "first_player": "defenders",
            "throne_pass": "none",
            "king_reenter": False,
            "king_capture": "custodial",
            "throne_hostile": "both",
            "throne_king_hostile": "always",
            "camp_entry": "closed",
            "camp_hostile": "ashton",
            "repetition": 2,
        },
    ),
    (
        "linnaeus",
        "after Linnaeus, as in OpenTafl and hnefatafl-rs",
        {
            "throne_pass": "all",
            "king_reenter": False,
            "king_capture": "custodial",
            "throne_hostile": "both",
            "throne_king_hostile": "linnaean",
            "no_moves": "draw",
        },
    ),
    (
        "nielsen",
        "as on aagenielsen.dk",
        {"throne_pass": "all", "king_capture": "custodial", "throne_hostile": "both"},
    ),
)
"""Name, note and options of each variant."""


def _variant(name: str, note: str, preset: Mapping[str, Value], options: Mapping[str, Value]) -> Variant:
    """Return a preset with the start position for the side that moves first by `options`, or else by the preset."""
    first_player = {**preset, **options}.get("first_player", "attackers")
    return Variant(name, f"{START} {'d' if first_player == 'defenders' else 'a'} 0 0", preset, note=note)


def resolve(name: str, options: Mapping[str, Value]) -> Variant | None:
    """Return a preset with the start position for the side that moves first by `options`; None for an unknown name."""
    for preset_name, note, preset in _PRESETS:
        if preset_name == name:
            return _variant(name, note, preset, options)
    return None


VARIANTS = tuple(_variant(name, note, preset, {}) for name, note, preset in _PRESETS)
