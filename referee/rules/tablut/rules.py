"""The `Rules` record of Tablut: options, variants, notation, layout. Importing it does not import the kernel."""

from __future__ import annotations

from referee.rules.core import Termination
from referee.rules.rules import Changes, Option, PositionSetup, Rules
from referee.rules.tablut.features import FEATURES
from referee.rules.tablut.gametext import FORMATS
from referee.rules.tablut.layout import EMBLEM, MARKS, PIECES, announce, board, effect
from referee.rules.tablut.notation import NOTATION
from referee.rules.tablut.refusal import refuse
from referee.rules.tablut.start import VARIANTS, resolve
from referee.rules.tablut.state import side
from referee.rules.tablut.symmetry import SYMMETRY
from referee.rules.tablut.words import WORDS

KING_CAPTURED = Termination.by_rules("king-captured", "the king was captured")
KING_ESCAPED = Termination.by_rules("king-escaped", "the king reached an edge or corner")
ATTACKERS_ELIMINATED = Termination.by_rules("attackers-eliminated", "all attackers were captured")
TUICHI = Termination.by_rules("tuichi", "two free ways were open to the king")
PERPETUAL_RAICHI = Termination.by_rules("perpetual-raichi", "the same threat was repeated without end")


def _choice(name: str, changes: Changes, meaning: str, *values: str) -> Option:
    return Option(name, "combo", values[0], changes, meaning, values=values)


def _switch(name: str, default: bool, changes: Changes, meaning: str) -> Option:
    return Option(name, "check", default, changes, meaning)


OPTIONS = (
    _choice(
        "first_player",
        "moves",
        "which side moves first from the start position and is called first throughout the game",
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
        "the ban of king_bases holds always, or for a base only while an attacker is in it",
        "always",
        "occupied",
    ),
    Option("king_max_step", "spin", 0, "moves", "maximum number of cells the king moves (0: no limit)", maximum=8),
    _switch("king_edge_capture", True, "result", "the border is hostile to a king captured by four"),
    _switch("king_armed", True, "moves", "the king takes part in captures"),
    _switch("king_reenter", True, "moves", "the king may stop on the throne again"),
    _choice("throne_pass", "moves", "which pieces may pass over the empty throne", "king", "none", "all"),
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
        "closed: base cells are walls, except for an attacker moving inside the base it is in",
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
    _choice("no_moves", "result", "the result for the side that cannot move", "loss", "draw"),
    Option(
        "repetition",
        "spin",
        3,
        "limits",
        "the occurrence of a position that ends the game (0: never)",
        excluded=(1,),
    ),
    _choice(
        "repetition_result",
        "result",
        "a repetition is a draw, or a loss for the side that completed it",
        "draw",
        "loss",
    ),
    _choice(
        "perpetual_raichi",
        "result",
        "whether the defenders lose a repetition throughout which the king had a free way",
        "normal",
        "defenders_lose",
    ),
    Option(
        "no_capture_limit", "spin", 0, "limits", "plies without a capture that end the game in a draw (0: no limit)"
    ),
    Option("max_plies", "spin", 0, "limits", "plies after which the game is a draw (0: no limit)"),
)

REASONS = (
    KING_CAPTURED,
    KING_ESCAPED,
    ATTACKERS_ELIMINATED,
    TUICHI,
    Termination.NO_MOVES,
    Termination.REPETITION,
    PERPETUAL_RAICHI,
    Termination.NO_CAPTURE,
    Termination.MAX_PLIES,
)
"""Terminations in the order of the kernel's numbers."""

RULES = Rules(
    family="tablut",
    title="Tablut",
    version=1,
    sides=("Attackers", "Defenders"),
    opener="first_player",
    options=OPTIONS,
    variants=VARIANTS,
    rare_positions=(
        "9/9/9/4t4/3tKt3/3tTt3/4t4/9/9 d 0 0",
        "4t4/9/9/4T4/3tKt3/4t4/9/9/t8 a 0 0",
        "3tKt3/t8/9/9/9/9/9/7T1/9 a 0 0",
    ),
    notation=NOTATION,
    pieces=PIECES,
    position_setup=PositionSetup(("a 0 0", "d 0 0"), is_from_top=False),
    effect=effect,
    marks=MARKS,
    emblem=EMBLEM,
    board=board,
    side=side,
    symmetry=SYMMETRY,
    features=FEATURES,
    game_moves=22,
    level_strengths=(0, 10, 22, 29, 36, 43, 49, 56),
    kernel_module="referee.rules.tablut.kernel",
    reasons=REASONS,
    refuse=refuse,
    resolve=resolve,
    formats=FORMATS,
    announce=announce,
    limits=frozenset({PERPETUAL_RAICHI}),
    summary=(
        "Sixteen attackers (Moscovites) on the four sides of a 9×9 board surround a king and his eight defenders "
        "(Swedes). Every piece moves like a rook of chess. A soldier is captured between two enemies by the enemy's "
        "move, the king by four attackers around him, or three and the empty throne. The defenders win when the king "
        "reaches the border, the attackers when they capture him. One way out for the king is raichi, two are tuichi. "
        "Options restrict the king (goals, bases, step) and choose among historical and tournament rules."
    ),
    words=WORDS,
)
