"""The conversation of a bot with its referee: acts on every message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bots.sdk.clock import Clock, Lag
from bots.sdk.console import Console
from protocol.errors import BadOption
from protocol.messages import (
    BestMove,
    Declared,
    Go,
    Id,
    IsReady,
    ReadyOk,
    RefereeMessage,
    Response,
    SetOption,
    SetPosition,
    Ugi,
    UgiNewGame,
    UgiOk,
    UgiQuery,
    UgiResult,
)
from protocol.options import OptionDecl

if TYPE_CHECKING:
    from bots.sdk.bot import Bot
    from bots.sdk.game_state import GameState

FAMILY_OPTION = "Family"


class BotSession:
    """The conversation of a bot with its referee: acts on every message."""

    def __init__(self, bot: Bot, console: Console, playable: tuple[str, ...]) -> None:
        self.bot = bot
        self.console = console
        self.playable = playable
        self.game: GameState | None = None
        """Rules, start and moves as set so far; None until the family is known."""
        self.is_warm = False
        self.lag = Lag()
        self.complaint = "no position was sent"
        self.rule_options: frozenset[str] = frozenset()
        """The names of the options announced for the rules of all families."""

    def handle(self, message: RefereeMessage) -> None:
        """Act on one message. An invalid one is reported to the referee."""
        match message:
            case Ugi():
                self.introduce()
            case IsReady():
                self.warm_up()
                self.console.send(ReadyOk())
            case SetOption():
                self.set_option(message.name, message.value or "")
            case UgiNewGame():
                self.bot.new_game()
            case SetPosition():
                self.set_position(message)
            case Go():
                self.go(message)
            case UgiQuery():
                self.answer(message.what)
            case UgiResult():
                self.bot.game_over(message.winner, message.termination)

    def introduce(self) -> None:
        """Send the handshake up to `ugiok`, with the variants and rules of all families the bot plays."""
        from bots.sdk.game_state import declarations

        bot = self.bot
        declared = declarations(self.playable, bot.variants, bot.rules)
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
        """Create the game state of a family, with its default rules."""
        from bots.sdk.game_state import GameState

        self.game = GameState(family)
        if self.bot.variants:
            self.game.set_option("Variant", self.bot.variants[0])
        self.is_warm = False
        return self.game

    def current_game(self) -> GameState:
        """Return the game of the family that was set, or of the first one the bot plays."""
        return self.game or self.open_game(self.playable[0])

    def set_option(self, name: str, value: str) -> None:
        """Handle `setoption`: the family, one of its rules, or one of the bot's own options."""
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
                # Ignore options of another family: the referee may set every option that the bot announced.
                if name not in self.rule_options or game.has_option(name):
                    game.set_option(name, value)
        except ValueError as error:
            self.console.report_error(error)

    def warm_up(self) -> None:
        """Let the bot load and compile before the first game of a family."""
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
        """Handle `position`. Plays only the moves that the previous `position` did not have."""
        self.warm_up()
        self.complaint = ""
        try:
            self.current_game().follow(message.fen, message.moves)
        except ValueError as error:
            self.complaint = " ".join(str(error).split())
            self.console.report_error(error)

    def go(self, message: Go) -> None:
        """Let the bot choose a move, and send it."""
        position = self.game.position if self.game is not None and not self.complaint else None
        if position is None or not position.moves or position.outcome is not None:
            self.console.report_error(self.complaint or "the game is over")
            self.console.send(BestMove("------"))
            self.console.end()
            return
        clock = Clock(
            # From the arrival on: the referee's clock runs while the message waits for this thread.
            message,
            0 if position.side == "first" else 1,
            started=self.console.received_at,
            lag_ms=self.lag.ms,
        )
        self.bot._clock = clock
        self.console.begin(clock)
        chosen = self.bot.choose(position, clock)
        if clock.infinite:
            # An infinite search is answered only after `stop`, even if the bot is done.
            clock.wait()
        if chosen is None:
            self.console.send(BestMove("------"))
            self.console.end()
            return
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
        # After the answer, since the referee's clock runs until then.
        self.lag.add(clock.overrun_ms())
        self.console.end()

    def answer(self, question: str) -> None:
        """Answer `query gameover|p1turn|result`."""
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
        if question in answers:
            self.console.send(Response(answers[question]))
        else:
            self.console.report_error(BadOption("query", question, answers))
