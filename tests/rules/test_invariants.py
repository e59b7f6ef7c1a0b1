"""Invariants of every family, in every variant, under any options, in any position; discovery finds the families."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from referee.rules import families, load
from referee.rules.history import LineOfPlay
from referee.rules.invariants import INVARIANTS
from referee.rules.per_family import perft
from referee.rules.position import Position
from referee.rules.random_walk import legal, named, walk
from referee.rules.record_invariants import RECORD_INVARIANTS
from tests.rules.walks import positions, rulesets


@pytest.mark.parametrize("family", families())
def test_position(family):
    """All invariants on each position, since finding positions takes longer than checking an invariant."""

    @given(positions(family))
    def hold(place):
        for law in INVARIANTS:
            note(f"law: {law.__name__}")
            law(*place)

    hold()


@pytest.mark.parametrize("law", RECORD_INVARIANTS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("family", families())
def test_record(family, law):
    law(load(family))


# Laws of a whole game.


@pytest.mark.parametrize("family", families())
def test_line_and_position_agree(family):
    """The referee's fast line of play and the immutable positions agree, history included."""

    @given(rulesets(family), st.integers(0, 2**32), st.integers(1, 60), st.booleans())
    def agree(ruleset, seed, plies, back_and_forth):
        position, line = Position.start(ruleset), LineOfPlay(ruleset)
        for ply in range(plies):
            where = named(ruleset, position.state, f"ply {ply}")
            assert line.outcome == position.outcome, where
            assert line.side == position.side, where
            assert line.position().key == position.key, where
            if line.outcome is not None:
                assert not any(line.push(move) for move in legal(ruleset, position.state)), where
                break
            assert line.legal().tolist() == list(position.moves), where
            move = _back(position) if back_and_forth else None
            if move is None:
                move = position.moves[(seed + ply * 7919) % len(position.moves)]
            assert line.push(move), where
            position = position.play(move)

    agree()


def _back(position: Position) -> int | None:
    """Return the move that undoes the mover's last one, if its reversed text is legal: it causes repetitions."""
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
    """In families with repetition the n-th occurrence ends the game."""
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


@pytest.mark.parametrize("family", families())
def test_second_process_loads_the_same_kernel(family):
    """Another process loads from the cache what this process compiled, without numba before the first use."""
    ruleset = load(family).settle()
    wanted = perft(ruleset, ruleset.read(), 2)
    program = (
        "import sys\n"
        "import referee.rules\n"
        "from referee.rules.per_family import perft\n"
        "referee.rules.__path__.extend(sys.argv[2:])\n"
        "ruleset = referee.rules.load(sys.argv[1]).settle()\n"
        "state = ruleset.read()\n"
        "assert 'numba' not in sys.modules, 'the rules alone must not load numba'\n"
        "print(perft(ruleset, state, 2))\n"
    )
    home = str(Path(sys.modules[f"referee.rules.{family}"].__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", program, family, home], capture_output=True, text=True, timeout=500, check=False
    )
    assert done.returncode == 0, f"{family}: exit {done.returncode}\n{done.stderr}"
    assert int(done.stdout) == wanted, named(ruleset, ruleset.read())
