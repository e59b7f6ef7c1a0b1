"""The specification mentions everything there is, and its numbers are the program's."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from protocol import capabilities, messages, negotiation, parser, session
from protocol.lines import LIMIT_BYTES
from protocol.messages import BestMove, Info, SetPosition
from protocol.options import TYPES
from protocol.parser import parse_bot_line, parse_referee_line
from referee.families import folder
from referee.game.score import WIN_SCORE, centipawns
from referee.rules import families, load
from referee.rules.core import Kind, Termination
from referee.rules.position import Position

SPEC = Path(messages.__file__).with_name("SPEC.md").read_text(encoding="utf-8")
DIALECTS = Path(messages.__file__).with_name("dialects")


def rows(heading: str) -> dict[str, list[str]]:
    """The table rows under a heading, by their first cell."""
    section = re.split(r"\n#+ ", SPEC.partition(f"\n## {heading}\n")[2].partition("\n## ")[0])
    cells = [line.strip("|").split("|") for part in section for line in part.splitlines() if line.startswith("| `")]
    return {row[0].strip().strip("`"): [cell.strip() for cell in row[1:]] for row in cells}


@pytest.mark.parametrize("verb", [*parser._BOT, *parser._REFEREE])
def test_every_verb_is_in_the_grammar(verb):
    assert re.search(rf"\b{verb}\b", SPEC.partition("## Grammar")[2])
    assert re.search(rf"^[<>] {verb}\b", SPEC, re.MULTILINE), f"no transcript shows {verb}"


@pytest.mark.parametrize("kind", TYPES)
def test_every_option_type_is_explained(kind):
    assert kind in rows("Options")


@pytest.mark.parametrize(
    "name",
    [
        negotiation.VARIANT_OPTION,
        negotiation.RULE_PREFIX + "<option>",
        negotiation.SETUP_OPTION,
        capabilities.CLOCKS_OPTION,
        capabilities.RESULT_OPTION,
        capabilities.LEGAL_MOVES_OPTION,
    ],
)
def test_every_option_of_the_arena_is_explained(name):
    assert name in rows("Options")


@pytest.mark.parametrize("page", sorted(DIALECTS.glob("*.md")), ids=lambda page: page.stem)
def test_the_phase_of_a_family_is_announced_as_its_dialects_page_says(page):
    if phase := load(page.stem).phase:
        assert f"`option name {phase.announced_by} type check default false`" in page.read_text(encoding="utf-8")
        assert phase.announced_by in rows("Options")


def test_every_capability_is_explained():
    probed = {field.name for field in fields(capabilities.Capabilities)} - {"families", "name", "author", "options"}
    assert set(rows("Quirks")) == probed


def test_every_termination_is_explained_once_under_its_kind():
    for kind, heading in zip(Kind, ["By the rules", "By adjudication", "By forfeit", "Void"], strict=True):
        table = SPEC.partition(f"\n**{heading}**")[2].partition("\n**")[0].partition("\n## ")[0]
        listed = re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)
        assert listed == [str(word) for word in Termination if word.kind is kind]


@pytest.mark.parametrize("page", sorted(DIALECTS.glob("*.md")), ids=lambda page: page.stem)
def test_every_termination_of_a_family_is_on_its_dialects_page(page):
    listed = page.read_text(encoding="utf-8").partition("\nTerminations: ")[2].partition("\n\n")[0]
    assert set(re.findall(r"`([a-z-]+)`", listed)) == set(load(page.stem).reasons)


@pytest.mark.parametrize("family", families())
def test_every_termination_of_a_family_is_in_its_rules(family):
    text = (folder(family) / "RULES.md").read_text(encoding="utf-8")
    assert [word for word in load(family).reasons if f"`{word}`" not in text] == []


@pytest.mark.parametrize("page", sorted(DIALECTS.glob("*.md")), ids=lambda page: page.stem)
def test_every_option_of_bots_is_on_its_dialects_page(page):
    text = page.read_text(encoding="utf-8")
    names = [option.name for option in load(page.stem).options if option.changes != "display"]
    assert [name for name in names if f"Rule.{name}" not in text] == []


@pytest.mark.parametrize("family", sorted(set(families()) - {"abalone"}))  # whose thirty starts its rules list
def test_every_variant_is_on_its_dialects_page(family):
    text = (DIALECTS / f"{family}.md").read_text(encoding="utf-8")
    assert [variant.name for variant in load(family).variants if variant.name not in text] == []


@pytest.mark.parametrize("page", sorted(DIALECTS.glob("*.md")), ids=lambda page: page.stem)
def test_every_dialects_page_has_a_whole_game(page):
    text = page.read_text(encoding="utf-8")
    assert f"[exact rules](../../referee/rules/{page.stem}/RULES.md)" in text
    section = text.partition("\n## A whole game\n")[2].partition("\n## ")[0]
    start, *moves, end = re.findall(r"^    (.+)$", section, re.MULTILINE)
    variant, reason = re.findall(r"`([a-z-]+)`", section)[:2]
    rules = load(page.stem)
    position = Position.start(rules.settle(variant))
    assert (variant, str(position)) == (rules.variants[0].name, start)
    for move in " ".join(moves).split():
        assert position.outcome is None
        assert move in position.texts
        position = position.play(move)
    assert str(position) == end
    assert position.outcome
    assert position.outcome.reason == reason
    assert f"; {rules.sides[position.outcome.winner == 'second']} win" in section


def test_scores_near_a_win_are_written_as_the_referee_reads_them():
    for words, expected in (("win 1", WIN_SCORE - 1), ("win 3", WIN_SCORE - 3), ("win -2", 2 - WIN_SCORE)):
        assert f"`{words}`" in SPEC
        info = parse_bot_line(f"info score {words}")
        assert isinstance(info, Info)
        assert centipawns(info) == expected
    assert f"{WIN_SCORE:,} − N centipawns".replace(",", " ") in SPEC


def test_the_parts_of_info_are_explained():
    listed = " ".join(rows("info"))
    for field in fields(Info):
        word = {"time_ms": "time", "score_kind": "score cp", "text": "string"}.get(field.name, field.name)
        assert word in listed


def test_the_numbers_of_the_text_are_the_programs():
    assert f"at most {LIMIT_BYTES} bytes" in SPEC
    assert f"At most {session.MAX_OPTIONS} options" in SPEC
    assert f"at most {session.MAX_FAMILIES}" in SPEC
    assert f"cut to {session.MAX_NAME} characters" in SPEC
    assert f"one {capabilities.MOVES_TO_GO}th of the remaining time" in SPEC
    for token in messages.NO_MOVES:
        assert f"{token}`" in SPEC


def test_the_limits_are_the_referees():
    limits = pytest.importorskip("referee.game.spec").BotLimits()
    listed = {name: int(cells[0].replace(" ", "")) for name, cells in rows("Limits").items()}
    assert listed == {field.name: getattr(limits, field.name) for field in fields(limits)}


def test_the_moves_shown_are_legal(spec_block):
    told = "\n".join(spec_block)
    variant = re.search(r"setoption name (?:Variant|Setup) value (.*)", told)
    options = {"swap_phase": True} if "SwapPhase value true" in told else {}
    is_pijersi = "family pijersi" in told or "a4b5c4" in told or "id name Cubes" in told
    ruleset = load("pijersi" if is_pijersi else "loa").settle(variant and variant[1], options)
    position = None
    for line in spec_block:
        if line.startswith("> position"):
            message = parse_referee_line(line[2:])
            assert isinstance(message, SetPosition)
            position = Position.start(ruleset, message.fen).play_all(message.moves)
        elif line.startswith("< ") and position is not None:
            answer = parse_bot_line(line[2:])
            if isinstance(answer, Info):
                position.play_all(answer.pv)
            elif isinstance(answer, BestMove) and answer.move and spec_block[-1] != "! protocol-error":
                code = position.read(answer.move)
                assert ruleset.rules.notation.write_move(code) == answer.move


def test_links_lead_somewhere():
    anchors = {
        re.sub(r"[^a-z0-9 -]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in SPEC.splitlines()
        if line.startswith("#")
    }
    for target in re.findall(r"\]\(#([^)]+)\)", SPEC):
        assert target in anchors
