"""Wrong answers: what a bot wrote instead of the answer that was expected, or how it wrote it.

Each function returns the cause if it recognises the fault.
"""

from __future__ import annotations

import re
import shlex
from difflib import SequenceMatcher

from referee.check.evidence import ANSWERS, MAX_QUOTED, Cause, Evidence

_COLOUR = re.compile(r"\\x1b\[[0-9;?]*[A-Za-z]")
"""Terminal codes as the transcript shows them."""
_LIKE = 0.7
"""Least similarity of a word that is taken for a misspelt answer: just above `move` for `bestmove` (0.67)."""
_MUCH_BYTES = 65_536
"""More than a program that does not flush holds back: buffers have 4 to 64 KiB."""
_PAGE = "docs/how-to/connect-an-existing-program.md"
_ADAPTER = f"let it speak UGI (protocol/SPEC.md), or connect it by an adapter: {_PAGE}"
_CONNECTORS = {"UCI": "bridge:uci", "XBoard": "bridge:xboard"}
"""The bridges for protocols of chess engines."""
_FOREIGN = (
    (re.compile(r"feature |Error \(unknown command\)"), "XBoard"),
    (re.compile(r"uciok\b"), "UCI"),
    (re.compile(r"[?=]\d* "), "GTP"),
    (re.compile(r".*(?:unknown|unrecogni[sz]ed|invalid|illegal) (?:command|input)", re.IGNORECASE), "another protocol"),
)
"""The beginning of lines by which programs of other protocols are recognised."""
FOREIGN_GREETINGS = b"uci\nxboard\nprotover 2\n"
"""How other protocols begin: sent to a program that gave no answer to `ugi`, before its input is closed."""
_RESIGNS = re.compile(r"\b(?:i |we )?(?:resign|give up|surrender)", re.IGNORECASE)
_UNEXPECTED = frozenset({"info", "id", "option", "bestmove", "response", "ugiok", "readyok"})
"""Words of the protocol: a line that begins with another one is quoted if no answer came."""


def foreign(evidence: Evidence) -> Cause | None:
    """Recognise a program that speaks another protocol, by what it wrote instead of `ugiok`."""
    if not evidence.is_late or evidence.expected != "ugiok":
        return None
    for line in (*evidence.answers, *evidence.at_end):
        for pattern, protocol in _FOREIGN:
            if pattern.match(line):
                advice = _ADAPTER
                if bridge := _CONNECTORS.get(protocol):
                    advice = f"connect it by '{bridge} -- {shlex.join(evidence.spec.command)[:MAX_QUOTED]}': {_PAGE}"
                return Cause(f"it speaks {protocol}, not UGI: it wrote `{line[:MAX_QUOTED]}`", advice)
    return None


def resigning(evidence: Evidence) -> Cause | None:
    """Recognise a resignation in other words than the protocol's."""
    if evidence.is_late and evidence.expected == "bestmove":
        for line in evidence.answers:
            if _RESIGNS.match(line.strip()) and not line.startswith("info"):
                return Cause(f"`{line[:MAX_QUOTED]}` is no answer to `go`", "resign by `bestmove resign`")
    return None


def said_otherwise(evidence: Evidence) -> Cause | None:
    """Quote the last line that is not of the protocol, if no answer came."""
    if not evidence.is_late:
        return None
    others = [line for line in evidence.answers if line.strip() and line.split()[0] not in _UNEXPECTED]
    if not others:
        return None
    return Cause(f"{evidence.error}; it wrote `{others[0][:MAX_QUOTED]}`", "", is_certain=False)


def spelling(evidence: Evidence) -> Cause | None:
    """Recognise an answer in a wrong form: misspelt, coloured, not first in its line, or a move without `bestmove`."""
    if not evidence.is_late:
        return None
    expected, answers = evidence.expected, evidence.answers
    if not expected:
        return None
    if cause := next(filter(None, (_misspelt(line, expected) for line in answers)), None):
        return cause
    if expected == "bestmove" and answers and (move := answers[0].strip()) and " " not in move:
        return Cause(f"`{move[:MAX_QUOTED]}` is not `bestmove {move[:MAX_QUOTED]}`", "write `bestmove` before the move")
    return None


def _misspelt(line: str, expected: str) -> Cause | None:
    """Return the error in a line that was meant as the expected answer; None for any other line."""
    plain = _COLOUR.sub("", line).strip()
    first = plain.split(maxsplit=1)[0].strip(":=") if plain else ""
    if first == expected and plain != line:
        return Cause(f"it writes colour codes: `{line[:MAX_QUOTED]}`", f"write plain text: `{plain[:MAX_QUOTED]}`")
    if first != expected and SequenceMatcher(None, first.casefold(), expected).ratio() >= _LIKE:
        return Cause(f"`{first}` is not `{expected}`", f"write `{expected}` exactly, in lower case")
    if first != expected and expected in plain.casefold():
        return Cause(
            f"`{plain[:MAX_QUOTED]}` does not begin with `{expected}`", f"write `{expected}` first in its line"
        )
    return None


def buffered(evidence: Evidence) -> Cause | None:
    """Recognise an answer that was written too late or did not arrive: without a line end, or not flushed."""
    if not evidence.is_late:
        return None
    if evidence.written_bytes > _MUCH_BYTES:
        detail = f"{evidence.error}: it wrote {evidence.written_bytes:,} bytes meanwhile"
        return Cause(detail, "write less: writing takes the time of the answer", is_certain=False)
    if evidence.unfinished:
        return Cause(f"its line `{evidence.unfinished[:MAX_QUOTED]}` has no line end", "end every line with a newline")
    # An answer of a kind that arrived before was late, not held back.
    awaited = tuple(set(ANSWERS.values()) - evidence.flushed)
    if held := next((line for line in evidence.at_end if line.startswith(awaited)), ""):
        return Cause(
            f"`{held[:MAX_QUOTED]}` came only when its input ended: it does not flush",
            "flush standard output after every line",
        )
    return None
