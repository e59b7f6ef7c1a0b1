"""The rules of Tablut as a record: options, variants, notation, layout. The kernel is named here, not imported.

Refuses to know how moves are found and how positions are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping

from referee.rules.core import Termination
from referee.rules.rules import Changes, GameFormat, Notation, Option, Rules, Value, Variant
from referee.rules.tablut import gametext, layout, notation

KING_CAPTURED = Termination.by_rules("king-captured", "the king was captured")
KING_ESCAPED = Termination.by_rules("king-escaped", "the king reached an edge or corner")
ATTACKERS_ELIMINATED = Termination.by_rules("attackers-eliminated", "no attacker is left")
TUICHI = Termination.by_rules("tuichi", "two free ways were open to the king")
PERPETUAL_RAICHI = Termination.by_rules("perpetual-raichi", "the same threat was repeated without end")

START = "3ttt3/4t4/4T4/t3T3t/ttTTKTTtt/t3T3t/4T4/4t4/3ttt3"


def _choice(name: str, changes: Changes, meaning: str, *values: str) -> Option:
    return Option(name, "combo", values[0], changes, meaning, values=values)


def _switch(name: str, default: bool, changes: Changes, meaning: str) -> Option:
    return Option(name, "check", default, changes, meaning)


OPTIONS = (
    _choice(
        "first_player",
        "moves",
        "who moves first from the start position; that side is called first throughout the game",
        "attackers",
        "defenders",
    ),
    _choice(
        "goal",
        "result",
        "where the king escapes: any border cell, or any but the twelve base cells of the border",
        "edge",
        "edge_no_bases",
    ),
    _choice(
        "king_bases",
        "moves",
        "whether the king may stay on (no_stop) or even pass over (forbidden) the sixteen base cells",
        "free",
        "no_stop",
        "forbidden",
    ),
    _choice(
        "king_bases_when",
        "moves",
        "the ban of king_bases holds always, or for a base only while an attacker stands in it",
        "always",
        "occupied",
    ),
    Option("king_max_step", "spin", 0, "moves", "how many cells the king moves at most (0: no limit)", maximum=8),
    _switch("king_edge_capture", True, "result", "the border is hostile to a king captured by four"),
    _switch("king_armed", True, "moves", "the king takes part in captures"),
    _switch("king_reenter", True, "moves", "the king may stop on the throne again"),
    _choice("throne_pass", "moves", "who may glide over the empty throne", "king", "none", "all"),
    _choice(
        "throne_hostile",
        "moves",
        "which soldiers are captured against the empty throne",
        "none",
        "attackers",
        "defenders",
        "both",
    ),
    _choice(
        "throne_king_hostile",
        "moves",
        "whether a defender is captured against the throne with the king on it; linnaean: "
        "only if the other three neighbours of the throne hold attackers",
        "never",
        "linnaean",
        "always",
    ),
    _choice(
        "king_capture",
        "result",
        "the king is captured by four; or custodial: by four on the throne and next to it, else by two",
        "four",
        "custodial",
    ),
    _choice(
        "camp_entry",
        "moves",
        "closed: base cells are walls, except for an attacker moving inside the base he stands in",
        "open",
        "closed",
    ),
    _choice(
        "camp_hostile",
        "moves",
        "ashton: base cells are hostile, occupied or not (the border middles not to attackers)",
        "none",
        "ashton",
    ),
    _switch("tuichi_wins", False, "result", "the defenders win when the attackers are to move against two free ways"),
    _choice("no_moves", "result", "what becomes of the side that cannot move", "loss", "draw"),
    Option(
        "repetition",
        "spin",
        3,
        "limits",
        "the occurrence of a position that ends the game (0: never)",
        excluded=(1,),
    ),
    _choice("repetition_result", "result", "a repetition is a draw, or lost for who completed it", "draw", "loss"),
    _choice(
        "perpetual_raichi",
        "result",
        "whether the defenders lose a repetition throughout which the king had a free way",
        "normal",
        "defenders_lose",
    ),
    Option("no_capture_limit", "spin", 0, "limits", "plies without a capture that make a draw (0: no limit)"),
    Option("max_plies", "spin", 0, "limits", "plies after which the game is a draw (0: no limit)"),
)

_A1: dict[str, Value] = {"goal": "edge_no_bases"}
_STRICT: dict[str, Value] = _A1 | {"king_bases": "forbidden"}
_K4: dict[str, Value] = {"king_max_step": 4}
_PRESETS: tuple[tuple[str, str, dict[str, Value]], ...] = (
    ("bell", "after R. C. Bell: the king escapes to any border cell", {}),
    ("bell_a1", "base cells of the border are no goals", _A1),
    ("bell_a1_nostop", "besides, the king may not stay in a base", _A1 | {"king_bases": "no_stop"}),
    ("bell_a1_strict", "besides, the king may not even pass over a base", _STRICT),
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
        "after Linnaeus, as OpenTafl and hnefatafl-rs play Tablut",
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


def _variant(name: str, note: str, preset: Mapping[str, Value], first_player: Value) -> Variant:
    """A preset with the start position that `first_player` asks for."""
    return Variant(name, f"{START} {'d' if first_player == 'defenders' else 'a'} 0 0", preset, note=note)


def resolve(name: str, options: Mapping[str, Value]) -> Variant | None:
    """A preset whose start has the side on move that the options name; None for a name that is no preset."""
    for preset_name, note, preset in _PRESETS:
        if preset_name == name:
            return _variant(name, note, preset, options.get("first_player", preset.get("first_player", "attackers")))
    return None


VARIANTS = tuple(
    _variant(name, note, preset, preset.get("first_player", "attackers")) for name, note, preset in _PRESETS
)

RULES = Rules(
    family="tablut",
    title="Tablut",
    version=1,
    sides=("first player", "second player"),
    options=OPTIONS,
    variants=VARIANTS,
    notation=Notation(
        read_position=notation.read_position,
        write_position=notation.write_position,
        read_move=notation.read_move,
        write_move=notation.write_move,
        display_move=notation.display_move,
    ),
    pieces=layout.PIECES,
    board=layout.board,
    side=notation.side,
    kernel_module="referee.rules.tablut.kernel",
    reasons=(
        KING_CAPTURED,
        KING_ESCAPED,
        ATTACKERS_ELIMINATED,
        TUICHI,
        Termination.NO_MOVES,
        Termination.REPETITION,
        PERPETUAL_RAICHI,
        Termination.NO_CAPTURE,
        Termination.MAX_PLIES,
    ),
    resolve=resolve,
    formats=(
        GameFormat("tablut", gametext.read_games, gametext.write_game, "tag lines, then numbered moves and the result"),
        GameFormat("otn", gametext.read_otn, gametext.write_otn, "OpenTafl records: tags, moves with captures"),
    ),
    announce=layout.announce,
    summary=(
        "Sixteen attackers (Moscovites) on the four sides of a 9x9 board surround a king and his eight defenders "
        "(Swedes). Every piece moves like a rook of chess. A soldier is captured between two enemies by the enemy's "
        "move, the king by four attackers around him, or three and the empty throne. The defenders win when the king "
        "reaches the border, the attackers when they capture him. One way out for the king is raichi, two are tuichi. "
        "Options restrict the king (goals, bases, step) and choose among historical and tournament rules."
    ),
)
