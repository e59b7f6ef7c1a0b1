"""Laws every family keeps, in every variant, under any options, in any position. Families are found by discovery."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.rules import families, load
from referee.rules.core import Kind, Termination
from referee.rules.draw import draw
from referee.rules.history import LineOfPlay
from referee.rules.position import Position, outcome_of
from referee.rules.rules import Ruleset, State
from tests.rules.walks import after, legal, named, positions, rulesets, walk

LIMITS = {
    Termination.MAX_PLIES,
    Termination.NO_CAPTURE,
    Termination.REPETITION,
    Termination("no-ejection"),
    Termination("perpetual-raichi"),
}
"""What ends a game for other reasons than the board."""


# Laws of one position. Each takes the rules and a state and must leave the state as it was.


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
    assert found == counted, named(ruleset, state, f"legal lists {found}, count says {counted}")


def position_text_round_trips(ruleset: Ruleset, state: State) -> None:
    kernel, text = ruleset.rules.kernel, ruleset.write(state)
    again = ruleset.read(text)
    assert ruleset.write(again) == text, named(ruleset, state, "reread and written as", ruleset.write(again))
    size = kernel.KEY_SIZE
    assert again[:size].tolist() == state[:size].tolist(), named(ruleset, state, "another key when reread")
    assert legal(ruleset, again) == legal(ruleset, state), named(ruleset, state, "other moves when reread")
    one, two = (outcome_of(ruleset, int(kernel.result(s, ruleset.config, 1, 0))) for s in (state, again))
    # Plies played so far are not in every position text, so a limit may be further away when reread.
    if not (one and one.reason in LIMITS):
        assert one == two, named(ruleset, state, one, "but when reread", two)


def move_texts_round_trip(ruleset: Ruleset, state: State) -> None:
    notation, moves = ruleset.rules.notation, legal(ruleset, state)
    texts = [notation.write_move(move) for move in moves]
    assert len(set(texts)) == len(texts), named(ruleset, state, "two moves, one text")
    for move, text in zip(moves, texts, strict=True):
        shown = notation.display_move(move, state, ruleset.config)
        for spelling in (text, shown):
            found = notation.read_move(spelling, state, ruleset.config)
            assert found == move, named(ruleset, state, f"{spelling!r} of {text} read as", notation.write_move(found))


def play_writes_only_its_output(ruleset: Ruleset, state: State) -> None:
    kernel, before = ruleset.rules.kernel, state.tobytes()
    for move in legal(ruleset, state):
        one, two = np.zeros_like(state), np.full_like(state, 1)
        kernel.play(state, ruleset.config, move, one)
        kernel.play(state, ruleset.config, move, two)
        text = ruleset.rules.notation.write_move(move)
        assert state.tobytes() == before, named(ruleset, state, text, "changed its input")
        assert one.tobytes() == two.tobytes(), named(ruleset, state, text, "leaves parts of its output as they were")


def sides_alternate(ruleset: Ruleset, state: State) -> None:
    side = ruleset.rules.side
    for move in legal(ruleset, state):
        child = after(ruleset, state, move)
        text = ruleset.rules.notation.write_move(move)
        assert side(child, ruleset.config) == 1 - side(state, ruleset.config), named(ruleset, state, text)


def perft_counts_the_tree(ruleset: Ruleset, state: State) -> None:
    kernel, config, moves = ruleset.rules.kernel, ruleset.config, legal(ruleset, state)
    assert kernel.perft(state, config, 0) == 1, named(ruleset, state, "perft 0")
    assert kernel.perft(state, config, 1) == len(moves), named(ruleset, state, "perft 1 against legal", len(moves))
    below = sum(len(legal(ruleset, after(ruleset, state, move))) for move in moves)
    assert kernel.perft(state, config, 2) == below, named(ruleset, state, "perft 2 against its children", below)


def finished_means_no_moves(ruleset: Ruleset, state: State) -> None:
    position = Position(ruleset, state)
    if position.outcome is None:
        assert position.moves, named(ruleset, state, "goes on without a move")
    elif position.outcome.reason not in ruleset.rules.keeps_moves:
        assert position.moves == (), named(ruleset, state, position.outcome, "and still moves")
    if position.outcome is None or position.outcome.reason not in LIMITS:
        assert bool(position.moves) == bool(legal(ruleset, state)), named(ruleset, state, position.outcome)


def playouts_end_as_the_rules_say(ruleset: Ruleset, state: State) -> None:
    kernel, config, before = ruleset.rules.kernel, ruleset.config, state.tobytes()
    for seed, limit in ((1, 1), (2, 7), (3, 400)):
        one, two = (np.array([seed], dtype=np.uint64) for _ in range(2))
        code, plies = kernel.playout(state, config, one, limit)
        assert (code, plies) == kernel.playout(state, config, two, limit), named(ruleset, state, "seed", seed)
        assert one[0] == two[0], named(ruleset, state, "the generators part, seed", seed)
        assert 0 <= plies <= limit, named(ruleset, state, plies, "plies of at most", limit)
        assert code or plies == limit, named(ruleset, state, f"stopped after {plies} of {limit} without a result")
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
        assert now or code in children, named(ruleset, state, "playout code", code, "no child has it:", children)


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
    raise AssertionError(named(ruleset, state, "the evaluation sees a win that no move makes"))


def board_can_be_drawn(ruleset: Ruleset, state: State) -> None:
    rules, before = ruleset.rules, state.tobytes()
    board = rules.board(state, ruleset.config)
    names = [cell.name for cell in board.cells]
    assert len(set(names)) == len(names), named(ruleset, state, "a cell twice")
    assert set(board.pieces) | set(board.marks) <= set(names), named(ruleset, state, "a piece or mark off the board")
    words = {word for found in board.marks.values() for word in found}
    assert words <= {mark.name for mark in rules.marks}, named(ruleset, state, "marks nobody explains", words)
    known = {piece.symbol for piece in rules.pieces}
    for place, symbols in board.pieces.items():
        assert symbols in known or set(symbols) <= known, named(ruleset, state, f"unknown piece {symbols!r} on {place}")
    picture = draw(board, rules.pieces)
    assert all(note in picture for note in board.notes), named(ruleset, state, "a note is missing")
    assert state.tobytes() == before, named(ruleset, state, "drawing changed its input")


def phase_can_be_passed_and_comes_once(ruleset: Ruleset, state: State) -> None:
    rules, config = ruleset.rules, ruleset.config
    if rules.phase is None:
        return
    moves = legal(ruleset, state)
    if rules.phase.holds(state, config):
        assert ruleset.phase is rules.phase, named(ruleset, state, "a phase that the rules do not have")
        assert not moves or rules.notation.pass_move in moves, named(ruleset, state, "no pass among the moves")
        return
    for move in moves:
        text = rules.notation.write_move(move)
        assert not rules.phase.holds(after(ruleset, state, move), config), named(
            ruleset, state, text, "begins it again"
        )


def announcement_is_a_word(ruleset: Ruleset, state: State) -> None:
    if ruleset.rules.announce is not None:
        found = ruleset.rules.announce(state, ruleset.config)
        assert found is None or found.strip() == found != "", named(ruleset, state, repr(found))


LAWS = (
    moves_ascend,
    count_is_number_of_moves,
    position_text_round_trips,
    move_texts_round_trip,
    play_writes_only_its_output,
    sides_alternate,
    perft_counts_the_tree,
    finished_means_no_moves,
    playouts_end_as_the_rules_say,
    evaluation_is_bounded_and_pure,
    evaluation_claims_no_win_that_is_not_there,
    board_can_be_drawn,
    announcement_is_a_word,
    phase_can_be_passed_and_comes_once,
)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("family", families())
def test_position(family, law):
    @given(positions(family))
    def holds(found):
        law(*found)

    holds()


# Laws of a whole game.


@pytest.mark.parametrize("family", families())
def test_line_and_position_agree(family):
    """The referee's fast line of play and the immutable positions say the same, history included."""

    @given(rulesets(family), st.integers(0, 2**32), st.integers(1, 60), st.booleans())
    def agree(ruleset, seed, plies, back_and_forth):
        position, line = Position.start(ruleset), LineOfPlay(ruleset)
        for ply in range(plies):
            where = named(ruleset, position.state, f"ply {ply}")
            assert line.outcome == position.outcome, where
            assert line.side == position.side, where
            assert line.position().key == position.key, where
            if line.outcome is not None:
                assert not any(line.is_legal(move) for move in legal(ruleset, position.state)), where
                break
            assert line.legal().tolist() == list(position.moves), where
            move = _back(position) if back_and_forth else None
            if move is None:
                move = position.moves[(seed + ply * 7919) % len(position.moves)]
            assert line.is_legal(move), where
            line.push(move)
            position = position.play(move)

    agree()


