"""Plays one game: sends the position and `go`, waits for the move, checks it and the clock, and adjudicates.

The code is synchronous and waits in blocking polls on the bots' pipes. A game ends by the rules, by adjudication, or by
a failure or resignation of a bot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from protocol.messages import UgiResult
from referee.bot.seat import Seat, Thought
from referee.game.adjudication import Adjudicator, answered_for
from referee.game.clock import GameClock
from referee.game.failure import BotError, SandboxError, Stopped
from referee.game.history import GameHistory, Watch, move_texts
from referee.game.record import GameRecord, Ply, now
from referee.game.score import centipawns, kept_variation
from referee.game.spec import PlannedGame
from referee.game.unplayed import record_of
from referee.machine.sample_warmup import have_warm
from referee.play.player import Player
from referee.play.roster import Roster
from referee.rules.core import SIDES, Outcome, Termination, Winner


@dataclass(frozen=True, slots=True)
class Ending:
    """The winner (None: the game is void), the reason, and one sentence of evidence.

    `at_start`: the game ended before play because a bot did not get ready.
    """

    winner: Winner | None
    termination: Termination
    detail: str = ""
    at_start: bool = False


def by_outcome(outcome: Outcome) -> Ending:
    """Return the ending for an outcome by the rules or by adjudication."""
    return Ending(outcome.winner, outcome.reason)


def by_resignation(history: GameHistory, side: int) -> Ending:
    """Return the ending of a game in which `side` (0 first, 1 second) resigned."""
    return Ending(SIDES[1 - side], Termination.RESIGNED, f"{SIDES[side]} resigned at ply {len(history.moves) + 1}")


def by_failure(history: GameHistory, side: int, bot: Seat, error: BotError) -> Ending:
    """Return the ending of a game in which the bot of `side` failed; its process will play no other game."""
    bot.condemn()
    detail = f"{SIDES[side]} ({bot.spec.name}) lost at ply {len(history.moves) + 1}: {error.detail}"
    return Ending(SIDES[1 - side], error.termination, detail)


def by_illegal_move(history: GameHistory, side: int, bot: Seat, text: str | None) -> Ending:
    """Return the ending of a game in which the bot of `side` answered with an illegal move."""
    shown = "no move" if text is None else repr(text[:80])
    return by_failure(history, side, bot, BotError(Termination.ILLEGAL_MOVE, f"{shown} in {history.position}"))


_RESULTS: dict[Winner, Literal["p1win", "p2win", "draw"]] = {"first": "p1win", "second": "p2win", "draw": "draw"}


def play(
    game: PlannedGame, roster: Roster, watch: Watch | None = None, played: Sequence[tuple[str, Ply]] = ()
) -> GameRecord:
    """Play one game to its end and return its record; failures of the bots are in the record.

    `played` are the plies of an interrupted game; its clocks continue after them. Raises UnknownNameError and
    ParseError for an invalid spec.
    """
    started = now()
    spec = game.spec
    history = GameHistory(spec, watch, played)
    bots = roster.seat((spec.first, spec.second), spec.limits)
    try:
        have_warm((spec.first, spec.second), spec.family, roster.stop_fd)
        players = _get_ready(history, bots)
        if isinstance(players, Ending):
            ending = players
        else:
            roster.begin(bots, spec.pondering)
            ending = _contest(history, players)
    except Stopped:
        roster.discard(bots)
        ending = Ending(None, Termination.STOPPED, "called off from outside")
    except SandboxError as error:
        roster.discard(bots)
        ending = Ending(None, Termination.SANDBOX_FAILED, str(error))
    except BaseException:
        roster.discard(bots)
        raise
    # Before the result is announced: a suspended bot could not read it.
    out_of_turn_ms = roster.rouse(bots)
    if ending.winner is not None:
        for bot in bots:
            bot.announce(UgiResult(_RESULTS[ending.winner], ending.termination.value))
    # Before the release, which ends processes that play no other game.
    logs: dict[str, str] = {side: log for side, bot in zip(SIDES, bots, strict=True) if (log := bot.log)}
    roster.release(bots)
    extra = {"sandbox": roster.sandbox.name, "pondering": spec.pondering, "out_of_turn_ms": out_of_turn_ms}
    return _record(game.id, history, ending, bots, started=started, logs=logs, **extra)


def _get_ready(history: GameHistory, bots: Sequence[Seat]) -> list[Player] | Ending:
    """Start both bots, shake hands and negotiate; return the ending if one of them cannot play."""
    players: list[Player] = []
    stages: tuple[Callable[[Seat], None], ...] = (
        lambda bot: bot.start(),
        lambda bot: bot.handshake(),
        lambda bot: players.append(Player(bot, history)),
        lambda bot: bot.ready(),
    )
    for bot in bots:  # also if the other one fails before this one is sent anything
        bot.begin_game()
    for stage in stages:
        for side, bot in enumerate(bots):  # both bots start, and get ready, at the same time
            try:
                stage(bot)
            except BotError as error:
                return replace(by_failure(history, side, bot, error), at_start=True)
    return players


def _contest(history: GameHistory, players: Sequence[Player]) -> Ending:
    """Request moves in turn and judge them until the game is over. Raises Stopped and SandboxError."""
    spec, line = history.spec, history.line
    clock = _clock(history)
    is_timed = [control.kind in ("clock", "movetime") for control in spec.controls]
    adjudicator = Adjudicator(spec.adjudication, answered_for(spec))
    texts = move_texts(spec.family)
    codes, names = texts.codes, texts.names
    for number, player in enumerate(players):
        player.begin(clock, number)
    side = _side_to_move(history)
    while (outcome := line.outcome) is None:
        player = players[side]
        if history.is_in_phase and player.passes_phase:
            history.push_pass()
            side = 1 - side
            continue
        try:
            thought = player.ask(codes)
        except BotError as error:
            return by_failure(history, side, player.bot, error)
        charged_ms = thought.ms - thought.lag_ms
        clock.charge(side, charged_ms)
        if thought.offer and (ending := _without_move(history, side, thought)):
            return ending
        code = thought.code if thought.code is not None else texts.code(thought.move, line)
        text = None if code is None else names.get(code) or texts.write(code)
        ply = _ply(thought, charged_ms if is_timed[side] else 0.0)
        if thought.offer == "draw" and spec.adjudication.draw_agreement:
            players[1 - side].bot.hear_offer()  # before the ply is published with it
        if code is None or text is None or not history.push(text, ply, code):
            return by_illegal_move(history, side, player.bot, text if thought.move is None else thought.move)
        if line.outcome is None:
            outcome = adjudicator.ply(side, len(history.moves), ply.score, thought.offer == "draw")
            if outcome:
                break
        side = 1 - side  # sides alternate at every ply, an invariant of all rules
    return by_outcome(outcome)


def _without_move(history: GameHistory, side: int, thought: Thought) -> Ending | None:
    """Return the ending if a side resigns, or a person accepts a draw offer, instead of moving; else None."""
    if thought.offer == "resign":
        return by_resignation(history, side)
    who = (history.spec.first, history.spec.second)[side]
    if who.place == "person" and thought.offer == "draw" and thought.move is None:
        return by_outcome(Outcome("draw", Termination.DRAW_AGREED))
    return None


def _ply(thought: Thought, charged_ms: float) -> Ply:
    """Return how a move was played. Its times are exact; only a difference of two needs rounding again."""
    if thought.lag_ms:
        charged_ms = round(charged_ms, 3)
    if info := thought.info:
        score, pv = centipawns(info), kept_variation(info.pv)
        return Ply(thought.ms, charged_ms, thought.lag_ms, score, info.depth, info.nodes, pv=pv)
    return Ply(thought.ms, charged_ms, thought.lag_ms)


def _side_to_move(history: GameHistory) -> int:
    return history.ruleset.rules.side(history.line.state, history.ruleset.config)


def _clock(history: GameHistory) -> GameClock:
    """Return the clocks after the plies already played."""
    spec = history.spec
    clock = GameClock(spec.controls[0], spec.limits.margin_ms, second=spec.controls[1])
    # The side to move at the start, counted back from the present one: sides alternate at every ply.
    side = _side_to_move(history) ^ (len(history.plies) & 1)
    for ply in history.plies:
        if ply.ms and not ply.book:  # the referee's passes take no time
            clock.charge(side, ply.charged_ms)
        side = 1 - side
    return clock


def _record(
    game_id: str,
    history: GameHistory,
    ending: Ending,
    bots: Sequence[Seat],
    *,
    started: str,
    **extra: Any,
) -> GameRecord:
    """Build the record of a game that ends now. `extra` holds further record fields."""
    spec = history.spec
    return record_of(
        game_id,
        spec,
        ending.winner,
        ending.termination,
        ending.detail,
        started=started,
        options=history.ruleset.overrides,
        position=history.start,
        moves=tuple(history.moves),
        plies=tuple(history.plies),
        final_position=history.position,
        anomalies=(bots[0].anomaly_count, bots[1].anomaly_count),
        adjudication=spec.adjudication.changes,
        at_start=ending.at_start,
        network={side: bot.network for side, bot in zip(SIDES, bots, strict=True) if bot.network},
        **extra,
    )
