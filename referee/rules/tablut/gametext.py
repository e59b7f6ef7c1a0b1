"""Whole games of Tablut as text: a plain move list with tag lines, and the game records of OpenTafl (OTN).

The readers check words, rules and positions, but not legality. Any text gives games or a `ParseError`. The source of
OTN is `opentafl-notation-spec.txt` of OpenTafl.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from referee.rules import gametable
from referee.rules.core import ParseError, UnknownNameError, value_text
from referee.rules.gametags import (
    MARK,
    NAME,
    RESULTS,
    RULE,
    Remarks,
    braced,
    placed,
    plain,
    split_mark,
    step,
    write_tag,
)
from referee.rules.gametitle import titled
from referee.rules.reversible import REVERSIBLE
from referee.rules.rules import GameFormat, GameText, Ruleset, State, Value
from referee.rules.tablut.notation import display_move, read_move, write_move
from referee.rules.variations import BRACKETS, branched, branching

ANNOUNCEMENTS = ("raichi", "tuichi")

_PLAIN = re.compile(
    r"\{[^}]*\}|;[^\n]*"  # comments
    rf'|\[\s*({NAME})\s+"((?:[^"\\]|\\.)*)"\s*\]'  # a tag
    r"|[^\s{}\[\];|]+|[{}\[\]]",
    re.ASCII | re.DOTALL,
)
_NUMBER = re.compile(r"[0-9]{1,6}(?:\.+|…)|[0-9]{1,6}$", re.ASCII)
_MARK = re.compile(rf"{MARK}|\$[0-9]{{1,3}}")
_VARIATION = re.compile(r"[0-9]{1,6}[a-zA-Z][0-9a-zA-Z.]*", re.ASCII)
_OTN = re.compile(r"\[([^\]]*)\]|[^\s\[\]]+|[\[\]]", re.ASCII)
_OTN_TAG = re.compile(r"\s*([A-Za-z][A-Za-z-]*):(.*)", re.ASCII | re.DOTALL)
OTN_TAGS = frozenset(
    (
        *("event", "site", "date", "round", "attackers", "defenders", "result", "annotator", "compiler"),
        *("time-control", "time-remaining", "termination", "variant", "starting-comment", "start-comment"),
        *("rules", "position", "puzzle-prestart", "puzzle-start"),
    )
)


@dataclass
class _TablutDraft(Remarks):
    """A game while it is being read."""

    text: str
    moves: list[str] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)
    result: str = ""
    at: int = 0
    is_over: bool = False

    @property
    def is_empty(self) -> bool:
        return not (self.moves or self.tags or self.result)

    def add_moves(self, word: str, at: int) -> None:
        """Process a word of the move list: a number, a move, both run together, a mark or an announcement."""
        number = _NUMBER.match(word)
        rest = word[number.end() :] if number else word
        if not rest or not rest.strip(".…"):
            return
        if rest.lower().rstrip("!?") in ANNOUNCEMENTS:
            self.mark(len(self.moves), split_mark(rest)[1])
            return
        if _MARK.fullmatch(rest):
            self.mark(len(self.moves), rest)
            return
        rest, mark = split_mark(rest)
        try:
            move = read_move(plain(rest))
        except ParseError as error:
            raise placed(error, self.text, at + len(word) - len(rest) - len(mark)) from None
        if self.is_over:
            raise ParseError(
                "a move after the end of the game", text=self.text, index=at, hint="start the next game with tags"
            )
        self.moves.append(write_move(move))
        self.mark(len(self.moves), mark)

    def comment_in_brackets(self, text: str, *, is_aside: bool) -> None:
        """Store a comment in brackets, unless it belongs to a variation."""
        kept = text.strip().removeprefix("- ")
        if not is_aside:
            self.comment(len(self.moves), kept if _OTN_TAG.fullmatch(kept) else text)

    def fail(self, problem: str, hint: str = "") -> ParseError:
        return ParseError(problem, text=self.text, index=self.at, hint=hint)


def _settle(draft: _TablutDraft, ruleset: Ruleset, variant: str, options: Mapping[str, Value]) -> Ruleset:
    try:
        return ruleset.rules.settle(variant, options)
    except UnknownNameError as error:
        raise draft.fail(str(error)) from None


def _position(draft: _TablutDraft, settled: Ruleset, text: str) -> str:
    try:
        return settled.write(settled.read(text))
    except ParseError as error:
        raise draft.fail(f"position {text[:60]!r}: {error.problem}", error.hint) from None


# The plain format ----------------------------------------------------------------------------------------------------


def _plain_game(draft: _TablutDraft, ruleset: Ruleset) -> GameText:
    tags = dict(draft.tags)
    variant, position, result = tags.pop("Variant", ""), tags.pop("Position", None), tags.pop("Result", "*")
    names = [name for name in tags if name.startswith(RULE)]
    options: dict[str, Value] = {name.removeprefix(RULE): tags.pop(name) for name in names}
    if result not in RESULTS:
        raise draft.fail(f"unknown result {result[:20]!r}", "one of " + " ".join(RESULTS))
    settled = _settle(draft, ruleset, variant, options) if variant or options else ruleset
    return GameText(
        moves=tuple(draft.moves),
        variant=settled.variant.name,
        options=settled.overrides,
        position=None if position is None else _position(draft, settled, position),
        tags=tags,
        result=draft.result or result,
        marks=draft.marks,
        comments=draft.comments,
    )


def read_games(text: str, ruleset: Ruleset) -> Sequence[GameText]:
    """Return the games of a plain text; `ruleset` applies without a `Variant` tag. Raise ParseError.

    The text has tags `[Name "value"]` (Variant, Rule.<option>, Position, Result, any others), then moves and a result.
    Moves may have any accepted spelling, with or without numbers. Comments are in braces, or go from a semicolon to the
    end of the line.
    """
    games, draft = [], _TablutDraft(text)
    for found in _PLAIN.finditer(text):
        word, at = found.group(), found.start()
        if word[0] in "{;" and len(word) > 1:
            draft.comment(len(draft.moves), word.lstrip("{;").removesuffix("}"))
            continue
        if found.group(1) is not None:
            if draft.moves or draft.is_over:
                games.append(_plain_game(draft, ruleset))
                draft = _TablutDraft(text, at=at)
            draft.tags[found.group(1)] = re.sub(r"\\(.)", _unescape, found.group(2), flags=re.DOTALL)
        elif word in RESULTS:
            if draft.is_over:
                raise ParseError("a second result", text=text, index=at, hint="start the next game with tags")
            draft.result, draft.is_over = word, True
        elif word in "{}[]":
            raise ParseError(
                f"a stray {word!r}", text=text, index=at, hint='write tags as [Name "value"], comments as {...}'
            )
        else:
            draft.add_moves(word, at)
    if not draft.is_empty:
        games.append(_plain_game(draft, ruleset))
    return games


def _unescape(found: re.Match[str]) -> str:
    return "\n" if found.group(1) == "n" else found.group(1)


def _tag(name: str, value: object) -> str:
    name = re.sub(r"[^A-Za-z0-9_.-]", "_", name)
    if not name[:1].isalpha():
        name = "Tag_" + name
    return write_tag(name, value_text(value)).replace("\n", "\\n")


def _numbered(words: Sequence[str], *, every: int) -> Iterator[str]:
    """Yield lines of numbered pairs of annotated moves, `every` pairs per line."""
    pairs = [f"{n // 2 + 1}. " + " ".join(words[n : n + 2]) for n in range(0, len(words), 2)]
    for first in range(0, len(pairs), every):
        yield " ".join(pairs[first : first + every])


def _rules_of(game: GameText, ruleset: Ruleset) -> Ruleset:
    """Return the rules of a game: `ruleset` if the game names no variant. Raise UnknownNameError."""
    if not game.variant:
        return ruleset
    return ruleset.rules.settle(game.variant, game.options)


def _plain_lines(game: GameText, settled: Ruleset) -> tuple[list[str], list[str]]:
    """Return the lines above the moves of a game in the plain format, and its annotated moves."""
    lines = [_tag(name, value) for name, value in game.tags.items()]
    lines.append(_tag("Variant", settled.variant.name))
    lines += [_tag(RULE + name, value) for name, value in settled.overrides.items()]
    if game.position is not None:
        lines.append(_tag("Position", game.position))
    lines += [_tag("Result", _result(game)), ""]
    lines += [braced(game.comments[0])] if 0 in game.comments else []
    words = [
        " ".join(part for part in (move, called, braced(game.comments.get(ply, ""))) if part)
        for ply, (move, called) in enumerate(_announced(game, settled), 1)
    ]
    return lines, words


def _result(game: GameText) -> str:
    return game.result if game.result in RESULTS else "*"


def write_game(game: GameText, ruleset: Ruleset) -> str:
    """Return one game in the plain format. Raise UnknownNameError for an unknown variant or option."""
    lines, words = _plain_lines(game, _rules_of(game, ruleset))
    return "\n".join([*lines, *_numbered(words, every=6), _result(game), ""])


def write_table(game: GameText, ruleset: Ruleset) -> str:
    """Return one game with a row for each pair of moves. Raise UnknownNameError for an unknown variant or option."""
    settled = _rules_of(game, ruleset)
    lines, words = _plain_lines(game, settled)
    side = settled.rules.side(settled.read(game.position), settled.config)
    table = gametable.lines(settled.sides, gametable.rows(words, 1, side))
    return "\n".join([*lines, *table, _result(game), ""])


def _announced(game: GameText, settled: Ruleset) -> Iterator[tuple[str, str]]:
    """Yield each move with its mark, and the announcement after it (`raichi`); none from the first illegal move on."""
    rules, config = settled.rules, settled.config
    state: State | None = settled.read(game.position)
    for ply, text in enumerate(game.moves, 1):
        state = None if state is None else step(settled, state, read_move(text, state, config))
        called = rules.announce(state, config) if state is not None and rules.announce is not None else None
        yield text + game.marks.get(ply, ""), called or ""


# OpenTafl ------------------------------------------------------------------------------------------------------------

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


def _rules_record(draft: _TablutDraft, record: str) -> tuple[dict[str, Value], str]:
    """Return what an OpenTafl rules record sets: the options on top of `linnaeus`, and the start board."""
    entries = dict(word.split(":", 1) for word in record.split() if ":" in word)
    refusal = "only 9x9 games with edge escape and an ordinary throne are supported"
    if entries.get("dim") != "9" or entries.get("cen", "e5").lower() not in ("e5", "default"):
        raise draft.fail(f"not rules of Tablut: {record[:60]!r}", refusal)
    options: dict[str, Value] = {}
    for name, default, meanings in _CHOICES:
        value = entries.get(name, default)
        if value not in meanings:
            raise draft.fail(f"unsupported rule {name}:{value[:20]}", refusal)
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


def _otn_rules(draft: _TablutDraft, ruleset: Ruleset) -> tuple[Ruleset, str]:
    """Return the rules of a record, and the board of its rules tag.

    The rules come from the name of one of our variants, else from the rules tag, else they are `ruleset`.
    """
    name, *options = draft.tags.get("variant", "").split() or [""]
    start = ""
    settled = ruleset
    if name in {variant.name for variant in ruleset.rules.variants}:
        pairs = [option.split("=", 1) for option in options if "=" in option]
        settled = _settle(draft, ruleset, name, dict(pairs))
    elif "rules" in draft.tags:
        given, start = _rules_record(draft, draft.tags["rules"])
        settled = _settle(draft, ruleset, "linnaeus", given)
    return settled, start


def _otn_game(draft: _TablutDraft, ruleset: Ruleset) -> GameText:
    settled, start = _otn_rules(draft, ruleset)
    attackers_first = settled.values["first_player"] == "attackers"
    given = draft.tags.get("position", start).strip()
    position = None
    if given:
        if len(given.split()) == 1:
            given += " a" if attackers_first else " d"
        position = _position(draft, settled, given)
        if position == settled.variant.position:
            position = None
    score = draft.result or draft.tags.get("result", "?").strip()
    wins = ("1-0", "0-1") if attackers_first else ("0-1", "1-0")
    result = {"1": wins[0], "-1": wins[1], "0": "1/2-1/2"}.get(score, "*")
    known = ("variant", "rules", "position", "result")
    return GameText(
        moves=tuple(draft.moves),
        variant=settled.variant.name,
        options=settled.overrides,
        position=position,
        tags={name: value for name, value in draft.tags.items() if name not in known},
        result=result,
        marks=draft.marks,
        comments=draft.comments,
    )


def read_otn(text: str, ruleset: Ruleset) -> Sequence[GameText]:
    """Return the games of OpenTafl records, without variations. Raise ParseError.

    A rules tag becomes options on top of `linnaeus` (OpenTafl's Tablut), unless a variant tag names one of this family.
    Without either, `ruleset` applies. Rules that no option expresses are rejected.
    """
    games, draft, is_aside = [], _TablutDraft(text), False
    for found in _OTN.finditer(text):
        word, at = found.group(), found.start()
        if found.group(1) is not None:
            tag = _OTN_TAG.fullmatch(found.group(1))
            if tag is None or (draft.moves and tag.group(1).lower() not in OTN_TAGS):
                draft.comment_in_brackets(found.group(1), is_aside=is_aside)
                continue
            if draft.moves:
                games.append(_otn_game(draft, ruleset))
                draft, is_aside = _TablutDraft(text, at=at), False
            draft.tags[tag.group(1).lower()] = _one_line(tag.group(2))
        elif word in "[]":
            raise ParseError(f"a stray {word!r}", text=text, index=at, hint="write tags and comments in [...]")
        elif not draft.moves and word.startswith("/"):
            draft.tags["position"] = word
        elif not draft.moves and re.match(r"[a-z]+:", word):
            draft.tags["rules"] = f"{draft.tags.get('rules', '')} {word}".strip()
        elif _VARIATION.fullmatch(word):
            is_aside = True
        elif word == "---":
            # This word means that the side to move resigns; the result tag names the winner.
            draft.is_over = draft.is_over or not is_aside
        else:
            is_aside = is_aside and not _NUMBER.match(word)
            if not is_aside:
                draft.add_moves(word, at)
    if not draft.is_empty:
        games.append(_otn_game(draft, ruleset))
    return games


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


def write_otn(game: GameText, ruleset: Ruleset) -> str:
    """Return one game as an OpenTafl record, with captures and marks up to the first illegal move.

    Raise UnknownNameError for an unknown variant or option, ParseError for a malformed position or move.
    """
    settled = _rules_of(game, ruleset)
    attackers_first = settled.values["first_player"] == "attackers"
    scores = ("1", "-1") if attackers_first else ("-1", "1")
    score = {"1-0": scores[0], "0-1": scores[1], "1/2-1/2": "0"}.get(game.result, "?")
    tags = {name.lower(): value for name, value in game.tags.items() if re.fullmatch(r"[A-Za-z][A-Za-z-]*", name)}
    tags["result"] = score
    options = [f"{name}={value_text(value)}" for name, value in settled.overrides.items()]
    tags["variant"] = " ".join([settled.variant.name, *options])
    if game.position is not None:
        board, *rest = settled.write(settled.read(game.position)).split()
        first = "a" if attackers_first else "d"
        tags["position"] = " ".join([f"/{board.strip('/')}/", *(rest if rest != [first, "0", "0"] else [])])
    tags["rules"] = _rules_tag(settled)
    lines = [f"[{name}:{_one_line(value)}]" for name, value in tags.items()]
    words = [_otn_remarked(move, game, ply) for ply, move in enumerate(_otn_moves(game, settled), 1)]
    said = [_otn_comment(game.comments[0])] if 0 in game.comments else []
    return "\n".join([*lines, "", *said, *_numbered(words, every=1), ""])


def _otn_comment(text: str) -> str:
    """Return a comment in brackets, written so that no reader mistakes it for a tag."""
    said = text.replace("[", "(").replace("]", ")")
    return f"[{said}]" if _OTN_TAG.fullmatch(said) is None else f"[- {said}]"


def _otn_remarked(word: str, game: GameText, ply: int) -> str:
    said = [_otn_comment(game.comments[ply])] if ply in game.comments else []
    return " ".join([word + game.marks.get(ply, ""), *said])


def _one_line(value: str) -> str:
    """Return a tag's value without characters that would end the tag."""
    return re.sub(r"[\[\]\s]+", " ", value).strip()


def _otn_moves(game: GameText, settled: Ruleset) -> Iterator[str]:
    """Yield the moves as OpenTafl writes them; from the first illegal one on, only start and end."""
    config, state = settled.config, settled.read(game.position)
    is_legal = True
    for text in game.moves:
        move = read_move(text, state, config)
        after = step(settled, state, move) if is_legal else None
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


_read = titled(branched(read_games), moves=ANNOUNCEMENTS)

FORMATS = (
    GameFormat("tablut", _read, branching(write_game), "tag lines, then numbered moves and the result"),
    GameFormat("tablut-table", _read, branching(write_table), "tag lines, then a numbered row for each pair of moves"),
    GameFormat(
        "otn",
        titled(branched(read_otn, BRACKETS), tag=lambda variant: f"[variant:{variant}]\n", moves=ANNOUNCEMENTS),
        branching(write_otn, BRACKETS),
        "OpenTafl records: tags, moves with captures",
    ),
    REVERSIBLE,
)
