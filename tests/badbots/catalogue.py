"""Every fault there is a program for: what it must cost, whom, and how soon."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

from referee.game.spec import BotLimits, BotSpec, TimeControl

HERE = Path(__file__).parent

LONG_MS = 200_000
"""Far more than a judgement may take: who is found out only when this time is up is found out too late."""
LIMITS = replace(BotLimits(), start_ms=LONG_MS, ready_ms=LONG_MS, grace_ms=LONG_MS, quit_ms=150, output_bytes=2**21)
LONG = TimeControl("clock", LONG_MS, 0)
SHORT = TimeControl("clock", 300, 0)
MEMORY = 100 * 2**20


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: the program, the terminations it may end in, and the milliseconds after which it must have ended.

    `confined` are the terminations where the sandbox holds the bot's pipes open, so that closing them goes unseen.
    """

    name: str
    terminations: tuple[str, ...]
    limit_ms: int = 0
    words: tuple[str, ...] = ()
    limits: BotLimits = LIMITS
    confined: tuple[str, ...] = ()
    evidence: str = ""
    """What the record must say."""
    leaves_ms: int = 0
    """How long it may take to get rid of it."""

    def expected(self, is_confined: bool) -> tuple[str, ...]:
        """The terminations it may end in where the sandbox holds the bot's pipes open, or does not."""
        return self.confined if is_confined and self.confined else self.terminations

    def time(self, is_confined: bool) -> TimeControl:
        """The clock: a short one where it is the clock that finds it out."""
        return SHORT if {"stalled", "time"} & set(self.expected(is_confined)) else LONG

    @property
    def bot(self) -> BotSpec:
        """The program as a bot."""
        script = HERE / f"{self.name}.sh"
        if script.exists():
            return BotSpec("bad", ("/bin/sh", str(script)))
        return BotSpec("bad", (sys.executable, "-S", "-E", str(HERE / f"{self.name}.py"), *self.words))


_BRIEF = replace(LIMITS, grace_ms=200)
"""Soon over for who never answers."""
_CLOCK_MS = SHORT.base_ms + _BRIEF.margin_ms + _BRIEF.grace_ms


def _clock(fault: str, *terminations: str, confined: tuple[str, ...] = (), evidence: str = "") -> Fault:
    """A fault that is found out when the time is up."""
    return Fault(fault, terminations, _CLOCK_MS, limits=_BRIEF, confined=confined, evidence=evidence)


_AT_START = replace(LIMITS, start_ms=400)
_AT_READY = replace(LIMITS, ready_ms=400)
_SMALL = replace(LIMITS, memory_bytes=MEMORY)
_FEW = replace(LIMITS, processes=24)

FAULTS: tuple[Fault, ...] = (
    # It ends.
    Fault("exits_at_start", ("handshake-failed",), evidence="exit code 3"),
    Fault("exits_on_isready", ("crashed",), evidence="exit code 4, `isready`"),
    Fault("exits_on_go", ("crashed",), evidence="exit code 7, thinking"),
    Fault("killed", ("crashed",), evidence="killed by SIGKILL"),
    Fault("segfaults", ("crashed",), evidence="killed by SIGSEGV"),
    Fault("shell_gone", ("crashed",), evidence="exit code 1"),
    Fault("crashes_at_quit", ("resigned",)),
    # It does not answer.
    Fault("silent_at_handshake", ("handshake-failed",), 400, limits=_AT_START, evidence="no answer to `ugi` in 0.4 s"),
    Fault("silent_at_isready", ("stalled",), 400, limits=_AT_READY, evidence="no answer to `isready` in 0.4 s"),
    _clock("silent_at_go", "stalled", evidence="no bestmove"),
    Fault("silent_at_quit", ("resigned",), leaves_ms=LIMITS.quit_ms),
    Fault("ignores_signals", ("resigned",), leaves_ms=LIMITS.quit_ms),
    _clock("stops_itself", "stalled"),
    Fault("does_not_read", ("stalled",), 400, limits=_AT_READY),
    Fault("no_newline", ("stalled",), 400, limits=_AT_READY),
    _clock("drips", "stalled"),
    replace(_clock("late", "time", evidence="came later"), limits=LIMITS),
    replace(_clock("dates_its_move", "time", evidence="came later"), limits=LIMITS),
    _clock("talks_past_its_time", "stalled"),
    Fault("talks_through_handshake", ("handshake-failed",), 400, limits=_AT_START),
    # It says what nobody asked for.
    Fault("two_bestmoves", ("protocol-error",), evidence="two bestmoves"),
    Fault("bestmove_before_go", ("protocol-error",), evidence="'bestmove b1b3'"),
    # Where it comes after the next `go`, nobody can tell it from an answer.
    Fault("moves_ahead", ("protocol-error", "resigned")),
    Fault("illegal_move", ("illegal-move",), evidence="'b1b4'"),
    Fault("null_move", ("illegal-move",), evidence="'0000'"),
    Fault("empty_move", ("illegal-move",), evidence="no move"),
    Fault("another_game", ("illegal-move",), evidence="'a4b5c4'"),
    Fault("another_family", ("handshake-failed",), evidence="abalone"),
    Fault("changes_id", ("resigned",)),
    Fault("many_options", ("resigned",), 400),
    # It says it in a strange way.
    _clock("garbage", "stalled"),
    Fault("nul_bytes", ("illegal-move",), evidence="b1\\x00b3"),
    Fault("invalid_utf8", ("illegal-move",)),
    Fault("byte_by_byte", ("resigned",)),
    # It says too much.
    Fault("endless_line", ("output-limit",), evidence="8192 are allowed"),
    Fault("endless_line_at_handshake", ("output-limit",), evidence="8192 are allowed"),
    Fault("line_too_long", ("output-limit",), words=(str(LIMITS.line_bytes),)),
    Fault("endless_info", ("output-limit",), evidence="2,097,152 bytes"),
    Fault("endless_newlines", ("output-limit",), 400),
    Fault("floods_stderr", ("output-limit",)),
    Fault("talks_out_of_turn", ("resigned", "output-limit")),
    Fault("huge_info", ("resigned",), words=(str(LIMITS.line_bytes), str(LIMITS.output_bytes))),
    # It plays with its pipes and its processes.
    _clock("closes_stdout", "protocol-error", confined=("stalled",)),
    _clock("closes_stdin", "protocol-error", confined=("stalled",)),
    Fault("closes_stderr", ("resigned",)),
    Fault("child_holds_pipes", ("crashed",), evidence="exit code 9"),
    Fault("daemon", ("resigned",)),
    Fault("zombies", ("resigned",)),
    # It takes too much.
    Fault("memory_hog", ("memory-limit",), 600, limits=_SMALL),
    Fault("memory_hog_in_children", ("memory-limit",), 600, words=(str(MEMORY // 3),), limits=_SMALL),
    # Where nobody counts refusals, a bot that gives up at the first one has just crashed.
    Fault("fork_bomb", ("process-limit",), 800, limits=_FEW, confined=("process-limit", "crashed")),
    Fault("thread_bomb", ("process-limit",), 800, limits=_FEW, confined=("process-limit", "crashed")),
)