def _back(position: Position) -> int | None:
    """The move that takes back the mover's last one, where its text read backwards is legal: makes repetitions."""
    earlier = position.previous
    if earlier is None or earlier.move is None:
        return None
    write = position.ruleset.rules.notation.write_move
    text = write(earlier.move)
    half = len(text) // 2
    wanted = text[half:] + text[:half]
    return next((move for move in position.moves if write(move) == wanted), None)


@pytest.mark.parametrize("family", families())
def test_repetition_ends_the_game(family):
    """Where a family knows repetition, its n-th occurrence, counted by the rules' user, ends the game."""
    rules = load(family)
    if "repetition" not in {option.name for option in rules.options}:
        pytest.skip("the family knows no repetition")
    ruleset = rules.settle(None, {"repetition": 3})
    state = walk(ruleset, 5, 4)
    kernel = rules.kernel
    assert not kernel.result(state, ruleset.config, 2, 4), named(ruleset, state, "second occurrence")
    assert kernel.result(state, ruleset.config, 3, 4), named(ruleset, state, "third occurrence")
    off = rules.settle(None, {"repetition": 0})
    assert not kernel.result(state, off.config, 50, 4), named(off, state, "repetition is off")


@pytest.mark.parametrize("family", families())
def test_settled_rules_round_trip(family):
    @given(rulesets(family))
    def round_trip(ruleset):
        again = ruleset.rules.settle(ruleset.variant.name, ruleset.overrides)
        assert again.values == ruleset.values
        assert again.config.tolist() == ruleset.config.tolist()

    round_trip()


