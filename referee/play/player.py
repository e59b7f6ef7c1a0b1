"""A bot in one game: the options that it must be sent for the rules, or why it cannot play by them; then the line
`position` and the arguments of `go`, and its answers.

The protocol knows no family: the negotiation translates the rules of a game into options of the protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from weakref import WeakKeyDictionary

from protocol.capabilities import movetime_for, shares_of_game, shorten_movetime
from protocol.messages import LegalMoves, SetOption
from protocol.negotiation import Agreement, Ineligible, plan_setoptions
from protocol.options import OptionDecl
from referee.bot.seat import Seat, Thought
from referee.bot.settings import PRESSED
from referee.game.clock import GameClock
from referee.game.failure import BotError
from referee.game.history import GameHistory
from referee.rules.core import Termination
from referee.rules.position import Position
from referee.rules.rules import Ruleset

_plans: WeakKeyDictionary[Seat, tuple[tuple[object, ...], Agreement | Ineligible]] = WeakKeyDictionary()
"""The last plan of each bot, with the inputs that led to it: the same rules need the same options.

Weak and not a bounded cache, because a plan lives exactly as long as its bot; a cache would keep ended bots alive.
"""


def negotiate(bot: Seat, ruleset: Ruleset, *, is_shown: bool = False) -> Agreement | Ineligible:
    """Return the options to send to a bot before a game by these rules, or why the bot cannot play. Call this after
    its handshake.

    `is_shown`: the start is sent as a position, so the bot need not know the start's name.
    """
    options, startpos_only = bot.options, bot.capabilities.startpos_only
    asked = options, len(options), bot.families, ruleset, is_shown, startpos_only
    before = _plans.get(bot)
    if before and before[0] == asked:
        return before[1]
    plan = negotiate_options(options, bot.families, ruleset, is_shown=is_shown, startpos_only=startpos_only)
    _plans[bot] = asked, plan
    return plan


def negotiate_options(
    options: Mapping[str, OptionDecl],
    families: Collection[str],
    ruleset: Ruleset,
    *,
    is_shown: bool = False,
    startpos_only: bool = False,
) -> Agreement | Ineligible:
    """Return the result of `negotiate` for the options and families that a bot announced; it need not be running.

    `startpos_only`: the bot cannot set up positions, so no game may start from one.
    """
    rules = ruleset.rules
    setup = "" if is_shown or ruleset.variant.is_dealt else ruleset.variant.name
    default = rules.settle()
    plan = plan_setoptions(
        options,
        family=rules.family,
        variant=ruleset.variant.name,
        default_variant=rules.variants[0].name,
        variant_start_only=_differs_in_start_only(ruleset),
        changed_rules={name: value for name, value in ruleset.values.items() if value != default.values[name]},
        rule_kinds={option.name: option.changes for option in rules.options},
        rule_defaults=default.values,
        variant_rules=ruleset.variant.options,
        families=families,
        setup=setup if rules.notation.read_setup else None,
        phase_rule=rules.phase.rule if rules.phase else "",
        phase_option=rules.phase.announced_by if rules.phase else "",
        has_phase=ruleset.phase is not None,
    )
    if startpos_only and isinstance(plan, Agreement) and (is_shown or not plan.use_startpos):
        return Ineligible(
            f"the bot cannot set up positions (`position fen`), and {ruleset.variant.name} starts from one"
        )
    return plan


def _differs_in_start_only(ruleset: Ruleset) -> bool:
    default = ruleset.rules.variants[0]
    changed = {name for name, value in ruleset.variant.options.items() if ruleset.rules.option(name).default != value}
    tell = {option.name for option in ruleset.rules.options if option.changes in ("moves", "result")}
    return ruleset.variant.params == default.params and not changed & tell


def prepare(bot: Seat, ruleset: Ruleset, *, is_shown: bool = False) -> Agreement:
    """Send a bot the options and `uginewgame` of a new game; `is_shown` as for `negotiate`.

    Do not wait for the bot: `Seat.ready` does, once both bots have been sent their options. Raises BotError,
    whose termination is `handshake-failed` if the bot has not announced what the rules demand.
    """
    if bot.spec.place == "person":  # a person sees the board and the rules
        return Agreement(())
    plan = negotiate(bot, ruleset, is_shown=is_shown)
    if isinstance(plan, Ineligible):
        raise BotError(Termination.HANDSHAKE_FAILED, f"cannot play this: {plan.reason}")
    bot.begin_game()
    family = bot.options.get("Family")
    if family and family.accepts(ruleset.rules.family):
        bot.tell(SetOption("Family", ruleset.rules.family))
    for name, value in bot.spec.options:
        option = bot.options.get(name)
        if option and option.type == "button" and value not in PRESSED:
            continue
        bot.tell(SetOption.of(option, value) if option else SetOption(name, value))
    wanted = frozenset(setting.name for setting in plan.setoptions)
    for name in sorted(bot.rule_options - wanted):  # a process that has played by other rules still has them set
        if (default := bot.options[name].default) is not None:
            bot.tell(SetOption(name, default))
    for setting in plan.setoptions:
        bot.tell(setting)
    bot.rule_options = wanted
    bot.new_game()
    return plan


def legal_line(bot: Seat, position: Callable[[], Position]) -> bytes:
    """Return the line `legal …` that stands before `go`, with its line end; nothing for a bot that did not ask.

    `position` is called only for a bot that did: in a game it makes a copy.
    """
    return f"{LegalMoves(tuple(position().texts))}\n".encode() if bot.capabilities.legal_moves else b""


class Player:
    """A bot in one game; `Player()` sends it the options. Raises BotError if it cannot play by the rules, or fails.

    `passes_phase`: the referee passes for the bot in the phase before regular play, and sends it the position after the
    phase.
    """

    __slots__ = ("_clock", "_has_move_times", "_head", "_history", "_shares", "_side", "bot", "passes_phase")

    def __init__(self, bot: Seat, history: GameHistory) -> None:
        plan = prepare(bot, history.ruleset, is_shown=history.spec.position is not None)
        self.bot = bot
        self.passes_phase = plan.passes_phase
        self._history = history
        self._shares = shares_of_game(history.ruleset.rules.game_moves)
        is_usual = plan.use_startpos and history.spec.position in (None, history.ruleset.variant.position)
        self._head = b"position startpos" if is_usual else b"position fen " + history.start.encode()

    def begin(self, clock: GameClock, side: int) -> None:
        """Begin play by these clocks, as the first (0) or second (1) side; called before the first `ask`."""
        self._clock, self._side = clock, side
        self.bot.side = side
        kind = clock.controls[side].kind
        # A bot that does not read clocks is sent move times that keep its clock.
        self._has_move_times = kind == "movetime" or (kind == "clock" and not self.bot.capabilities.clocks)

    def _question(self, *lines: bytes) -> bytes:
        """Return the line `position …` of the present ply, followed by `lines`."""
        history = self._history
        head, moves = self._head, history.move_line
        if self.passes_phase:
            position, start = history.regular_play
            head, moves = b"position fen " + position.encode() if position else head, moves[start:]
        return b"".join((head, b" moves", moves, *lines) if moves else (head, *lines))

    @property
    def position(self) -> bytes:
        """The line `position …` of the present ply."""
        return self._question()

    def ask(self, known: Mapping[bytes, int]) -> Thought:
        """Return the answer to `position … go …`. Raises as `Seat.think`."""
        bot, clock, side = self.bot, self._clock, self._side
        legal = legal_line(bot, self._history.line.position)
        if self._has_move_times:
            return self._ask_in_time(legal, self._move_time_ms(), clock.allowance_ms(side), known)
        question = self._question(b"\n", legal, b"go ", clock.words(side), b"\n")
        return bot.think(question, clock.allowance_ms(side), known)

    def _ask_in_time(
        self, legal: bytes, told_ms: int, allowance_ms: float | None, known: Mapping[bytes, int]
    ) -> Thought:
        """Return the answer to `go movetime`, and record how late the bot was."""
        bot, is_first = self.bot, not self.bot.has_answered
        bot.has_answered = True
        try:
            question = self._question(b"\n%bgo movetime %d\n" % (legal, told_ms))
            thought = bot.think(question, allowance_ms, known)
        except BotError as error:
            if error.termination is Termination.TIME and allowance_ms is not None:
                # How long it would have taken is unknown, but at least the time that it was allowed.
                bot.overshoot.add(told_ms, allowance_ms, is_first=is_first)
            raise
        bot.overshoot.add(told_ms, thought.ms - thought.lag_ms, is_first=is_first)
        return thought

    def _move_time_ms(self) -> int:
        """Return the move time to send: with a clock a part of what is left, less the bot's usual lateness."""
        clock, side, late = self._clock, self._side, self.bot.overshoot
        control = clock.controls[side]
        worst_ms = late.at_worst_ms(is_first=not self.bot.has_answered)
        if control.kind == "movetime":
            return shorten_movetime(control.base_ms, worst_ms)
        left_ms, to_go = int(clock.left_ms[side]), clock.moves_to_go(side)
        return movetime_for(left_ms, control.increment_ms, late.usual_ms, worst_ms, to_go, shares=self._shares)
