"""The cause of a failed check in one sentence, and what the bot's author can do.

The cause is derived from how the bot ended, from the lines it wrote instead of an answer, and from the end of its
standard error. Only its author may see its standard error.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import takewhile

from referee.bot.bridge import BRIDGES
from referee.game.failure import BotError
from referee.game.spec import BotLimits, BotSpec
from referee.rules.core import Termination
from referee.sandbox.closed import closed_file

_NO_MEMORY = re.compile(
    r"MemoryError|bad_alloc|Out ?Of ?Memory|insufficient memory|memory exhausted|heap limit|memory allocation|"
    r"(?:cannot|can't|could not|failed to|unable to) (?:allocate|reserve)|failed to map",
    re.IGNORECASE,
)
"""Messages of programs that ran out of memory."""
_SIZE = re.compile(r"(\d[\d.,]*)[ -]?(bytes?|[KMGT]i?B)\b", re.IGNORECASE)
_UNITS = {"b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_DENIED = re.compile(r"permission denied|not permitted|cannot be read|access ?denied|EACCES|unable to access", re.I)
_COLOUR = re.compile(r"\\x1b\[[0-9;?]*[A-Za-z]")
"""Terminal codes as the transcript shows them."""
_ANSWERS = {"> go": "bestmove", "> isready": "readyok", "> ugi": "ugiok"}
_LIKE = 0.7
"""Least similarity of a word that is taken for a misspelt answer."""
_LINES = 6
"""Lines of standard error that are quoted."""
_SHOWN = 60
_FOUND = ("put the program, its interpreter and its libraries where the bot is, or name what the sandbox has",)


@dataclass(frozen=True, slots=True)
class Cause:
    """The cause of a failure: `detail` in one sentence, `advice` what to do, `said` the last lines of standard error.

    `is_certain` is False if it is only known that no answer came in time: a busy machine may be the reason.
    """

    detail: str
    advice: str
    said: str = ""
    is_certain: bool = True


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of a failure.

    `lines` are those exchanged in the step. `unfinished` is output without a line end, `at_end` the lines that the bot
    wrote only when its input was closed. `log` is the bot's standard error.
    """

    error: BotError
    spec: BotSpec
    limits: BotLimits
    lines: Sequence[str] = ()
    unfinished: str = ""
    at_end: Sequence[str] = ()
    log: str = ""

    @property
    def said(self) -> str:
        """The last lines of the bot's standard error."""
        return "\n".join([line.rstrip() for line in self.log.splitlines() if line.strip()][-_LINES:])


def cause_of(evidence: Evidence, advice: str) -> Cause:
    """Return the cause of a failure; `advice` is kept if the cause has none of its own."""
    for find in _CAUSES:
        if cause := find(evidence):
            return replace(cause, said=evidence.said, advice=cause.advice or advice)
    return Cause(str(evidence.error), advice, evidence.said, is_certain=not is_late(evidence.error))


def is_late(error: BotError) -> bool:
    """Return whether the bot failed because it gave no answer, or none in time."""
    silent = (Termination.STALLED, Termination.HANDSHAKE_FAILED, Termination.TIME)
    return error.termination in silent and any(
        words in error.detail for words in ("no answer", "no bestmove", " after ")
    )


def _memory(evidence: Evidence) -> Cause | None:
    """Recognise a program that could not allocate memory, or exceeded its memory limit."""
    refused = [line for line in evidence.log.splitlines() if _NO_MEMORY.search(line)]
    if evidence.error.termination is not Termination.MEMORY_LIMIT and not refused:
        return None
    sizes = [_megabytes(*match.groups()) for line in refused for match in _SIZE.finditer(line)]
    allowed = round(evidence.limits.memory_bytes / 2**20)
    detail = f"out of memory ({allowed:,} MB allowed): {evidence.error}"
    advice = f"use less memory, or allow it more: --memory MB ({allowed:,} now)"
    if asked := max(sizes, default=0):
        detail = f"out of memory (asked for {asked:,} MB, {allowed:,} MB allowed): {evidence.error}"
        if asked > allowed:
            advice = f"use less memory, or allow it more: --memory {asked + max(256, asked // 4)}"
    return Cause(detail, advice)


