"""Invariants that every family keeps, in every variant, under any options, in any position.

An invariant takes the rules and a state, does not change the state, and raises an AssertionError that names the
position. The rest of the program relies on these properties without checking them.
"""

from __future__ import annotations

import random
from contextlib import suppress

import numpy as np

from referee.rules.core import ParseError, Termination
from referee.rules.history import LineOfPlay
from referee.rules.move_input import ways_of
from referee.rules.position import Position, outcome_of
from referee.rules.random_walk import after, legal, named
from referee.rules.rules import GameText, Rules, Ruleset, State
from referee.rules.text_board import draw

_LIMITS = frozenset({Termination.MAX_PLIES, Termination.NO_CAPTURE, Termination.REPETITION})


def limits_of(rules: Rules) -> frozenset[Termination]:
    """Return the terminations that depend on a count alone, whatever is on the board."""
    return _LIMITS | rules.limits


def moves_ascend(ruleset: Ruleset, state: State) -> None:
    kernel = ruleset.rules.kernel
    buffer = np.full(kernel.MAX_MOVES, -7, dtype=np.int64)
    found = int(kernel.legal(state, ruleset.config, buffer))
    assert 0 <= found <= kernel.MAX_MOVES, named(ruleset, state, found)
    moves = buffer[:found].tolist()
    assert moves == sorted(set(moves)), named(ruleset, state, "codes not ascending and distinct", moves)
    assert all(move >= 0 for move in moves), named(ruleset, state, "negative code", moves)


def count_is_number_of_moves(ruleset: Ruleset, state: State) -> None:
    found, counted = len(legal(ruleset, state)), int(ruleset.rules.kernel.count(state, ruleset.config))
    assert found == counted, named(ruleset, state, f"legal lists {found}, count returns {counted}")


def position_text_round_trips(ruleset: Ruleset, state: State) -> None:
    kernel, text = ruleset.rules.kernel, ruleset.write(state)
    again = ruleset.read(text)
    assert ruleset.write(again) == text, named(ruleset, state, "read again and written as", ruleset.write(again))
    size = kernel.KEY_SIZE
    assert again[:size].tolist() == state[:size].tolist(), named(ruleset, state, "another key when read again")
    assert legal(ruleset, again) == legal(ruleset, state), named(ruleset, state, "other moves when read again")
    outcome, reread = (outcome_of(ruleset, int(kernel.result(s, ruleset.config, 1, 0))) for s in (state, again))
    # Not every position string contains the plies played, so a limit may be further away after reading it again.
    if not (outcome and outcome.reason in limits_of(ruleset.rules)):
        assert outcome == reread, named(ruleset, state, outcome, "but when read again", reread)


def move_texts_round_trip(ruleset: Ruleset, state: State) -> None:
    notation, moves = ruleset.rules.notation, legal(ruleset, state)
    texts = [notation.write_move(move) for move in moves]
    assert len(set(texts)) == len(texts), named(ruleset, state, "two moves, one text")
    for move, text in zip(moves, texts, strict=True):
        shown = notation.display_move(move, state, ruleset.config)
        for spelling in (text, shown):
            code = notation.read_move(spelling, state, ruleset.config)
            assert code == move, named(ruleset, state, f"{spelling!r} of {text} read as", notation.write_move(code))


def play_writes_only_its_output(ruleset: Ruleset, state: State) -> None:
    kernel, before = ruleset.rules.kernel, state.tobytes()
    for move in legal(ruleset, state):
        over_zeros, over_ones = np.zeros_like(state), np.full_like(state, 1)
        kernel.play(state, ruleset.config, move, over_zeros)
        kernel.play(state, ruleset.config, move, over_ones)
        text = ruleset.rules.notation.write_move(move)
        assert state.tobytes() == before, named(ruleset, state, text, "changed its input")
        assert over_zeros.tobytes() == over_ones.tobytes(), named(
            ruleset, state, text, "does not write its whole output"
        )


def sides_alternate(ruleset: Ruleset, state: State) -> None:
    side = ruleset.rules.side
    for move in legal(ruleset, state):
        child = after(ruleset, state, move)
        text = ruleset.rules.notation.write_move(move)
        assert side(child, ruleset.config) == 1 - side(state, ruleset.config), named(ruleset, state, text)


def finished_means_no_moves(ruleset: Ruleset, state: State) -> None:
    position = Position(ruleset, state)
    if position.outcome is None:
        assert position.moves, named(ruleset, state, "has neither an outcome nor a move")
    elif position.outcome.reason not in ruleset.rules.keeps_moves:
        assert position.moves == (), named(ruleset, state, position.outcome, "but still has moves")
    if position.outcome is None or position.outcome.reason not in limits_of(ruleset.rules):
        assert bool(position.moves) == bool(legal(ruleset, state)), named(ruleset, state, position.outcome)


