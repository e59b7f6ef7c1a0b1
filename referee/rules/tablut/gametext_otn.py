"""The game records of OpenTafl (OTN): tags `[name:value]`, rules, moves with captures, comments in brackets.

The source is `opentafl-notation-spec.txt` of OpenTafl. Its own variations, `1a.1.1a. e5-e3`, are left out. As in the
plain format, words, rules and positions are checked, but not the legality of the moves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from referee.rules.core import ParseError, UnknownNameError, value_text
from referee.rules.gameparts import GamePart
from referee.rules.gametags import Draft, annotated, other_tags
from referee.rules.gametext import GameReader, place, read_moves, remarked_game, result_of, take_tags
from referee.rules.position import state_after
from referee.rules.rules import GameFormat, GameText, Ruleset, State, Value
from referee.rules.tablut.notation import display_move, read_move, write_move
from referee.rules.tokens import NAME, Grammar, TextToken, escaped, folded
from referee.rules.variations import BRACKETS, remarks

ANNOUNCEMENTS: Final = ("raichi", "tuichi")
TAGS: Final = frozenset(
    (
        *("event", "site", "date", "round", "attackers", "defenders", "result", "annotator", "compiler"),
        *("time-control", "time-remaining", "termination", "variant", "starting-comment", "start-comment"),
        *("rules", "position", "puzzle-prestart", "puzzle-start"),
    )
)
GRAMMAR: Final = Grammar(
    hint="write moves as e3-e4, tags and comments in [...]",
    comment="[]",
    line_comment="",
    colon_tags=TAGS,
    skipped="(?i:raichi|tuichi)",
    has_results=False,
    setup=r"/[^\s\[]*|[a-z]+:[^\s\[]*",
    aside=r"[0-9]{1,6}[a-zA-Z][0-9a-zA-Z.]*(?=\s|$)",
)
_QUOTED_TAG: Final = re.compile(rf'\s*({NAME})\s+"')

_KING_STRENGTHS: dict[str, dict[str, Value]] = {
    "s": {"king_capture": "four", "king_edge_capture": False},
    "y": {"king_capture": "four", "king_edge_capture": False},
    "m": {"king_capture": "four"},
    "c": {"king_capture": "custodial"},
}
_REPETITIONS: dict[str, dict[str, Value]] = {"d": {}, "l": {"repetition_result": "loss"}, "i": {"repetition": 0}}
_FIRST: dict[str, dict[str, Value]] = {"y": {}, "n": {"first_player": "defenders"}}
_ARMED: dict[str, dict[str, Value]] = {"y": {}, "n": {"king_armed": False}}
_ESCAPES: dict[str, dict[str, Value]] = {"e": {}}
_CHOICES = (
    ("esc", "c", _ESCAPES),
    ("atkf", "y", _FIRST),
    ("ka", "y", _ARMED),
    ("ks", "y", _KING_STRENGTHS),
    ("tfr", "d", _REPETITIONS),
)


def _settle(ruleset: Ruleset, variant: str, options: Mapping[str, Value], part: GamePart, index: int) -> Ruleset:
    try:
        return ruleset.rules.settle(variant, options)
    except UnknownNameError as error:
        raise ParseError(str(error), text=part.text, index=index) from None


def _rules_record(record: str, part: GamePart, index: int) -> tuple[dict[str, Value], str]:
    """Return what an OpenTafl rules record sets: the options on top of `linnaeus`, and the start board."""
    entries = dict(word.split(":", 1) for word in record.split() if ":" in word)
    refusal = "only 9×9 games with edge escape and an ordinary throne are supported"
    if entries.get("dim") != "9" or entries.get("cen", "e5").lower() not in ("e5", "default"):
        problem = f"this looks like a record of another game than Tablut: {record[:60]!r}"
        raise ParseError(problem, text=part.text, index=index, hint=refusal)
    options: dict[str, Value] = {}
    for name, default, meanings in _CHOICES:
        value = entries.get(name, default)
        if value not in meanings:
            raise ParseError(f"unsupported rule {name}:{value[:20]}", text=part.text, index=index, hint=refusal)
        options |= meanings[value]
    passing, stopping = entries.get("cenp", "tK"), entries.get("cens", "K")
    hostile, hostile_taken = entries.get("cenhe", "tT"), entries.get("cenh", "t")
    options["throne_pass"] = "all" if "t" in passing else "king" if "K" in passing else "none"
    options["king_reenter"] = "K" in stopping
    sides = ("t" in hostile, "T" in hostile)
    options["throne_hostile"] = {(False, False): "none", (True, False): "attackers", (False, True): "defenders"}.get(
        sides, "both"
    )
    if "T" in hostile_taken:
        options["throne_king_hostile"] = "always"
    return options, entries.get("start", "")


def _rules(part: GamePart, ruleset: Ruleset, special: Mapping[str, TextToken], title: str) -> tuple[Ruleset, str]:
    """Return the rules of a record, and the board of its rules tag.

    The rules come from the name of one of our variants, else from the rules tag, else they are `ruleset`.
    """
    loose = [token for token in part.setup if not token.text.startswith("/")]
    if tag := special.get("variant"):
        name, *options = folded(tag.value).split() or [""]
        if name in {variant.name for variant in ruleset.rules.variants}:
            pairs = [option.split("=", 1) for option in options if "=" in option]
            return _settle(ruleset, name, dict(pairs), part, tag.start), ""
    if "rules" in special or loose:
        index = special["rules"].start if "rules" in special else loose[0].start
        record = special["rules"].value if "rules" in special else " ".join(token.text for token in loose)
        given, start = _rules_record(record, part, index)
        return _settle(ruleset, "linnaeus", given, part, index), start
    if title:
        return _settle(ruleset, title, ruleset.overrides, part, part.index), ""
    return ruleset, ""


def _refuse_quoted_tags(part: GamePart) -> None:
    """Raise ParseError for a tag of another notation, which would be a comment here."""
    for count, said in part.remarks:
        if count == 0 and isinstance(said, str) and (tag := _QUOTED_TAG.match(said)) is not None:
            hint = f"write [{tag[1].lower()}:…], or read the text in the notation tablut"
            problem = f"[{said.strip()[:40]}] is a tag of another notation"
            raise ParseError(problem, text=part.text, index=part.index, hint=hint)


def understand(part: GamePart, ruleset: Ruleset) -> GameText:
    """Return the game of a record.

    A rules tag becomes options on top of `linnaeus` (OpenTafl's Tablut), unless a variant tag names one of this family.
    Without either, `ruleset` applies. Rules that no option expresses are rejected. Raise ParseError.
    """
    draft, special = Draft(), dict[str, TextToken]()

    def is_special(tag: TextToken) -> bool:
        if tag.text in ("variant", "rules", "position", "result"):
            special[tag.text] = tag
        else:
            draft.tags[tag.text] = folded(tag.value)
        return True

    _refuse_quoted_tags(part)
    take_tags(part, ruleset, draft, own=is_special)
    settled, board = _rules(part, ruleset, special, draft.variant)
    is_attack_first = settled.values["first_player"] == "attackers"
    boards = [token.text for token in part.setup if token.text.startswith("/")]
    given = folded(special["position"].value) if "position" in special else (boards or [board])[0]
    if given:
        draft.position = given if len(given.split()) > 1 else f"{given} {'a' if is_attack_first else 'd'}"
    draft.variant, draft.options = settled.variant.name, dict(settled.overrides)
    start = place(draft, settled, part)
    if draft.position == settled.variant.position:
        draft.position = None
    moves = read_moves(part, settled, start)
    score = folded(special["result"].value) if "result" in special else "?"
    wins = ("1-0", "0-1") if is_attack_first else ("0-1", "1-0")
    stated = {"1": wins[0], "-1": wins[1], "0": "1/2-1/2"}.get(score, "*")
    draft.result = stated if stated != "*" else result_of(part, settled, start, "*")
    return remarked_game(part, draft, moves, settled)


def numbered(words: Sequence[str], *, every: int) -> Iterator[str]:
    """Yield lines of numbered pairs of annotated moves, `every` pairs per line."""
    pairs = [f"{n // 2 + 1}. " + " ".join(words[n : n + 2]) for n in range(0, len(words), 2)]
    for first in range(0, len(pairs), every):
        yield " ".join(pairs[first : first + every])


def rules_of(game: GameText, ruleset: Ruleset) -> Ruleset:
    """Return the rules of a game: `ruleset` if the game names no variant. Raise UnknownNameError."""
    if not game.variant:
        return ruleset
    return ruleset.rules.settle(game.variant, game.options)


def _rules_tag(settled: Ruleset) -> str:
    """Return these rules as an OpenTafl rules record, without what it cannot express (bases, steps, limits)."""
    values = settled.values
    strength = "c" if values["king_capture"] == "custodial" else "m" if values["king_edge_capture"] else "s"
    repetition = "i" if values["repetition"] == 0 else "l" if values["repetition_result"] == "loss" else "d"
    hostile = {"none": "", "attackers": "t", "defenders": "TK", "both": "tTK"}[str(values["throne_hostile"])]
    words = {
        "dim": "9",
        "name": "Tablut",
        "esc": "e",
        "atkf": "y" if values["first_player"] == "attackers" else "n",
        "tfr": repetition,
        "ka": "y" if values["king_armed"] else "n",
        "ks": strength,
        "cor": "",
        "cenh": "tT" if values["throne_king_hostile"] == "always" else "",
        "cenhe": hostile,
        "cenp": {"king": "K", "none": "", "all": "tTK"}[str(values["throne_pass"])],
        "cens": "K" if values["king_reenter"] else "",
        "start": f"/{settled.variant.position.split()[0]}/",
    }
    return " ".join(f"{name}:{value}" for name, value in words.items())


def write_game(game: GameText, ruleset: Ruleset) -> str:
    """Return one game as an OpenTafl record, with captures and marks up to the first illegal move.

    Raise UnknownNameError for an unknown variant or option, ParseError for a malformed position or move.
    """
    settled = rules_of(game, ruleset)
    is_attack_first = settled.values["first_player"] == "attackers"
    scores = ("1", "-1") if is_attack_first else ("-1", "1")
    score = {"1-0": scores[0], "0-1": scores[1], "1/2-1/2": "0"}.get(game.result, "?")
    # The names of tags are letters and hyphens, in lower case.
    tags = {re.sub(r"[^a-z-]", "-", name.lower()): value for name, value in other_tags(game)}
    options = [f"{name}={value_text(value)}" for name, value in settled.overrides.items()]
    tags |= {"result": score, "variant": " ".join([settled.variant.name, *options])}
    if game.position is not None:
        board, *rest = settled.write(settled.read(game.position)).split()
        first = "a" if is_attack_first else "d"
        tags["position"] = " ".join([f"/{board.strip('/')}/", *(rest if rest != [first, "0", "0"] else [])])
    tags["rules"] = _rules_tag(settled)
    lines = [f"[{name}:{escaped(value, '[]')}]" for name, value in tags.items()]
    said = remarks(game, settled, BRACKETS)
    words = annotated(list(_shown(game, settled)), game.marks, said)
    return "\n".join([*lines, "", *([said[0]] if 0 in said else []), *numbered(words, every=1), ""])


def _shown(game: GameText, settled: Ruleset) -> Iterator[str]:
    """Yield the moves as OpenTafl writes them; from the first illegal one on, only start and end."""
    config, state = settled.config, settled.read(game.position)
    is_legal = True
    for text in game.moves:
        move = read_move(text, state, config)
        after = state_after(settled, state, move) if is_legal else None
        if after is None:
            is_legal = False
            canonical = write_move(move)
            yield f"{canonical[:2]}-{canonical[2:]}"
            continue
        shown = display_move(move, state, config)
        state = after
        yield shown + _mark(state, settled)


def _mark(state: State, settled: Ruleset) -> str:
    """Return OpenTafl's sign after a move: `++` king captured, `--` king escaped, `-` the king has a free way."""
    rules, config = settled.rules, settled.config
    code = int(rules.kernel.result(state, config, 1, 0))
    if code:
        return {"king-captured": "++", "king-escaped": "--"}.get(rules.reasons[code // 4].value, "")
    return "-" if rules.announce is not None and rules.announce(state, config) else ""


READER: Final = GameReader(GRAMMAR, understand, words=ANNOUNCEMENTS)

OTN: Final = GameFormat("otn", READER, write_game, "OpenTafl records: tags, moves with captures", READER.starts)
