"""The champion: it takes what wins, keeps its limits, plays the same again, and is as weak as it is told to be."""

from __future__ import annotations

import random
import threading
from pathlib import Path

import numpy as np
import pytest

from bots.samples.alphabeta import AlphaBeta
from bots.samples.champion import LEVELS, Champion, nodes_at
from bots.sdk import Clock, families
from bots.search import search
from bots.search.net import (
    EVAL_MARGIN,
    LMR_FIRST_MOVE,
    QUIESCENCE,
    RAZORING,
    SEARCH_FEATURES,
    TEMPO,
    empty_net,
    load_net,
)
from bots.search.table import META
from protocol.messages import Go
from referee.rules import load
from referee.rules.position import Position
from referee.rules.rules import Config, State


def choose(bot: AlphaBeta, position: Position, nodes: int) -> int:
    move = bot.choose(position, Clock(Go(nodes=nodes), 0 if position.side == "first" else 1))
    assert move in position.moves
    return move


@pytest.mark.parametrize("family", families())
def test_it_plays_legal_moves_and_the_same_again(family: str) -> None:
    def game(bot: Champion) -> list[int]:
        position, moves = Position.start(load(family).settle()), []
        for _ in range(8):
            moves.append(choose(bot, position, 200))
            position = position.play(moves[-1])
            if not position.moves:
                break
        assert int(bot._search_state.work[bot._search.NODES]) <= 200
        return moves

    bot = Champion()
    assert game(bot) == game(bot) == game(Champion())


def test_a_weaker_one_looks_at_less_and_errs_more() -> None:
    assert [nodes_at(strength) for strength in (0, 10, 80, 100)] == [40, 80, 10240, 0]
    position = Position.start(load("abalone").settle())
    bot = Champion()
    bot._values["Strength"] = "0"
    moves = set()
    for seed in range(12):
        bot._values["Seed"] = str(seed)
        moves.add(choose(bot, position, 5_000))
        assert int(bot._search_state.work[bot._search.NODES]) <= 40
    assert len(moves) > 1


def test_levels_are_the_measured_strengths_of_the_family() -> None:
    bot = Champion()
    for family in families():
        strengths = load(family).level_strengths
        assert len(strengths) == LEVELS
        assert sorted(set(strengths)) == list(strengths)
        assert strengths[0] >= 0
        assert strengths[-1] < 100, "a level plays alike on every machine"
        position = Position.start(load(family).settle())
        bot._values |= {"Level": "0", "Strength": "70"}
        assert bot.strength(position) == 70
        for level, strength in enumerate(strengths, 1):
            bot._values["Level"] = str(level)
            assert bot.strength(position) == strength


def test_a_level_limits_what_is_searched() -> None:
    position, bot = Position.start(load("loa").settle()), Champion()
    bot._values["Level"] = "3"
    choose(bot, position, 100_000)
    assert int(bot._search_state.work[bot._search.NODES]) <= nodes_at(load("loa").level_strengths[2])


