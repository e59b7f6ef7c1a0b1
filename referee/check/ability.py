"""The optional capabilities of a bot: each function tests one and records whether the bot has it.

Each returns a phrase for the report, and raises Unfit or BotError if the bot lacks the capability.
"""

from __future__ import annotations

import random
import time
from dataclasses import replace

from protocol.capabilities import CLOCKS_OPTION, shorten_movetime
from referee.check.examinee import BotUnderTest, Unfit
from referee.check.timing import MOVE_TIMES_MS
from referee.game.failure import BotError
from referee.play.player import legal_line
from referee.rules.core import Termination
from referee.rules.position import Position

ANSWER_TIMEOUT_MS = 5000
"""Time for an answer that no clock limits; longer for a bot that is known to be slower."""
QUERY_TIMEOUT_MS = 1000
"""Time for the answer to `query`, which games do without."""
COSTLY_READY_MS = 250
"""A bot that takes longer for every `isready`, not only for the first, is sent only one."""
_WALK = 60
"""Plies of a random game from which positions are taken."""


def positions(examinee: BotUnderTest) -> str:
    """Find whether the bot can set up positions; otherwise it is sent games as moves from the start."""
    # A fixed seed, so that every check asks in the same positions; that of the step `legal moves` leads to others.
    rng = random.Random(2)
    examinee.go_home()
    assert examinee.history
    told_ms, timeout_ms = (
        shorten_movetime(examinee.fit_from_ms, examinee.capabilities.overshoot_ms),
        2 * MOVE_TIMES_MS[-1],
    )
    by_habit = examinee.ask(f"movetime {told_ms}", timeout_ms).move or ""
    examinee.learn(startpos_only=True)
    ruleset = examinee.history.ruleset
    asked, position = 0, Position.start(ruleset)
    for ply in range(_WALK):
        if asked == 2 or position.outcome is not None:
            break
        # A bot that ignores the position answers as in the start: only where that move is illegal does its answer prove
        # anything. At ply 20 it is asked in any case.
        if ply >= 2 and (ply == 20 or not _is_legal(position, by_habit)):
            examinee.ask(f"movetime {told_ms}", timeout_ms, position)
            asked += 1
        position = position.play(position.moves[rng.randrange(len(position.moves))])
    examinee.learn(startpos_only=False)
    return f"set up {asked}"


def clocks(examinee: BotUnderTest) -> str:
    """Find whether the bot supports clocks, by its announcement or else by a try."""
    option = examinee.bot.options.get(CLOCKS_OPTION)
    if option is not None and not option.is_default("true"):
        examinee.learn(clocks=False)
        raise Unfit(f"announces `{option}`")
    # With a twentieth of it for a move, as many bots plan, the bot has the shortest move time that it keeps.
    clock_ms = max(1000, 20 * examinee.fit_from_ms)
    words = f"p1time {clock_ms} p2time {clock_ms} p1inc {clock_ms // 20} p2inc {clock_ms // 20}"
    return f"answered after {_can(examinee, 'clocks', words, max(1000, 3 * examinee.fit_from_ms))} of {clock_ms} ms"


def depth(examinee: BotUnderTest) -> str:
    """Find whether the bot's search can be limited by depth."""
    return f"depth 1 in {_can(examinee, 'depth', 'depth 1', _timeout_ms(examinee))} ms"


def nodes(examinee: BotUnderTest) -> str:
    """Find whether the bot's search can be limited by nodes."""
    return f"100 nodes in {_can(examinee, 'nodes', 'nodes 100', _timeout_ms(examinee))} ms"


def _timeout_ms(examinee: BotUnderTest) -> int:
    return max(ANSWER_TIMEOUT_MS, 2 * examinee.fit_from_ms)


def _can(examinee: BotUnderTest, capability: str, words: str, allowance_ms: float) -> str:
    """Record the capability if the bot answers `go WORDS`; return the milliseconds that the answer took."""
    examinee.go_home()
    examinee.learn(**{capability: False})
    thought = examinee.ask(words, allowance_ms)
    examinee.learn(**{capability: True})
    return f"{thought.ms:.0f}"


def stop(examinee: BotUnderTest) -> str:
    """Check that the bot answers `stop` during an infinite search."""
    examinee.go_home()
    examinee.renew()
    bot = examinee.bot
    examinee.learn(stop=False)
    bot.reader.grace_ms = 2000
    bot.capabilities = replace(bot.capabilities, stop=True)
    begin = time.monotonic()
    try:
        legal = legal_line(bot, lambda: examinee.position)
        bot.think(examinee.question + b"\n" + legal + b"go infinite\n", 200)
    except BotError as error:
        # TIME: the answer came after `stop`, within the grace period. Without an answer the termination is STALLED.
        if error.termination is not Termination.TIME or not bot.process.is_running:
            raise Unfit(f"go infinite, then stop: {error.detail}") from None
        bot.process.is_sound = True
    finally:
        bot.reader.grace_ms = examinee.limits.grace_ms
    examinee.learn(stop=True)
    waited = 1000 * (time.monotonic() - begin) - 200
    return f"answered {waited:.0f} ms after `stop`" if waited > 0 else "answered before `stop`"


def ready_again(examinee: BotUnderTest) -> str:
    """Find whether the bot answers every `isready`, not only the first, without taking long each time."""
    bot = examinee.bot
    examinee.learn(repeated_isready=False)
    bot.capabilities = replace(bot.capabilities, repeated_isready=True)
    times = []
    for _ in range(2):
        begin = time.monotonic()
        bot.ready()
        times.append(1000 * (time.monotonic() - begin))
    # The faster of the two: what a bot loads only once must not count.
    if min(times) > COSTLY_READY_MS:
        raise Unfit(f"takes {min(times):.0f} ms each time, so `isready` is sent once per process")
    examinee.learn(repeated_isready=True)
    return "answered twice"


def query(examinee: BotUnderTest) -> str:
    """Find how the bot answers `query`, if at all."""
    examinee.go_home()
    examinee.learn(query="none")
    try:
        answer, is_bare = examinee.bot.query(examinee.question + b"\n", "gameover", QUERY_TIMEOUT_MS)
    except BotError as error:
        # Bots need not answer: silence leaves the process usable for the next step.
        if error.termination is not Termination.STALLED:
            raise
        examinee.bot.process.is_sound = True
        return "not answered, and that is right: games do without it"
    examinee.learn(query="bare" if is_bare else "response")
    if answer != "false":
        raise Unfit(f"answers {answer!r} for a game that has just begun")
    return "bare answer" if is_bare else "response"


def memory(examinee: BotUnderTest) -> str:
    """Return the bot's peak memory, and its limit, in words."""
    peak = max(examinee.report.peak_bytes, examinee.bot.process.peak_bytes) / 2**20
    allowed = examinee.limits.memory_bytes / 2**20
    return f"{peak:,.1f} MiB at most of {allowed:,.0f} allowed" if allowed else f"{peak:,.1f} MiB at most"


def leaves(examinee: BotUnderTest) -> str:
    """Check that the bot exits by itself on `quit`."""
    begin, bot = time.monotonic(), examinee.bot
    if not bot.quit():
        raise Unfit(f"still running {examinee.limits.quit_ms} ms after `quit`; it will be killed")
    child = bot.process.child
    assert child
    if child.exit_code < 0:
        raise Unfit(f"{child.how_it_ended()} after `quit`")
    return f"gone after {1000 * (time.monotonic() - begin):.0f} ms"


def _is_legal(position: Position, move: str) -> bool:
    try:
        position.read(move)
    except ValueError:
        return False
    return True