def playouts_end_as_the_rules_say(ruleset: Ruleset, state: State) -> None:
    kernel, config, before = ruleset.rules.kernel, ruleset.config, state.tobytes()
    for seed, limit in ((1, 1), (2, 7), (3, 400)):
        first_rng, second_rng = (np.array([seed], dtype=np.uint64) for _ in range(2))
        code, plies = kernel.playout(state, config, first_rng, limit)
        assert (code, plies) == kernel.playout(state, config, second_rng, limit), named(ruleset, state, "seed", seed)
        assert first_rng[0] == second_rng[0], named(ruleset, state, "the generators differ, seed", seed)
        assert 0 <= plies <= limit, named(ruleset, state, plies, "plies of at most", limit)
        assert code or plies == limit, named(ruleset, state, f"ended after {plies} of {limit} plies without a result")
        outcome = outcome_of(ruleset, int(code))
        assert (outcome is None) == (code == 0), named(ruleset, state, "code", code)
    assert state.tobytes() == before, named(ruleset, state, "a playout changed its input")
    now = int(kernel.result(state, config, 1, 0))
    children = {int(kernel.result(after(ruleset, state, m), config, 1, 0)) for m in legal(ruleset, state)}
    rng = np.array([9], dtype=np.uint64)
    for _ in range(20):
        code, plies = kernel.playout(state, config, rng, 1)
        wanted = (now, 0) if now else (code, 1)
        assert (code, plies) == wanted, named(ruleset, state, "playout", (code, plies), "of a game at", now)
        assert now or code in children, named(
            ruleset, state, "playout code", code, "not among the children's codes:", children
        )


def evaluation_is_bounded_and_pure(ruleset: Ruleset, state: State) -> None:
    kernel, before = ruleset.rules.kernel, state.tobytes()
    score = kernel.evaluate(state, ruleset.config)
    assert abs(score) < 20_000, named(ruleset, state, score)
    assert kernel.evaluate(state, ruleset.config) == score, named(ruleset, state, "two scores")
    assert state.tobytes() == before, named(ruleset, state, "evaluate changed its input")


def evaluation_claims_no_win_that_is_not_there(ruleset: Ruleset, state: State) -> None:
    kernel, config = ruleset.rules.kernel, ruleset.config
    if kernel.evaluate(state, config) < 10_000 or kernel.result(state, config, 1, 0) != 0:
        return
    mover = ruleset.rules.side(state, config)
    after, wins = np.empty_like(state), mover + 1
    moves = np.empty(kernel.MAX_MOVES, dtype=np.int64)
    for move in moves[: kernel.legal(state, config, moves)]:
        kernel.play(state, config, move, after)
        if kernel.result(after, config, 1, 0) % 4 == wins:
            return
    raise AssertionError(named(ruleset, state, "the evaluation claims a win that no move makes"))


def prospects_hide_no_win(ruleset: Ruleset, state: State) -> None:
    """Check that a kernel with `Prospects` denies a win with the next move only where there is none."""
    kernel, config = ruleset.rules.kernel, ruleset.config
    may_win = getattr(kernel, "may_win", None)
    if may_win is None or may_win(state, config, 1):
        return
    wins = 1 + ruleset.rules.side(state, config)
    for move in legal(ruleset, state):
        child = after(ruleset, state, move)
        for occurrences, gap in ((1, 0), (1000, 2)):
            code = int(kernel.result(child, config, occurrences, gap))
            assert code % 4 != wins, named(ruleset, state, ruleset.rules.notation.write_move(move), "wins after all")


def board_can_be_drawn(ruleset: Ruleset, state: State) -> None:
    rules, before = ruleset.rules, state.tobytes()
    board = rules.board(state, ruleset.config)
    names = [cell.name for cell in board.cells]
    assert len(set(names)) == len(names), named(ruleset, state, "duplicate cell names")
    assert set(board.pieces) | set(board.marks) <= set(names), named(ruleset, state, "a piece or mark off the board")
    words = {word for marks in board.marks.values() for word in marks}
    assert words <= {mark.name for mark in rules.marks}, named(
        ruleset, state, "marks without an entry in Rules.marks", words
    )
    known = {piece.symbol for piece in rules.pieces}
    for place, symbols in board.pieces.items():
        assert symbols in known or set(symbols) <= known, named(ruleset, state, f"unknown piece {symbols!r} on {place}")
    picture = draw(board, rules.pieces)
    assert all(note in picture for note in board.notes), named(ruleset, state, "the drawing lacks a note")
    # A board does not know whether its game is over, so pages and commands say whose turn it is.
    assert not any(note.endswith(" to move") for note in board.notes), named(ruleset, state, "a note of the turn")
    assert state.tobytes() == before, named(ruleset, state, "drawing changed its input")


