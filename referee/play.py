"""Plays one game: rules, position, go, wait, legal?, clock?, adjudicate. The same function everywhere.

Synchronous, with blocking polls on the bots' pipes. Refuses to know who scheduled the game and where its record goes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

from protocol.messages import UgiResult
from referee.adjudicate import Adjudicator, answered_for
from referee.clock import Clock
from referee.course import Course, Watch
from referee.ending import Ending, by_failure, by_illegal_move, by_outcome, by_resignation
from referee.failure import BotError, SandboxError, Stopped
from referee.move_text import move_texts
from referee.player import Player
from referee.record import GameRecord, Ply, now
from referee.roster import Roster
from referee.rules.core import SIDES, Outcome, Termination, Winner
from referee.sample_warmup import have_warm
from referee.score import hundredths
from referee.seat import Seat, Thought
from referee.spec import PlannedGame
from referee.unplayed import record_of
from referee.variation import kept

_RESULTS: dict[Winner, Literal["p1win", "p2win", "draw"]] = {"first": "p1win", "second": "p2win", "draw": "draw"}


def play(
    game: PlannedGame, roster: Roster, watch: Watch | None = None, played: Sequence[tuple[str, Ply]] = ()
) -> GameRecord:
    """Play one game to its end and return its record, whatever the bots do. `played`: how it began, of one that was
    interrupted; its clocks go on from there.

    Raises UnknownNameError and ParseError for a spec that makes no sense; anything a bot does is in the record.
    """
    started = now()
    spec = game.spec
    course = Course(spec, watch, played)
    bots = roster.seat((spec.first, spec.second), spec.limits)
    try:
        have_warm((spec.first, spec.second), spec.family, roster.stop_fd)
        players = _get_ready(course, bots)
        if isinstance(players, Ending):
            ending = players
        else:
            roster.begin(bots, spec.pondering)
            ending = _contest(course, players)
    except Stopped:
        roster.discard(bots)
        ending = Ending(None, Termination.STOPPED, "called off from outside")
    except SandboxError as error:
        roster.discard(bots)
        ending = Ending(None, Termination.SANDBOX_FAILED, str(error))
    except BaseException:
        roster.discard(bots)
        raise
    out_of_turn_ms = roster.rouse(bots)
    if ending.winner is not None:
        for bot in bots:
            bot.announce(UgiResult(_RESULTS[ending.winner], ending.termination.value))
    logs: dict[str, str] = {side: log for side, bot in zip(SIDES, bots, strict=True) if (log := bot.log)}
    roster.release(bots)
    beside = {"sandbox": roster.sandbox.name, "pondering": spec.pondering, "out_of_turn_ms": out_of_turn_ms}
    return _record(game.id, course, ending, bots, started=started, logs=logs, **beside)


def _get_ready(course: Course, bots: Sequence[Seat]) -> list[Player] | Ending:
    """Start both bots, shake hands, negotiate; the ending when one of them cannot play."""
    players: list[Player] = []
    stages: tuple[Callable[[Seat], None], ...] = (
        lambda bot: bot.start(),
        lambda bot: bot.handshake(),
        lambda bot: players.append(Player(bot, course)),
        lambda bot: bot.ready(),
    )
    for stage in stages:
        for side, bot in enumerate(bots):  # both start, and get ready, before either is waited for
            try:
                stage(bot)
            except BotError as error:
                return replace(by_failure(course, side, bot, error), at_start=True)
    return players


def _contest(course: Course, players: Sequence[Player]) -> Ending:
    """Ask, wait, judge, until the game is over. Raises Stopped and SandboxError."""
    spec, line = course.spec, course.line
    clock = _clock(course)
    is_timed = [control.kind in ("clock", "movetime") for control in spec.controls]
    adjudicator = Adjudicator(spec.adjudication, answered_for(spec))
    texts = move_texts(spec.family)
    codes, names = texts.codes, texts.names
    side_to_move, config = course.ruleset.rules.side, course.ruleset.config
    while (outcome := line.outcome) is None:
        side = side_to_move(line.state, config)
        player = players[side]
        if course.is_in_phase and player.passes_phase:
            course.push_pass()
            for each in players:
                each.follow(course)
            continue
        try:
            thought = player.ask(clock, side, codes)
        except BotError as error:
            return by_failure(course, side, player.bot, error)
        charged_ms = thought.ms - thought.lag_ms
        clock.charge(side, charged_ms)
        if thought.offer and (ending := _without_move(course, side, thought)):
            return ending
        code = thought.code if thought.code is not None else texts.code(thought.move, line)
        if code is None or not line.is_legal(code):
            said = thought.move if thought.code is None else texts.write(thought.code)
            return by_illegal_move(course, side, player.bot, said)
        if thought.offer == "draw" and spec.adjudication.draw_agreement:
            players[1 - side].bot.hear_offer()
        _push(course, names.get(code) or texts.write(code), code, thought, charged_ms if is_timed[side] else 0.0)
        for each in players:
            each.follow(course)
        if line.outcome is None:
            score = hundredths(thought.info) if thought.info else None
            outcome = adjudicator.ply(side, len(course.moves), score, thought.offer == "draw")
            if outcome:
                break
    return by_outcome(outcome)


def _without_move(course: Course, side: int, thought: Thought) -> Ending | None:
    """The end that a side chose instead of a move: it gives up, or is a person who takes the draw they heard of."""
    if thought.offer == "resign":
        return by_resignation(course, side)
    who = (course.spec.first, course.spec.second)[side]
    if who.place == "person" and thought.offer == "draw" and thought.move is None:
        return by_outcome(Outcome("draw", Termination.DRAW_AGREED))
    return None


def _push(course: Course, text: str, code: int, thought: Thought, charged_ms: float) -> None:
    times_ms = round(thought.ms, 3), round(charged_ms, 3), round(thought.lag_ms, 3)
    if info := thought.info:
        ply = Ply(*times_ms, hundredths(info), info.depth, info.nodes, pv=kept(info.pv))
    else:
        ply = Ply(*times_ms)
    course.push(text, ply, code)


def _clock(course: Course) -> Clock:
    """The clocks as the plies left them that were played already."""
    spec, line = course.spec, course.line
    clock = Clock(spec.controls[0], spec.limits.margin_ms, second=spec.controls[1])
    side = course.ruleset.rules.side(line.state, course.ruleset.config) ^ (len(course.plies) & 1)
    for ply in course.plies:
        if ply.ms and not ply.book:  # the referee's passes take no time
            clock.charge(side, ply.charged_ms)
        side = 1 - side
    return clock


def _record(
    game_id: str,
    course: Course,
    ending: Ending,
    bots: Sequence[Seat],
    *,
    started: str,
    **beside: Any,
) -> GameRecord:
    """The record of a game that ends now; `beside` is what others know of it."""
    spec = course.spec
    return record_of(
        game_id,
        spec,
        ending.winner,
        ending.termination,
        ending.detail,
        started=started,
        options=course.ruleset.overrides,
        position=course.start,
        moves=tuple(course.moves),
        plies=tuple(course.plies),
        final_position=course.position,
        anomalies=(bots[0].anomaly_count, bots[1].anomaly_count),
        adjudication=spec.adjudication.changes,
        at_start=ending.at_start,
        network={side: dict(bot.network) for side, bot in zip(SIDES, bots, strict=True) if bot.network},
        **beside,
    )
