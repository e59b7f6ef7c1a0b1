"""A bot in ten lines of Python: write `choose`; the rest of the protocol is here.

    from bots.sdk import Bot, run

    class MyBot(Bot):
        name = "my bot"

        def choose(self, position, clock):
            return position.moves[0]

    if __name__ == "__main__":
        run(MyBot())

`print` writes to standard error, because standard output belongs to the protocol.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NoReturn

from bots.sdk.clock import Clock
from bots.sdk.console import Console
from bots.sdk.session import BotSession
from protocol.messages import (
    Info,
)
from protocol.options import OptionDecl
from referee.families import homes

if TYPE_CHECKING:
    from referee.rules.position import Position

__all__ = ["Bot", "Clock", "OptionDecl", "families", "run"]


def families() -> tuple[str, ...]:
    """List all families, without importing them."""
    return tuple(homes())


class Bot:
    """Base class of bots: set `name`, write `choose`, and override other methods as needed."""

    name: ClassVar[str] = "unnamed bot"
    """Name of the bot."""
    author: ClassVar[str] = "unknown"
    """Author of the bot."""
    families: ClassVar[Sequence[str]] = ()
    """Families that it plays; empty for all."""
    variants: ClassVar[Sequence[str]] = ()
    """Variants that it plays, its default first; empty for all. For a bot of one family."""
    rules: ClassVar[Mapping[str, Sequence[str]] | None] = None
    """Rule options other than the variant's that it can play by, with their values; None for all."""
    options: ClassVar[Sequence[OptionDecl]] = ()
    """UGI options of its own; see `value`."""

    _console: Console | None = None
    _clock: Clock | None = None

    @cached_property
    def _values(self) -> dict[str, str]:
        return {option.name: option.default or "" for option in self.options}

    def choose(self, position: Position, clock: Clock) -> int | str | None:
        """Return the move to play, as a code of `position.moves` or as text; None if there is none after a `stop`.

        Called only if there is a legal move.
        """
        raise NotImplementedError("write the method choose")

    def warm_up(self, position: Position) -> None:
        """Load and compile code. Called at `isready` with the start position, while no clock runs."""
        if position.moves:
            _ = position.play(position.moves[0]).outcome

    def new_game(self) -> None:
        """Prepare for another game."""

    def offers_draw(self, position: Position, move: int) -> bool:
        """Return whether to offer a draw along with the chosen move."""
        return False

    def resigns(self, position: Position) -> bool:
        """Return whether to resign. Called after `choose`."""
        return False

    def game_over(self, winner: str, termination: str) -> None:
        """Handle the end of the game: winner `p1win`, `p2win` or `draw`, and the reason. Not all referees report it."""

    def close(self) -> None:
        """End what the bot has started. Called before the process ends."""

    def option_changed(self, name: str) -> None:
        """Handle a new value of one of the bot's own options."""

    def value(self, name: str) -> str:
        """Return the value of one of the bot's own options, as text."""
        return self._values[name]

    def number(self, name: str) -> int:
        """Return the value of one of the bot's own spin options."""
        return int(self._values[name])

    def info(
        self,
        *,
        depth: int | None = None,
        nodes: int | None = None,
        score: int | None = None,
        win_in: int | None = None,
        pv: Sequence[str] = (),
        text: str = "",
    ) -> None:
        """Send information about the search to the referee.

        `score` is in centipawns for the bot's own side. `win_in` replaces it: plies to a forced win, negative for a
        forced loss.
        """
        if self._console is None:
            return
        self._console.send(
            Info(
                depth=depth,
                nodes=nodes,
                time_ms=int(self._clock.elapsed_ms()) if self._clock is not None else None,
                score=win_in if win_in is not None else score,
                score_kind="cp" if win_in is None else "win",
                pv=tuple(pv),
                text=" ".join(text.split()),
            )
        )


def _arguments(bot: Bot, argv: Sequence[str] | None) -> tuple[str, ...]:
    playable = tuple(bot.families) or families()
    parser = argparse.ArgumentParser(
        description=f"{bot.name}: a bot that speaks the Universal Game Interface on standard input and output."
    )
    parser.add_argument("--family", choices=playable, help="play this family only, and announce its rules")
    family = parser.parse_args(argv).family
    return (family,) if family else playable


def run(bot: Bot, argv: Sequence[str] | None = None) -> NoReturn:
    """Speak the protocol on standard input and output until `quit` or the end of the input. Does not return.

    `argv` are arguments of the command line (`--family FAMILY`). At `quit` the process ends at once, because unloading
    compiled code takes longer than a referee waits. An error in the bot ends the process with a traceback on
    standard error: a bot that continued would hide the error.
    """
    playable = _arguments(bot, argv)
    bot._console = console = Console()
    session = BotSession(bot, console, playable)
    sys.stdout = sys.stderr
    console.start()
    try:
        while (message := console.receive()) is not None:
            session.handle(message)
    except BrokenPipeError:
        pass  # the referee is gone
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    finally:
        bot.close()
        console.close()
    sys.stderr.flush()
    os._exit(0)
