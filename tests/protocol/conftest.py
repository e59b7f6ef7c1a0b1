"""Conversations as text: `> ` to the bot, `< ` from it, `! ` what the end that reads the line above makes of it.

A conversation that does not begin with `> ugi` begins after a silent handshake. `# ` and empty lines are for people,
`@ capabilities {...}` says what the referee knows of the bot. Verdicts are the first words after `! `; see `_VERDICTS`.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from protocol.capabilities import Capabilities
from protocol.errors import BadOption, OutOfTurn
from protocol.lines import LineSplitter
from protocol.messages import BestMove, Response, SetOption, Unknown
from protocol.parser import parse_bot_line, parse_referee_line
from protocol.session import RefereeSession
from protocol.turn import Stray
from tests.protocol.bot_session import BotSession

_VERDICTS: dict[str, Callable[[object], bool]] = {
    "ignored": lambda found: isinstance(found, Unknown),
    "counted": lambda found: isinstance(found, Stray),
    "no move": lambda found: found in (BestMove(None), BestMove(None, "draw")),
    "answer": lambda found: isinstance(found, Response),
    "protocol-error": lambda found: isinstance(found, OutOfTurn),
    "unknown option": lambda found: isinstance(found, BadOption),
}


class Conversation:
    """Both ends of the wire, and what each made of the last line it read."""

    def __init__(self) -> None:
        self.referee = RefereeSession()
        self.bot = BotSession()
        self.seen: list[object] = []

    def run(self, lines: list[str]) -> None:
        """Hold the conversation; every line must be allowed, and read by the other end as it was written."""
        told = [line.rstrip() for line in lines if line.strip() and not line.startswith("#")]
        for line in told:
            if line.startswith("@ capabilities "):
                self.referee = RefereeSession(Capabilities.from_json(json.loads(line.split(None, 2)[2])))
        told = [line for line in told if not line.startswith("@")]
        if told[0] != "> ugi":
            told = ["> ugi", "< ugiok", *told]
        for line, after in zip(told, [*told[1:], ""], strict=True):
            verdict = after[2:] if after.startswith("! ") else None
            if line.startswith("> "):
                self._to_bot(line[2:], verdict)
            elif line.startswith("< "):
                self._from_bot(line[2:], verdict)
            else:
                assert line.startswith("! "), f"neither >, <, # nor !: {line}"

    def _to_bot(self, line: str, verdict: str | None) -> None:
        message = parse_referee_line(line)
        # The referee says nothing but what the language has, and in one spelling.
        assert self.referee.send(message) == line.encode() + b"\n"
        try:
            answer: object = self.bot.receive(line)
        except (OutOfTurn, BadOption) as error:
            answer = error
        if isinstance(message, SetOption) and self.referee.capabilities.setoption == "bare":
            return
        self._judge(line, answer, message, verdict)

    def _from_bot(self, line: str, verdict: str | None) -> None:
        if verdict is None:
            message = parse_bot_line(line)
            if str(message) == line:
                assert self.bot.send(message) == line.encode() + b"\n"
        else:
            message = Unknown("")
        try:
            answer: object = self.referee.receive(line.encode())
        except OutOfTurn as error:
            answer = error
        self._judge(line, answer, message, verdict)
        if isinstance(answer, BestMove | Response) and str(answer) != line:
            self.bot.send(answer)  # an unusual spelling: our own end has to have said it too

    def _judge(self, line: str, found: object, expected: object, verdict: str | None) -> None:
        self.seen.append(found)
        if verdict is None:
            assert found == expected, f"{line!r} was read as {found!r}"
            return
        known = next((word for word in _VERDICTS if verdict.startswith(word)), None)
        assert known, f"no such verdict: {verdict!r}; known: {', '.join(_VERDICTS)}"
        assert _VERDICTS[known](found), f"{line!r} was read as {found!r}, not {verdict!r}"


@pytest.fixture
def conversation() -> Conversation:
    """Both ends, nothing said yet."""
    return Conversation()


@pytest.fixture
def referee() -> RefereeSession:
    """The referee's end after a handshake with a bot that announced nothing."""
    session = RefereeSession()
    session.send(parse_referee_line("ugi"))
    session.receive(b"ugiok")
    return session


@pytest.fixture
def bot() -> BotSession:
    """The bot's end after its handshake."""
    session = BotSession()
    session.receive("ugi")
    session.send(parse_bot_line("ugiok"))
    return session


@pytest.fixture
def splitter() -> LineSplitter:
    """A splitter of lines with the usual limit."""
    return LineSplitter()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`transcript` runs over the files of `protocol/transcripts/`, `spec_block` over every transcript of SPEC.md."""
    here = Path(__file__).parent
    if "transcript" in metafunc.fixturenames:
        files = sorted((here.parents[1] / "protocol" / "transcripts").glob("*.txt"))
        metafunc.parametrize("transcript", files, ids=[file.stem for file in files])
    if "spec_block" in metafunc.fixturenames:
        blocks, heading, current = [], "", None
        text = (here.parents[1] / "protocol" / "SPEC.md").read_text(encoding="utf-8")
        for line in text.splitlines():
            if line.startswith("```"):
                if current is not None:
                    blocks.append((f"{heading}", current))
                current = [] if line.strip() == "```transcript" and current is None else None
            elif current is not None:
                current.append(line)
            elif line.startswith("#"):
                heading = line.strip("# ").lower()
        metafunc.parametrize("spec_block", [block for _, block in blocks], ids=[name for name, _ in blocks])