def phase_can_be_passed_and_comes_once(ruleset: Ruleset, state: State) -> None:
    rules, config = ruleset.rules, ruleset.config
    if rules.phase is None:
        return
    moves = legal(ruleset, state)
    if rules.phase.holds(state, config):
        assert ruleset.phase is rules.phase, named(ruleset, state, "in a phase that these rules do not have")
        assert not moves or rules.notation.pass_move in moves, named(ruleset, state, "no pass among the moves")
        return
    for move in moves:
        text = rules.notation.write_move(move)
        assert not rules.phase.holds(after(ruleset, state, move), config), named(
            ruleset, state, text, "starts the phase again"
        )


def announcement_is_a_word(ruleset: Ruleset, state: State) -> None:
    if ruleset.rules.announce is not None:
        found = ruleset.rules.announce(state, ruleset.config)
        assert found is None or found.strip() == found != "", named(ruleset, state, repr(found))


def texts_are_read_or_refused(ruleset: Ruleset, state: State) -> None:
    """Check that a position or move with a typo is read or raises a ParseError."""
    rng, notation = random.Random(state.tobytes()), ruleset.rules.notation
    moves = [notation.write_move(move) for move in legal(ruleset, state)[:3]]
    for text in (ruleset.write(state), *moves):
        place = rng.randrange(len(text) + 1)
        spoilt = text[:place] + rng.choice(" -/x19Zß\0") + text[place + rng.randrange(2) :]
        for read in (ruleset.read, lambda typed: notation.read_move(typed, state, ruleset.config)):
            with suppress(ParseError):
                read(spoilt)


def games_round_trip(ruleset: Ruleset, state: State) -> None:
    """Check that the beginning of a game under the default rules survives writing and reading in every notation."""
    ruleset = ruleset.rules.settle()
    moves: list[str] = []
    rng, position = random.Random(state.tobytes()), Position.start(ruleset)
    while len(moves) < 12 and position.outcome is None:
        move = rng.choice(position.moves)
        moves.append(ruleset.rules.notation.write_move(move))
        position = position.play(move)
    for form in ruleset.rules.formats:
        text = form.write(GameText(tuple(moves)), ruleset)
        again = [list(game.moves) for game in form.read(text, ruleset)]
        assert again == ([moves] if moves else []), named(ruleset, state, f"{form.name}: {moves} read as {again}")


def line_of_play_agrees(ruleset: Ruleset, state: State) -> None:
    """Check that the referee's fast line of play and the immutable positions agree along a game."""
    rng, position, line = random.Random(state.tobytes()), Position.start(ruleset), LineOfPlay(ruleset)
    for ply in range(20):
        where = named(ruleset, position.state, f"ply {ply}")
        assert (line.outcome, line.side) == (position.outcome, position.side), where
        if position.outcome is not None:
            break
        assert line.legal().tolist() == list(position.moves), where
        move = rng.choice(position.moves)
        assert line.push(move), where
        position = position.play(move)


def moves_are_entered_by_cells(ruleset: Ruleset, state: State) -> None:
    """Check that every legal move can be entered by picking cells, and that moves with the same cells have different
    texts.
    """
    position = Position(ruleset, state)
    board = position.board
    cells = {cell.name for cell in board.cells}
    meant: dict[tuple[str, ...], list[int]] = {}
    for move in position.moves:
        ways = ways_of(position, move, board)
        text = ruleset.rules.notation.write_move(move)
        assert ways, named(ruleset, state, text, "cannot be entered")
        for way in ways:
            assert cells.issuperset(way), named(ruleset, state, text, "has cells off the board", way)
            meant.setdefault(way, []).append(move)
    for way, moves in meant.items():
        shown = [position.display(move) for move in moves] if len(moves) > 1 else []
        assert len(set(shown)) == len(shown) <= 8, named(ruleset, state, way, "is ambiguous between", shown)


INVARIANTS = (
    moves_ascend,
    count_is_number_of_moves,
    position_text_round_trips,
    move_texts_round_trip,
    play_writes_only_its_output,
    sides_alternate,
    finished_means_no_moves,
    playouts_end_as_the_rules_say,
    evaluation_is_bounded_and_pure,
    evaluation_claims_no_win_that_is_not_there,
    prospects_hide_no_win,
    board_can_be_drawn,
    announcement_is_a_word,
    phase_can_be_passed_and_comes_once,
    texts_are_read_or_refused,
    games_round_trip,
    line_of_play_agrees,
    moves_are_entered_by_cells,
)
"""Invariants of a single position."""