def test_it_is_sure_when_it_finds_the_same_again() -> None:
    bot = Champion()
    choose(bot, Position.start(load("loa").settle()), 50)
    bot._last, bot._streak = -1, 0
    shares = [bot.budget_share(Clock(Go(1000, 1000, 50, 50), 0)) for _ in range(6)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == 1.0
    assert shares[-1] == 0.4
    assert bot.budget_share(Clock(Go(movetime=1000), 0)) == 1.0, "time that is saved is lost"


def test_it_uses_its_clock_early_and_what_comes_back_with_every_move() -> None:
    position, bot = Position.start(load("loa").settle()), Champion()
    choose(bot, position, 50)
    budgets = []
    for go in (Go(3150, 1, 100, 100), Go(3150, 1), Go(movetime=1150)):
        clock = Clock(go, 0)
        clock.stop()
        bot.choose(position, clock)
        budgets.append(clock.budget_ms())
    assert budgets == [390, 120, 1000]


def test_moves_are_drawn_by_lot_where_it_is_told_to_stray() -> None:
    position, bot = Position.start(load("loa").settle()), Champion()
    bot._values["RandomMovePercent"] = "100"
    found = set()
    for seed in range(8):
        bot._values["Seed"] = str(seed)
        found.add(choose(bot, position, 10))
    assert len(found) > 3


def test_weights_are_those_it_is_told_to_take(tmp_path: Path) -> None:
    position, bot = Position.start(load("abalone").settle()), Champion()
    choose(bot, position, 10)
    assert bot._search_state.rows.any()
    bot._values["Weights"] = "none"
    bot.option_changed("Weights")
    choose(bot, position, 10)
    assert not bot._search_state.rows.any()
    bot._values["Weights"] = str(tmp_path / "none.npz")
    bot.option_changed("Weights")
    with pytest.raises(SystemExit, match=r"no file .*none\.npz"):
        choose(bot, position, 10)


def test_the_numbers_it_goes_by_are_those_of_its_weights_or_those_it_is_told() -> None:
    position, bot = Position.start(load("loa").settle()), Champion()
    bot.warm_up(position)
    kept = bot.new_search_state(position).maps[0].tolist()
    for name, place in (
        ("SearchFeatures", SEARCH_FEATURES),
        ("Tempo", TEMPO),
        ("EvalMargin", EVAL_MARGIN),
        ("LmrFirstMove", LMR_FIRST_MOVE),
    ):
        bot._values[name] = "7"
        told = bot.new_search_state(position).maps[0].tolist()
        assert told == [*kept[:place], 7, *kept[place + 1 :]]
        bot._values[name] = "-1"
    assert bot.new_search_state(position).maps[0].tolist() == kept


def many_threads(position: Position) -> Champion:
    bot = Champion()
    bot._values["Threads"] = "3"
    bot.warm_up(position)
    return bot


def test_threads_search_together_until_one_is_told_to_stop() -> None:
    position, before = Position.start(load("loa").settle()), threading.enumerate()
    bot, clock, told = many_threads(position), Clock(Go(infinite=True), 0), []

    def told_of(**said: int) -> None:
        told.append(said["nodes"])
        if len(bot._running_helpers) == 2 and all(place.work[bot._search.NODES] > 0 for place in bot._running_helpers):
            clock.stop()

    bot.info = told_of  # type: ignore[method-assign, assignment]
    assert bot.choose(position, clock) in position.moves
    assert threading.enumerate() == before
    assert [int(place.work[bot._search.STOP]) for place in bot._helper_states] == [1, 1]
    assert told[-1] <= sum(
        int(search_state.work[bot._search.NODES]) for search_state in (bot._search_state, *bot._helper_states)
    )


def test_one_thread_searches_where_the_move_must_be_the_same_again() -> None:
    position = Position.start(load("abalone").settle())
    bot = many_threads(position)
    assert choose(bot, position, 500) == choose(Champion(), position, 500)
    assert [int(place.work[bot._search.NODES]) for place in bot._helper_states] == [0, 0]


def test_it_searches_alone_where_no_more_threads_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    position = Position.start(load("abalone").settle())
    bot, clock = many_threads(position), Clock(Go(infinite=True), 0)
    bot.info = lambda **said: clock.stop()  # type: ignore[method-assign]
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert bot.choose(position, clock) in position.moves


def test_an_entry_that_two_threads_wrote_half_of_each_is_not_believed() -> None:
    ruleset, s = load("abalone").settle(), search("alphabeta", "abalone")
    position = Position.start(ruleset)
    search_state = s.new_search_state(1 << 16, empty_net(ruleset.rules.features))
    search_state.work[s.GENERATION] = 1
    s.start_search(search_state, np.zeros(0, dtype=np.uint64), position.state, 0, position.moves[0])
    s.store(search_state, 0, 5, 0, position.moves[3], 77, -1000, 1000)
    assert s.probe(search_state, 0)[:2] == (position.moves[3], 77)
    whole = search_state.table.copy()
    s.store(search_state, 0, 6, 0, position.moves[4], 99, -1000, 1000)
    other, (row,) = search_state.table.copy(), np.flatnonzero(search_state.table[:, META])
    for column in range(4):
        search_state.table[row] = whole[row]
        search_state.table[row, column] = other[row, column]
        assert s.probe(search_state, 0)[2] == -1, column


@pytest.mark.parametrize(("technique", "is_found"), [(0, True), (RAZORING, False)])
def test_razoring_misses_a_win_of_who_stands_badly_at_the_leaves(technique: int, is_found: bool) -> None:
    ruleset, s = load("loa").settle(), search("alphabeta", "loa")
    position = Position.start(ruleset, "8/8/1b5w/2b3w1/1bwbw3/1bwwb3/3w1w1w/1bb2b2 w - 14")
    search_state = s.new_search_state(1 << 16, empty_net(ruleset.rules.features, (technique, 0, 0, 12)))
    s.start_search(search_state, np.zeros(0, dtype=np.uint64), position.state, 1, position.moves[0])
    search_state.work[s.GENERATION], search_state.work[s.NODE_LIMIT] = 1, 10_000
    for depth in range(1, 4):
        s.search_iteration(search_state, ruleset.config, depth)
    assert (int(search_state.work[s.SCORE]) == s.WIN - 3) == is_found


def settled(state: State, config: Config, alpha: int, beta: int, left: int) -> int:
    """What `settle` finds in Baroque chess, as a recursion."""
    s, evaluation = search("quiescence", "baroque"), search("evaluation", "baroque")
    kernel = load("baroque").kernel
    best = stand = int(evaluation.kernel_quiet_eval(state, config, kernel.PIECE_VALUES))
    if left == 0:
        return best
    moves, gains = np.zeros((2, kernel.MAX_MOVES), dtype=np.int64)
    count = s.kernel_captures(state, config, kernel.PIECE_VALUES, moves, gains)
    for gain, move in sorted(
        zip(gains[:count].tolist(), moves[:count].tolist(), strict=True), key=lambda x: (-x[0], x[1])
    ):
        if best >= beta or stand + gain + s.DELTA_MARGIN <= alpha:
            break
        after = np.empty_like(state)
        kernel.play(state, config, move, after)
        best = max(best, -settled(after, config, -beta, -max(alpha, best), left - 1))
    return best


def test_leaves_are_settled_by_what_takes_something() -> None:
    s, rng, taken = search("alphabeta", "baroque"), random.Random(3), 0
    quiet_eval = search("evaluation", "baroque").kernel_quiet_eval
    position = Position.start(load("baroque").settle())
    search_state, config = s.new_search_state(1 << 16, empty_net(None)), position.ruleset.config
    prices = load("baroque").kernel.PIECE_VALUES
    search_state.work[s.NODE_LIMIT] = 1_000_000
    while not position.outcome and len(position.moves) > 0 and taken < 12:
        search_state.states[3] = position.state
        for alpha, beta in ((-9_000, 9_000), (-50, 51)):
            wanted = settled(position.state, config, alpha, beta, search("quiescence", "baroque").MAX_QUIESCENCE_PLIES)
            assert s.quiescence(search_state, config, 3, alpha, beta) == wanted
            taken += wanted != quiet_eval(position.state, config, prices)
        position = position.play(rng.choice(position.moves))
    assert taken == 12


def test_settling_changes_nothing_in_a_family_that_does_not_tell_what_takes_something() -> None:
    ruleset, s, results = load("loa").settle(), search("alphabeta", "loa"), []
    position = Position.start(ruleset)
    for technique in (0, QUIESCENCE):
        search_state = s.new_search_state(1 << 16, empty_net(ruleset.rules.features, (technique, 0, 0, 12)))
        s.start_search(search_state, np.zeros(0, dtype=np.uint64), position.state, 0, position.moves[0])
        search_state.work[s.GENERATION], search_state.work[s.NODE_LIMIT] = 1, 20_000
        s.search_iteration(search_state, ruleset.config, 2)
        results.append(
            (int(search_state.work[s.BEST_MOVE]), int(search_state.work[s.SCORE]), int(search_state.work[s.NODES]))
        )
    assert results[0] == results[1]


def test_a_variant_with_weights_of_its_own_gets_them() -> None:
    rules = load("tablut")
    own, usual, other = (load_net(rules.settle(name)) for name in ("ashton", "bell", "linnaeus"))
    assert (usual.rows == other.rows).all()
    assert own.rows.shape == usual.rows.shape
    assert (own.rows != usual.rows).any()
    bot = Champion()
    for name, net in (("ashton", own), ("bell", usual)):
        choose(bot, Position.start(rules.settle(name)), 10)
        assert (bot._search_state.rows == net.rows).all()
