"""Provides the bots of a game slot, keeps sound processes for the next game and ends the others.

Only processes are kept: every other kind of seat is opened for one game.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from cachetools import LRUCache

from referee.bot.bot import LocalBot
from referee.bot.seat import Overshoot, Seat
from referee.game.spec import BotLimits, BotSpec, Pondering
from referee.rules.core import UnknownNameError
from referee.sandbox import Sandbox
from referee.sandbox.reaper import children, sweep
from referee.sandbox.watchdog import Watchdog

MAX_REMEMBERED = 64
"""Number of bots whose lateness is remembered."""
IDLE_S = 60.0
"""Seconds after which an idle bot is ended."""


class Roster:
    """The bots' processes in one slot.

    `is_reaper` means that stray children of this process (descendants of bots) are killed. `spare` idle bots beyond
    those of the last game are kept running, for bots that are slow to start. An idle bot is frozen while others play or
    no game runs (`end_idle`), and ended after `IDLE_S`. `number` is the number of the slot on its machine.
    """

    def __init__(
        self, sandbox: Sandbox, stop_fd: int | None = None, is_reaper: bool = False, spare: int = 0, number: int = 0
    ) -> None:
        self.sandbox = sandbox
        self._number = number
        self.stop_fd = stop_fd
        self.on_wait: Callable[[], None] | None = None
        """Called whenever a bot takes longer than a moment for its move."""
        self._is_reaper = is_reaper
        self._spare = spare
        self.elsewhere: dict[str, Callable[[BotSpec, BotLimits], Seat]] = {}
        """Functions that open seats which are not processes of this slot, by place."""
        self._idle: list[LocalBot] = []
        self._idle_since: dict[LocalBot, float] = {}
        self._overshoots: LRUCache[tuple[str, ...], Overshoot] = LRUCache(MAX_REMEMBERED)
        """Lateness of bots that played here recently, kept longer than their processes."""
        self._watchdog = Watchdog()
        self._others = children() if is_reaper else set()
        """Children that this process had before: none of them is a bot's."""

    def seat(self, specs: Sequence[BotSpec], limits: BotLimits) -> list[Seat]:
        """Return a seat for each spec: a suitable idle bot if there is one, else a new bot, which is not started yet.

        A bot that plays itself gets two processes.
        """
        seated: list[Seat] = []
        for spec in specs:
            # The limits are built into the process's sandbox: under others it must be a new process.
            bot = next((bot for bot in self._idle if _can_be(bot, spec) and bot.limits == limits), None)
            if bot is not None:
                self._idle.remove(bot)
                bot.spec = spec
                if bot.process.is_running and bot.process.ponder_limiter:
                    bot.process.ponder_limiter.resume()
                else:
                    bot.close()
                    bot = None
            seated.append(bot or self._new(spec, limits))
        self._close_idle(keep=self._spare)
        self._freeze_idle()
        return seated

    def _new(self, spec: BotSpec, limits: BotLimits) -> Seat:
        if spec.place in self.elsewhere:
            return self.elsewhere[spec.place](spec, limits)
        if spec.place:
            return self._elsewhere(spec, limits)
        late = self._overshoot_of(spec)
        bot = LocalBot(spec, limits, self.sandbox, stop_fd=self.stop_fd, watchdog=self._watchdog, overshoot=late)
        bot.reader.on_wait = self.on_wait
        return bot

    def _elsewhere(self, spec: BotSpec, limits: BotLimits) -> Seat:
        """Open the seat of a bot that is not a process of this slot. Raises UnknownNameError for an unknown place."""
        if spec.place != "remote":
            raise UnknownNameError("place of a bot", spec.place, ("remote",))
        from referee.bot.remote.link import LobbyLink
        from referee.bot.remote.seat import RemoteBot

        key = spec.command[-1]
        return RemoteBot(
            spec,
            limits,
            self._overshoot_of(spec),
            lambda: LobbyLink(spec.folder or "", key, spec.name, self.stop_fd),
        )

    def _overshoot_of(self, spec: BotSpec) -> Overshoot:
        """Return how late a bot answers: as measured so far, for a new bot as expected."""
        overshoot = self._overshoots.get(_key(spec))
        if overshoot is None:
            overshoot = self._overshoots[_key(spec)] = Overshoot.expected(spec)
        return overshoot

    def rename(self, bot: LocalBot, spec: BotSpec) -> None:
        """Rename a seated bot after its handshake."""
        # The bot was measured under its former name: keep the measurement under the new one.
        self._overshoots.pop(_key(bot.spec), None)
        bot.spec = spec
        self._overshoots[_key(spec)] = bot.overshoot

    def begin(self, bots: Sequence[Seat], pondering: Pondering) -> None:
        """Set the limits on pondering for a game of these bots. With one core, `pinned` becomes `frozen`."""
        cores = sorted(os.sched_getaffinity(0))
        is_pinned = pondering == "pinned" and len(cores) > 1
        for side, bot in enumerate(bots):
            if isinstance(bot, LocalBot) and (limiter := bot.process.ponder_limiter):
                # Two neighbouring cores for each slot, so that opponents never share one.
                own = cores[(2 * self._number + side) % len(cores)]
                limiter.pin(frozenset({own}) if is_pinned else frozenset())
                limiter.start_game("frozen" if pondering == "pinned" and not is_pinned else pondering)

    def rouse(self, bots: Sequence[Seat]) -> tuple[float, float]:
        """Lift the limits on pondering after a game; return each bot's processor time out of turn in milliseconds."""
        first, second = (_roused_ms(bot) for bot in bots)
        return first, second

    def end_idle(self) -> float | None:
        """Freeze the idle bots between games, and end those that have been idle for `IDLE_S`.

        Returns the seconds until the next idle bot must be ended; None without idle bots.
        """
        self._freeze_idle()
        now = time.monotonic()
        # The list is in the order in which they became idle: the first has been idle longest.
        while self._idle and (left := self._idle_since[self._idle[0]] + IDLE_S - now) <= 0:
            self._close_idle(keep=len(self._idle) - 1)
        return max(0.0, left) if self._idle else None

    def release(self, bots: Sequence[Seat]) -> None:
        """Take bots back after a game: sound processes wait for the next game, the others are killed.

        Waiting processes are not frozen yet: if the next game follows at once, freezing and resuming them would take
        longer than the moves of a quick game.
        """
        for bot in bots:
            if isinstance(bot, LocalBot) and bot.is_reusable:
                self._idle.append(bot)
                self._idle_since[bot] = time.monotonic()
            else:
                bot.close()
        self._sweep()

    def discard(self, bots: Sequence[Seat]) -> None:
        """Kill bots without sending `quit`."""
        for bot in bots:
            bot.condemn()
            bot.close()
        self._sweep()

    def close(self) -> None:
        """End every process."""
        self._close_idle()
        self._sweep()

    def _freeze_idle(self) -> None:
        for bot in self._idle:
            if (limiter := bot.process.ponder_limiter) and not limiter.is_frozen:
                limiter.freeze()

    def _close_idle(self, keep: int = 0) -> None:
        """End idle bots, the longest idle first, until `keep` are left."""
        while len(self._idle) > keep:
            bot = self._idle.pop(0)
            self._idle_since.pop(bot, None)
            bot.close()

    def _sweep(self) -> None:
        if self._is_reaper:
            sweep(self._others | {bot.process.pid for bot in self._idle if bot.process.pid})

    def __enter__(self) -> Roster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _key(spec: BotSpec) -> tuple[str, ...]:
    return (spec.name, spec.version, *spec.command)


def _can_be(bot: LocalBot, spec: BotSpec) -> bool:
    """Return whether a running bot can play as `spec`; option values may differ, since they are set for every game."""
    if bot.spec == spec:
        return True
    named, asked = ([name for name, _ in options] for options in (bot.spec.options, spec.options))
    return named == asked and replace(bot.spec, options=spec.options) == spec


def _roused_ms(bot: Seat) -> float:
    limiter = bot.process.ponder_limiter if isinstance(bot, LocalBot) else None
    if limiter is None:
        return 0.0
    limiter.end_wait()
    return round(limiter.used_ns / 1e6, 3)