# Laws of the record itself.


@pytest.mark.parametrize("family", families())
def test_record_is_sound(family):
    rules = load(family)
    assert rules.family == family
    assert rules.title
    assert rules.summary
    assert len(set(rules.sides)) == 2
    names = [variant.name for variant in rules.variants]
    assert len(set(names)) == len(names)
    options = [option.name for option in rules.options]
    assert len(set(options)) == len(options)
    for option in rules.options:
        assert option.read(option.default) == option.default, option.name
        assert option.meaning, option.name
    for variant in rules.variants:
        ruleset = rules.settle(variant.name)
        assert ruleset.write(ruleset.read()) == ruleset.variant.position, variant.name
        assert len(ruleset.config) == len(rules.settle().config), variant.name
        assert ruleset.overrides == {}, variant.name
    assert len(set(rules.reasons)) == len(rules.reasons)
    assert {reason.kind for reason in rules.reasons} == {Kind.RULES}
    assert rules.keeps_moves <= set(rules.reasons)
    assert all(piece.side in ("first", "second", None) for piece in rules.pieces)
    assert 0 <= rules.draw_probability < 1
    assert re.fullmatch(r"M[MmLlHhVvAaCcSsQqTtZz0-9 .,-]+Z", rules.emblem), "not the path of an SVG"


@pytest.mark.parametrize("family", families())
def test_a_phase_before_play_is_begun_by_its_rule(family):
    rules = load(family)
    if rules.phase is None:
        return
    assert rules.option(rules.phase.rule).type == "check"
    for variant in rules.variants:
        ruleset = rules.settle(variant.name, {rules.phase.rule: True})
        assert rules.phase.holds(ruleset.read(), ruleset.config), variant.name
        assert ruleset.variant.position == rules.phase.begin(variant.position)
        assert ruleset.overrides == {rules.phase.rule: True}
        without = rules.settle(variant.name, {rules.phase.rule: False})
        assert without.phase is None
        assert not rules.phase.holds(without.read(), without.config), variant.name


@pytest.mark.parametrize("family", families())
def test_kernel_is_sound(family):
    rules = load(family)
    kernel, ruleset = rules.kernel, rules.settle()
    state = ruleset.read()
    assert state.shape == (kernel.STATE_SIZE,)
    assert state.dtype == kernel.DTYPE
    assert 0 < kernel.KEY_SIZE <= kernel.STATE_SIZE
    assert 0 < kernel.MAX_MOVES < 100_000


@pytest.mark.parametrize("family", families())
def test_rules_page_names_every_variant_and_option(family):
    rules = load(family)
    page = (Path(sys.modules[f"referee.rules.{family}"].__file__).parent / "RULES.md").read_text(encoding="utf-8")
    missing = [item.name for item in (*rules.variants, *rules.options) if item.name not in page]
    assert not missing


@pytest.mark.parametrize("family", families())
def test_second_process_loads_the_same_kernel(family):
    """What this process compiled, another one loads from the cache, without numba before the first use."""
    ruleset = load(family).settle()
    wanted = int(ruleset.rules.kernel.perft(ruleset.read(), ruleset.config, 2))
    program = (
        "import sys\n"
        "import referee.rules\n"
        "referee.rules.__path__.extend(sys.argv[2:])\n"
        "ruleset = referee.rules.load(sys.argv[1]).settle()\n"
        "state = ruleset.read()\n"
        "assert 'numba' not in sys.modules, 'the rules alone must not load numba'\n"
        "print(ruleset.rules.kernel.perft(state, ruleset.config, 2))\n"
    )
    home = str(Path(sys.modules[f"referee.rules.{family}"].__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", program, family, home], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, f"{family}: exit {done.returncode}\n{done.stderr}"
    assert int(done.stdout) == wanted, named(ruleset, ruleset.read())
