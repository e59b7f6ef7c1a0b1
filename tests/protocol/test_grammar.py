"""The language as data: it is what the specification says, what the program does, and what conversations hold to."""

import re
import tomllib
from pathlib import Path

import pytest

import protocol
from protocol import parser, session, ugicheck
from protocol.lines import LIMIT_BYTES
from protocol.turn import SessionState

FOLDER = Path(protocol.__file__).parent
GRAMMAR = tomllib.loads((FOLDER / "grammar.toml").read_text(encoding="utf-8"))
SPEC = (FOLDER / "SPEC.md").read_text(encoding="utf-8")


def test_it_has_the_verbs_states_and_bounds_of_the_program():
    assert GRAMMAR["states"] == [state.value for state in (*SessionState,)]
    assert set(GRAMMAR["referee"]) == set(parser._REFEREE)
    assert set(GRAMMAR["bot"]) == set(parser._BOT)
    assert set(GRAMMAR["bot"]) == ugicheck.KNOWN
    assert GRAMMAR["line_bytes"] == LIMIT_BYTES == ugicheck.MAX_LINE_BYTES


def test_what_the_referee_says_when_is_what_its_session_allows():
    said = {
        GRAMMAR_VERB[kind]: (needed.value, after.value)
        for kind, (needed, after) in session._REFEREE_TRANSITIONS.items()
    }
    for verb, rule in GRAMMAR["referee"].items():
        if verb != "quit":
            assert said[verb] == (*rule["from"], rule.get("to", rule["from"][0])), verb
    for kind, (needed, _) in session._BOT_ANSWERS.items():
        assert GRAMMAR["bot"][GRAMMAR_VERB[kind]]["from"] == [needed.value]


VERBS = {"SetPosition": "position", "UgiQuery": "query", "UgiResult": "result", "LegalMoves": "legal"}
GRAMMAR_VERB = {
    kind: VERBS.get(kind.__name__, kind.__name__.lower())
    for kind in (*session._REFEREE_TRANSITIONS, *session._BOT_ANSWERS)
}


def test_the_specification_has_the_same_forms():
    block = " ".join(SPEC.partition("## Grammar")[2].split())
    for end in ("referee", "bot"):
        for verb, one in GRAMMAR[end].items():
            assert " ".join(one["form"].split()) in block, verb


def test_conversations_hold_to_it(transcript: Path):
    """Every line that is read as what it seems to be fits, in the state it comes in; the others have a verdict."""
    state = "started"
    lines = [line for line in transcript.read_text(encoding="utf-8").splitlines() if line.strip() and line[0] in "<>!"]
    if lines[0] != "> ugi":
        state = "idle"
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if line[0] == "!":
            continue
        known = GRAMMAR["referee" if line[0] == ">" else "bot"]
        verb, is_judged = line[2:].split()[0], after.startswith("! ")
        if verb not in known:
            assert is_judged or line[0] == "<", line
            continue
        rule = known[verb]
        fits = re.fullmatch(rule["pattern"], " ".join(line[2:].split())) and state in rule["from"]
        assert fits or is_judged, f"{line!r} while {state}"
        if state in rule["from"]:
            state = rule.get("to", state)


class Replay:
    """Stands for an engine that sends the lines of a transcript."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = iter(lines)
        self.problems: list[tuple[str, str]] = []

    def send(self, _line: str) -> None:
        """Its answers are fixed."""

    def receive(self, _seconds: float, _watch: object) -> ugicheck.Line:
        return ugicheck.Line(next(self.lines), 0.0)


def is_sound(transcript: Path) -> bool:
    """Whether it begins with a handshake, and says nothing wrong on purpose."""
    lines = transcript.read_text(encoding="utf-8").splitlines()
    return "> ugi" in lines and "< ugiok" in lines and not any(line.startswith("! ") for line in lines)


SOUND = [path for path in sorted((FOLDER / "transcripts").glob("*.txt")) if is_sound(path)]


@pytest.mark.parametrize("path", SOUND, ids=lambda path: path.stem)
def test_the_checker_finds_no_fault_in_them(path: Path):
    said = [line[2:] for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("< ")]
    report = ugicheck.UgiReport(lambda _: None)
    talk = ugicheck.EngineSession(Replay(said), report, timeout_s=1.0)
    talk.introduce()
    assert not report.faults
    assert len(talk.options) == sum(line.startswith("option ") for line in said)


def test_some_of_them_are_sound():
    assert {path.stem for path in SOUND} == {"game", "handshake", "swap"}
