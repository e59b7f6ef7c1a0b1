"""Plays one game: rules, position, go, wait, legal?, clock?, adjudicate. The same function everywhere.

Synchronous, with blocking polls on the bots' pipes. Refuses to know who scheduled the game and where its record goes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from protocol.messages import Info, Result, SetOption
from protocol.negotiation import Ineligible, Plan, plan_setoptions
from protocol.options import OptionDecl
from protocol.session import movetime_for
from referee.adjudicate import Adjudicator
from referee.bot import Bot, BotError, SandboxError, Stopped
from referee.clock import Clock
from referee.record import GameRecord, Ply
from referee.roster import Roster
from referee.rules import load
from referee.rules.core import SIDES, Outcome, ParseError, Termination, Winner
from referee.rules.history import Line
from referee.rules.rules import Ruleset
from referee.spec import GameSpec

Watch = Callable[[int, str, Ply], None]
"""Called after every ply with its number from 1, the canonical move, and how it was played."""

_RESULTS: dict[Winner, Literal["p1win", "p2win", "draw"]] = {"first": "p1win", "second": "p2win", "draw": "draw"}


def negotiate(bot: Bot, ruleset: Ruleset) -> Plan | Ineligible:
    """What a bot that has shaken hands must be told to play by these rules, or why it cannot."""
    return negotiate_options(bot.session.options, bot.session.families, ruleset)


def negotiate_options(
    options: Mapping[str, OptionDecl], families: Collection[str], ruleset: Ruleset
) -> Plan | Ineligible:
    """The same of a bot that is not running, from what it announced when it last was."""
    rules = ruleset.rules
    default = rules.settle()
    return plan_setoptions(
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
        setup=ruleset.variant.name if rules.notation.read_setup else None,
        swap_phase=bool(ruleset.values.get("swap_phase")),
    )


def prepare(bot: Bot, ruleset: Ruleset) -> Plan:
    """Make a bot that has shaken hands ready for a new game by these rules.

    Raises BotError: `handshake-failed` when it has not announced what they demand, else how it failed.
    """
    plan = negotiate(bot, ruleset)
    if isinstance(plan, Ineligible):
        raise BotError(Termination.HANDSHAKE_FAILED, f"cannot play this: {plan.reason}")
    family = bot.session.options.get("Family")
    if family and family.accepts(ruleset.rules.family):
        bot.tell(SetOption("Family", ruleset.rules.family))
    for name, value in bot.spec.options:
        bot.tell(SetOption(name, value))
    told = frozenset(setting.name for setting in plan.setoptions)
    for name in sorted(bot.told - told):  # a process that has played by other rules still has them set
        bot.tell(SetOption(name, bot.session.options[name].default))
    for setting in plan.setoptions:
        bot.tell(setting)
    bot.told = told
    bot.new_game()
    bot.ready()
    return plan


def _differs_in_start_only(ruleset: Ruleset) -> bool:
    default = ruleset.rules.variants[0]
    changed = {name for name, value in ruleset.variant.options.items() if ruleset.rules.option(name).default != value}
    tell = {option.name for option in ruleset.rules.options if option.changes in ("moves", "result")}
    return ruleset.variant.params == default.params and not changed & tell


@dataclass(slots=True)
class _Seat:
    """One bot at the board: the `position` line so far, and what it is asked."""

    bot: Bot
    clocks: bool
    passes_swap: bool
    question: bytearray
    """`position … moves …` up to the present ply."""
    has_moves: bool = False

    def see(self, move: str) -> None:
        self.question += (b" " if self.has_moves else b" moves ") + move.encode()
        self.has_moves = True

    def restart(self, position: str) -> None:
        self.question = bytearray(b"position fen " + position.encode())
        self.has_moves = False


class _Game:
    """The course of one game; `run` fills in what the record needs."""

    def __init__(self, spec: GameSpec, roster: Roster, watch: Watch | None) -> None:
        self.spec = spec
        self.roster = roster
        self.watch = watch
        self.ruleset = load(spec.family).settle(spec.variant, spec.options)
        self.line = Line(self.ruleset, spec.position)
        self.start = self.ruleset.write(self.line.state)
        self.moves: list[str] = []
        self.plies: list[Ply] = []
        self.detail = ""
        self.bots: list[Bot] = []
        self.has_swaps = bool(self.ruleset.values.get("swap_phase"))

    # -- before the first move -----------------------------------------------------------------------------------

    def prepare(self) -> Outcome | None:
        """Start both bots, shake hands, negotiate. The outcome when one of them cannot play."""
        specs = (self.spec.first, self.spec.second)
        self.bots = self.roster.seat(specs, self.spec.limits)
        for stage in (self._start, self._shake_hands, self._set_up):  # both start before either is waited for
            for side in (0, 1):
                try:
                    stage(side)
                except BotError as error:
                    return self._forfeit(side, error)
        return None

    def _start(self, side: int) -> None:
        if not self.bots[side].is_running:
            self.bots[side].start()

    def _shake_hands(self, side: int) -> None:
        if not self.bots[side].has_shaken_hands:
            self.bots[side].handshake()

    def _set_up(self, side: int) -> None:
        bot, ruleset = self.bots[side], self.ruleset
        plan = prepare(bot, ruleset)
        seat = _Seat(bot, bot.capabilities.clocks, plan.passes_swap, bytearray())
        if plan.use_startpos and self.spec.position in (None, ruleset.variant.position):
            seat.question = bytearray(b"position startpos")
        else:
            seat.restart(self.start)
        self.seats.append(seat)

    # -- play ----------------------------------------------------------------------------------------------------

    def run(self) -> Outcome:
        """Play to the end. Raises Stopped and SandboxError."""
        self.seats: list[_Seat] = []
        for text in self.spec.opening:
            self._push(text, Ply(book=True))
        outcome = self.prepare()
        if outcome:
            return outcome
        for seat in self.seats:
            self._show_opening(seat)
        clock = Clock(self.spec.time, self.spec.limits.margin_ms)
        adjudicator = Adjudicator(self.spec.adjudication)
        texts = _texts(self.spec.family)
        is_timed = self.spec.time.kind in ("clock", "movetime")
        names = _NAMES.setdefault(self.spec.family, {})
        state_side, config = self.ruleset.rules.side, self.ruleset.config
        while (outcome := self.line.outcome) is None:
            side = state_side(self.line.state, config)
            seat = self.seats[side]
            swapping = self.has_swaps and self._is_swap_phase()
            if swapping and seat.passes_swap:
                self._push(self._pass_text(), Ply())
                self._share(after_swap=not self._is_swap_phase())
                continue
            try:
                thought = seat.bot.think(self._question(seat, clock, side), clock.allowance_ms(side), texts)
            except BotError as error:
                return self._forfeit(side, error)
            charged = thought.ms - thought.lag_ms
            clock.charge(side, charged)
            if thought.offer == "resign":
                self.detail = f"{SIDES[side]} resigned at ply {len(self.moves) + 1}"
                return Outcome(SIDES[1 - side], Termination.RESIGNED)
            code = texts.get(thought.move.encode()) if thought.move else None
            if code is None:
                code = self._read(thought.move, texts)
            if code is None or not self.line.is_legal(code):
                return self._illegal(side, thought.move)
            ply = Ply(round(thought.ms, 3), round(charged, 3) if is_timed else 0.0, round(thought.lag_ms, 3))
            info = thought.info
            if info:
                ply.score, ply.depth, ply.nodes = _centi(info), info.depth, info.nodes
            name = names.get(code)
            if name is None:
                name = names[code] = self.ruleset.rules.notation.write_move(code)
            self._push(name, ply, code)
            if self.has_swaps:
                self._share(after_swap=swapping and not self._is_swap_phase())
            else:
                for seat in self.seats:
                    seat.see(self.moves[-1])
            if self.line.outcome is None:
                ended = adjudicator.ply(side, len(self.moves), ply.score, thought.offer == "draw")
                if ended:
                    return ended
        return outcome

    def _show_opening(self, seat: _Seat) -> None:
        if seat.passes_swap and self.start.endswith(" swap"):
            if not self._is_swap_phase():
                seat.restart(self.ruleset.write(self.line.state))
            return
        for move in self.moves:
            seat.see(move)

    def _question(self, seat: _Seat, clock: Clock, side: int) -> bytes:
        if clock.control.kind == "clock" and not seat.clocks:
            left_ms = int(clock.left_ms[side])
            overshoot_ms = max(self.spec.limits.overshoot_ms, seat.bot.capabilities.overshoot_ms)
            overhead_ms = min(overshoot_ms, left_ms // 10)
            limit = movetime_for(left_ms, clock.control.increment_ms, overhead_ms)
            words = b"movetime %d" % limit
        elif clock.control.kind == "movetime" and seat.bot.capabilities.overshoot_ms:
            words = b"movetime %d" % max(1, clock.control.base_ms - seat.bot.capabilities.overshoot_ms)
        else:
            words = clock.words()
        return b"%b\ngo %b\n" % (bytes(seat.question), words)

    def _push(self, text: str, ply: Ply, code: int | None = None) -> None:
        if code is None:
            line = self.line
            code = self.ruleset.rules.notation.read_move(text, line.state, self.ruleset.config)
            if not line.is_legal(code):
                raise ParseError("illegal opening move", text=text, hint=f"in {self.ruleset.write(line.state)}")
        self.line.push(code)
        self.moves.append(text)
        self.plies.append(ply)
        if self.watch:
            self.watch(len(self.moves), text, ply)

    def _share(self, after_swap: bool) -> None:
        """Tell both seats of the last ply; a bot that knows no swaps gets the position after them instead."""
        for seat in self.seats:
            if seat.passes_swap:
                if after_swap:
                    seat.restart(self.ruleset.write(self.line.state))
                    continue
                if self._is_swap_phase():
                    continue
            seat.see(self.moves[-1])

    def _is_swap_phase(self) -> bool:
        return self.has_swaps and self.ruleset.write(self.line.state).endswith(" swap")

    def _pass_text(self) -> str:
        return self.ruleset.rules.notation.write_move(self.ruleset.rules.notation.pass_move)

    def _read(self, text: str | None, texts: dict[bytes, int]) -> int | None:
        notation = self.ruleset.rules.notation
        try:
            code = notation.read_move(text or "", self.line.state, self.ruleset.config)
        except ParseError:
            return None
        if text == notation.write_move(code):
            if len(texts) > 500_000:
                texts.clear()
            texts[text.encode()] = code
        return code

    # -- verdicts ------------------------------------------------------------------------------------------------

    def _forfeit(self, side: int, error: BotError) -> Outcome:
        bot = self.bots[side]
        bot.is_sound = False
        name = (self.spec.first, self.spec.second)[side].name
        self.detail = f"{SIDES[side]} ({name}) lost at ply {len(self.moves) + 1}: {error.detail}"
        return Outcome(SIDES[1 - side], error.termination)

    def _illegal(self, side: int, text: str | None) -> Outcome:
        shown = "no move" if text is None else repr(text[:80])
        error = BotError(Termination.ILLEGAL_MOVE, f"{shown} in {self.ruleset.write(self.line.state)}")
        return self._forfeit(side, error)

    def finish(self, winner: Winner | None, termination: Termination, started: str) -> GameRecord:
        """Tell the bots, give them back, and write the record."""
        if winner is not None:
            for bot in self.bots:
                bot.announce(Result(_RESULTS[winner], termination.value))
        logs: dict[str, str] = {
            side: bot.log for side, bot in zip(SIDES, self.bots, strict=False) if bot.pid and bot.log
        }
        anomalies = tuple(bot.session.anomaly_count for bot in self.bots)
        self.roster.release(self.bots)
        spec = self.spec
        return GameRecord(
            id=spec.id,
            family=spec.family,
            variant=spec.variant,
            options=self.ruleset.overrides,
            position=self.start,
            first=spec.first.name,
            second=spec.second.name,
            winner=winner,
            termination=termination,
            kind=termination.kind,
            moves=tuple(self.moves),
            plies=tuple(self.plies),
            started=started,
            finished=now(),
            sandbox=self.roster.sandbox.name,
            event=spec.event,
            sequence=spec.sequence,
            round=spec.round,
            pair=spec.pair,
            seed=spec.seed,
            time=str(spec.time),
            first_version=spec.first.version,
            second_version=spec.second.version,
            detail=self.detail,
            final_position=self.ruleset.write(self.line.state),
            anomalies=(anomalies[0], anomalies[1]) if len(anomalies) == 2 else (0, 0),
            logs=logs,
        )


WIN_SCORE = 30_000


def _centi(info: Info) -> int | None:
    """A bot's score in hundredths; a forced win in n plies is 30,000 - n, a forced loss the negative of it."""
    if info.score is None or info.score_kind == "cp":
        return info.score
    return WIN_SCORE - info.score if info.score >= 0 else -WIN_SCORE - info.score


_TEXTS: dict[str, dict[bytes, int]] = {}
_NAMES: dict[str, dict[int, str]] = {}
"""Canonical texts by code, per family: bounded by the moves there are on a board."""


def _texts(family: str) -> dict[bytes, int]:
    """Canonical move texts met so far and their codes: they never depend on the position."""
    return _TEXTS.setdefault(family, {})


def now() -> str:
    """The time of day in UTC, ISO 8601 with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def play(spec: GameSpec, roster: Roster, watch: Watch | None = None) -> GameRecord:
    """Play one game to its end and return its record, whatever the bots do.

    Raises UnknownNameError and ParseError for a spec that makes no sense; anything a bot does is in the record.
    """
    started = now()
    game = _Game(spec, roster, watch)
    try:
        outcome = game.run()
    except Stopped:
        game.detail = "called off from outside"
        roster.discard(game.bots)
        return game.finish(None, Termination.STOPPED, started)
    except SandboxError as error:
        game.detail = str(error)
        roster.discard(game.bots)
        return game.finish(None, Termination.SANDBOX_FAILED, started)
    except BaseException:
        roster.discard(game.bots)
        raise
    return game.finish(outcome.winner, outcome.reason, started)