def _megabytes(number: str, unit: str) -> int:
    try:
        return -(-round(float(number.replace(",", "")) * _UNITS[unit[0].lower()]) // 2**20)
    except ValueError:
        return 0


def _unreadable(evidence: Evidence) -> Cause | None:
    """Recognise a file that the sandbox's user may not read; a bridge to another protocol may have reported it."""
    if not _DENIED.search(f"{evidence.log} {evidence.error.detail}"):
        return None
    path = closed_file(f"{evidence.log} {evidence.error.detail}", evidence.spec.command, evidence.spec.folder)
    if not path:
        return None
    return Cause(
        f"{path} may not be read by the sandbox's user: {evidence.error}",
        f"let every user read it: chmod a+rX {shlex.quote(path)}",
    )


def _missing(evidence: Evidence) -> Cause | None:
    """Recognise a program, interpreter or library that the sandbox lacks."""
    how = evidence.error.detail
    if "exit code 126" in how or "exit code 127" in how:
        found = "not to be run" if "exit code 126" in how else "not found"
        return Cause(f"{found} in the sandbox: {evidence.error}", *_FOUND)
    return None


def _bridge(evidence: Evidence) -> Cause | None:
    """Recognise an ended bridge to another protocol: its last line explains the error of the program behind it."""
    is_bridge = any(word == f"bots.bridges.{module}" for word in evidence.spec.command for module in BRIDGES.values())
    last = evidence.said.rpartition("\n")[2]
    if is_bridge and last and "exit code" in evidence.error.detail:
        return Cause(f"{last} ({evidence.error})", "fix the program behind the bridge, or its command")
    return None


def _spelling(evidence: Evidence) -> Cause | None:
    """Recognise an answer in a wrong form: misspelt, coloured, not first in its line, or a move without `bestmove`."""
    if not is_late(evidence.error):
        return None
    asked = next((line for line in reversed(evidence.lines) if line.startswith("> ") and line != "> stop"), "")
    expected = next((answer for question, answer in _ANSWERS.items() if asked.startswith(question)), "")
    if not expected:
        return None
    since = takewhile(lambda line: line != asked, reversed(evidence.lines))
    answers = [line[2:] for line in since if line.startswith("< ")]
    if cause := next(filter(None, (_misspelt(line, expected) for line in answers)), None):
        return cause
    if expected == "bestmove" and answers and (move := answers[0].strip()) and " " not in move:
        return Cause(f"`{move[:_SHOWN]}` is not `bestmove {move[:_SHOWN]}`", "write `bestmove` before the move")
    return None


def _misspelt(line: str, expected: str) -> Cause | None:
    """Return the error in a line that was meant as the expected answer; None for any other line."""
    plain = _COLOUR.sub("", line).strip()
    first = plain.split(maxsplit=1)[0].strip(":=") if plain else ""
    if first == expected and plain != line:
        return Cause(f"it writes colour codes: `{line[:_SHOWN]}`", f"write plain text: `{plain[:_SHOWN]}`")
    if first != expected and SequenceMatcher(None, first.casefold(), expected).ratio() >= _LIKE:
        return Cause(f"`{first}` is not `{expected}`", f"write `{expected}` exactly, in lower case")
    if first != expected and expected in plain.casefold():
        return Cause(f"`{plain[:_SHOWN]}` does not begin with `{expected}`", f"write `{expected}` first in its line")
    return None


def _buffered(evidence: Evidence) -> Cause | None:
    """Recognise an answer that was written but did not arrive: without a line end, or not flushed."""
    if not is_late(evidence.error):
        return None
    if evidence.unfinished:
        return Cause(f"its line `{evidence.unfinished[:_SHOWN]}` has no line end", "end every line with a newline")
    if held := next((line for line in evidence.at_end if line.startswith(tuple(_ANSWERS.values()))), ""):
        return Cause(
            f"`{held[:_SHOWN]}` came only when its input ended: it does not flush",
            "flush standard output after every line",
        )
    return None


def _breach(evidence: Evidence) -> Cause | None:
    """Recognise a line or an amount of output that the protocol does not allow."""
    if evidence.error.termination in (Termination.PROTOCOL_ERROR, Termination.OUTPUT_LIMIT):
        return Cause(str(evidence.error), "write no other lines than the protocol has: protocol/SPEC.md")
    return None


def _ended(evidence: Evidence) -> Cause | None:
    """Recognise a program that ended by itself, or was killed."""
    how = evidence.error.detail
    if "exit code 0" in how:
        return Cause(f"starts, but ends: {evidence.error}", "read lines until `quit`, and do not end before")
    if "exit code" in how or "killed by" in how:
        is_told = bool(evidence.said)
        return Cause(
            str(evidence.error),
            "fix the error on standard error" if is_told else "start it by hand and type the lines shown",
        )
    return None


_CAUSES: tuple[Callable[[Evidence], Cause | None], ...] = (
    *(_memory, _unreadable, _missing, _bridge, _spelling, _buffered, _breach, _ended),
)
"""The causes in the order in which they are looked for: the first that holds is named."""
