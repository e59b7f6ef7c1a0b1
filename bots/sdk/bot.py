"""A bot in ten lines of Python: write `choose`, the rest of the protocol is here.

    from bots.sdk import Bot, run

    class MyBot(Bot):
        name = "my bot"

        def choose(self, position, clock):
            return position.moves[0]

    if __name__ == "__main__":
        run(MyBot())

What a bot prints goes to standard error: standard output belongs to the protocol.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NoReturn

from bots.sdk.clock import Clock, Lag
from bots.sdk.console import Console
from protocol.errors import BadOption
from protocol.messages import (
    BestMove,
    Declared,
    Go,
    Id,
    Info,
    IsReady,
    NewGame,
    Query,
    ReadyOk,
    RefereeMessage,
    Response,
    Result,
    SetOption,
    SetPosition,
    Ugi,
    UgiOk,
)
from protocol.options import OptionDecl
from referee.families import homes

if TYPE_CHECKING:
    from bots.sdk.game_state import GameState
    from referee.rules.position import Position

__all__ = ["Bot", "Clock", "OptionDecl", "families", "run"]

FAMILY_OPTION = "Family"


def families() -> tuple[str, ...]:
    """All families there are; nothing of them is imported."""
    return tuple(homes())


class Bot:
    """What a bot is: subclass it, set `name`, write `choose`, override what else you like.

    `families` are the families it plays, empty = all; `options` are UGI options of its own, see `value`.
    """

    name: ClassVar[str] = "unnamed bot"
    author: ClassVar[str] = "unknown"
    families: ClassVar[Sequence[str]] = ()
    options: ClassVar[Sequence[OptionDecl]] = ()

    _console: Console | None = None
    _clock: Clock | None = None

    @cached_property
    def _values(self) -> dict[str, str]:
        return {option.name: option.default or "" for option in self.options}

    def choose(self, position: Position, clock: Clock) -> int | str:
        """The move to play, as a code of `position.moves` or as text. Called only while there is one."""
        raise NotImplementedError("write the method choose")

    def warm_up(self, position: Position) -> None:
        """Called at `isready` with the start position: load and compile here, no clock is running."""
        if position.moves:
            _ = position.play(position.moves[0]).outcome

    def new_game(self) -> None:
        """What follows belongs to another game."""

    def offers_draw(self, position: Position, move: int) -> bool:
        """Whether to offer a draw along with the chosen move."""
        return False

    def resigns(self, position: Position) -> bool:
        """Whether to resign; asked after `choose`."""
        return False

    def game_over(self, winner: str, termination: str) -> None:
        """How the game ended: `p1win`, `p2win` or `draw`, and why. Only some referees tell."""

    def option_changed(self, name: str) -> None:
        """One of the bot's own options was set."""

    def value(self, name: str) -> str:
        """What one of the bot's own options is set to, as text."""
        return self._values[name]

    def number(self, name: str) -> int:
        """The same as a whole number, for options of type spin."""
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
        """Tell the referee what the bot thinks.

        `score` in hundredths of a piece for the bot's own side; `win_in` instead: plies to a forced win, negative to a
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


class _Session:
    """One bot at its console: acts on every message of the referee."""

    def __init__(self, bot: Bot, console: Console, playable: tuple[str, ...]) -> None:
        self.bot = bot
        self.console = console
        self.playable = playable
        self.game: GameState | None = None
        """The rules, start and moves as told so far; None until the family is known."""
        self.is_warm = False
        self.lag = Lag()
        self.complaint = "no position was sent"
        self.rule_options: frozenset[str] = frozenset()
        """The names of the options announced for the rules of all families."""
        bot._console = console

    def handle(self, message: RefereeMessage) -> None:
        """Act on one message. What is wrong with it is said on the wire."""
        match message:
            case Ugi():
                self.introduce()
            case IsReady():
                self.warm_up()
                self.console.send(ReadyOk())
            case SetOption():
                self.set_option(message.name, message.value or "")
            case NewGame():
                self.bot.new_game()
            case SetPosition():
                self.set_position(message)
            case Go():
                self.go(message)
            case Query():
                self.answer(message.what)
            case Result():
                self.bot.game_over(message.winner, message.termination)

    def introduce(self) -> None:
        """Send everything up to `ugiok`: the variants and rules of all families the bot plays among it."""
        from bots.sdk.game_state import declarations

        bot = self.bot
        declared = declarations(self.playable)
        self.rule_options = frozenset(option.name for option in declared)
        if len(self.playable) > 1:
            declared.insert(0, OptionDecl(FAMILY_OPTION, "combo", self.playable[0], values=self.playable))
        declared.append(OptionDecl("UGI_Clocks", "check", "true"))
        declared.append(OptionDecl("UGI_Result", "check", "true"))
        declared += bot.options
        self.console.send(
            Id("name", bot.name),
            Id("author", bot.author),
            *(Id("family", family) for family in self.playable),
            *map(Declared, declared),
            UgiOk(),
        )

    def open_game(self, family: str) -> GameState:
        """A table for that family, with nothing told yet."""
        from bots.sdk.game_state import GameState

        self.game = GameState(family)
        self.is_warm = False
        return self.game

    def current_game(self) -> GameState:
        """The table of the family told, or of the only or first one the bot plays."""
        return self.game or self.open_game(self.playable[0])

    def set_option(self, name: str, value: str) -> None:
        """`setoption`: the family, a rule of it, or one of the bot's own."""
        try:
            own = {option.name: option for option in self.bot.options}
            if name in own:
                self.bot._values[name] = own[name].check(value)
                self.bot.option_changed(name)
            elif name == FAMILY_OPTION:
                if value not in self.playable:
                    raise BadOption("family", value, self.playable)
                if self.game is None or self.game.family != value:
                    self.open_game(value)
                else:
                    self.game.reset()
            elif name not in ("UGI_Clocks", "UGI_Result"):
                game = self.current_game()
                # What was announced for another family changes nothing here, and is no mistake of the referee.
                if name not in self.rule_options or game.has_option(name):
                    game.set_option(name, value)
        except ValueError as error:
            self.console.report_error(error)

    def warm_up(self) -> None:
        """Before the first game of a family: let the bot load and compile."""
        if self.is_warm or (self.game is None and len(self.playable) > 1):
            return
        try:
            start = self.current_game().start()
            _ = start.moves  # loads the rules' compiled code, whatever the bot does
        except ValueError as error:
            self.console.report_error(error)
            return
        self.bot.warm_up(start)
        self.is_warm = True

    def set_position(self, message: SetPosition) -> None:
        """`position`: only the moves that are new are played."""
        self.warm_up()
        self.complaint = ""
        try:
            self.current_game().follow(message.fen, message.moves)
        except ValueError as error:
            self.complaint = " ".join(str(error).split())
            self.console.report_error(error)

    def go(self, message: Go) -> None:
        """Think and answer."""
        position = self.game.position if self.game is not None and not self.complaint else None
        if position is None or not position.moves or position.outcome is not None:
            self.console.report_error(self.complaint or "the game is over")
            self.console.send(BestMove("------"))
            self.console.end()
            return
        clock = Clock(
            message, 0 if position.side == "first" else 1, started=self.console.received_at, lag_ms=self.lag.ms
        )
        self.bot._clock = clock
        self.console.begin(clock)
        chosen = self.bot.choose(position, clock)
        if clock.infinite:
            clock.wait()
        move = position.read(chosen) if isinstance(chosen, str) else chosen
        if move not in position.moves:
            raise ValueError(f"{type(self.bot).__name__}.choose returned {move}, which is not legal in {position}")
        text = position.ruleset.rules.notation.write_move(move)
        if self.bot.resigns(position):
            best = BestMove(None, "resign")
        else:
            best = BestMove(text, "draw" if self.bot.offers_draw(position, move) else None)
        self.bot._clock = None
        self.console.send(best)
        self.lag.add(clock.overrun_ms())
        self.console.end()

    def answer(self, what: str) -> None:
        """`query gameover|p1turn|result`."""
        position = self.game.position if self.game is not None and not self.complaint else None
        if position is None:
            self.console.report_error(self.complaint or "no position was sent")
            return
        outcome = position.outcome
        results = {"first": "p1win", "second": "p2win", "draw": "draw"}
        answers = {
            "gameover": "true" if outcome else "false",
            "p1turn": "true" if position.side == "first" else "false",
            "result": results[outcome.winner] if outcome else "none",
        }
        if what in answers:
            self.console.send(Response(answers[what]))
        else:
            self.console.report_error(BadOption("query", what, answers))


def _arguments(bot: Bot, argv: Sequence[str] | None) -> tuple[str, ...]:
    playable = tuple(bot.families) or families()
    parser = argparse.ArgumentParser(
        description=f"{bot.name}: a bot that speaks the Universal Game Interface on standard input and output."
    )
    parser.add_argument("--family", choices=playable, help="play this family only, and announce its rules")
    family = parser.parse_args(argv).family
    return (family,) if family else playable


def run(bot: Bot, argv: Sequence[str] | None = None) -> NoReturn:
    """Speak the protocol on standard input and output until `quit` or the end of the input.

    `argv` are the command line's arguments (`--family F`). Does not return: at `quit` the process ends at once, since
    taking down compiled code in good order takes longer than a referee waits. An error of the bot's own ends it with a
    traceback on standard error: a bot that plays on after an error hides it.
    """
    playable = _arguments(bot, argv)
    console = Console(leaves=True)
    session = _Session(bot, console, playable)
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
        console.close()
    sys.stderr.flush()
    os._exit(0)
