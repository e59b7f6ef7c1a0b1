"""Tuning: a planted detuning is found again, in any order of results and after any interruption."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arena.features.laboratory.parameter import LaboratoryError, Parameter, read_parameters
from arena.features.laboratory.tuning import PAIRS, WINDOW, PairFile, Spsa, Trial, Tuner, points_of
from protocol.options import OptionDecl
from referee.game.record import GameRecord
from referee.machine.pool import WorkerLostError
from referee.rules.core import Termination, Winner

BEST = (65, 900, -12, 40)
PARAMETERS = (
    Parameter("Mobility", 0, 100, 35, 8),
    Parameter("Centre", 0, 2000, 300, 150),
    Parameter("Edge", -40, 40, 8, 5),
    Parameter("Tempo", 0, 100, 70, 8),
)
LOSS = 100.0
"""In Elo, of the values to begin with."""


def elo(values: Any) -> float:
    """How strong a toy is whose values are those: 0 at its best, `LOSS` less at the beginning."""
    pairs = zip(values, BEST, PARAMETERS, strict=True)
    return -sum(LOSS / len(BEST) * ((value - best) / (one.start - best)) ** 2 for value, best, one in pairs)


def played(trial: Trial) -> float:
    """The points of the first in two games of toys, a fifth of them drawn."""
    rng = random.Random(str(trial))
    chance = 1 / (1 + 10 ** (-(elo(trial.plus) - elo(trial.minus)) / 400))
    lots = [rng.random() for _ in range(2)]
    return sum(1.0 if lot < chance - 0.1 else 0.5 if lot < chance + 0.1 else 0.0 for lot in lots)


def finished(spsa: Spsa) -> Spsa:
    """A run played to its end, one trial after the other."""
    while trial := spsa.ask():
        spsa.tell(trial.number, played(trial))
    return spsa


def test_a_detuning_of_a_hundred_elo_is_found_in_twenty_thousand_games() -> None:
    assert elo([one.start for one in PARAMETERS]) == pytest.approx(-LOSS)
    spsa = finished(Spsa(PARAMETERS, 10_000, seed=1))
    assert spsa.is_done
    assert sum(spsa.pentanomial) == 10_000
    assert elo(spsa.values) > -0.2 * LOSS


def test_the_order_of_results_changes_nothing() -> None:
    usual = finished(Spsa(PARAMETERS, 200, seed=3))
    other, rng, waiting = Spsa(PARAMETERS, 200, seed=3), random.Random(5), []
    while not other.is_done:
        while trial := other.ask():
            waiting.append(trial)
        assert len(waiting) <= WINDOW
        trial = waiting.pop(rng.randrange(len(waiting)))
        other.tell(trial.number, played(trial))
    assert np.array_equal(other.trajectory, usual.trajectory)
    assert other.pentanomial == usual.pentanomial


def test_values_stay_within_their_bounds_and_steps_have_their_size() -> None:
    narrow = (Parameter("Tempo", 0, 3, 3, 1),)
    spsa = Spsa(narrow, 60, seed=1)
    while trial := spsa.ask():
        assert 0 <= min(trial.plus + trial.minus) <= max(trial.plus + trial.minus) <= 3
        spsa.tell(trial.number, 2.0)
    far = Spsa(PARAMETERS, 1, seed=1).ask()
    assert far is not None
    assert [abs(plus - minus) for plus, minus in zip(far.plus, far.minus, strict=True)] == [16, 300, 10, 16]


def test_a_win_draws_the_values_near_and_a_loss_away() -> None:
    for points in (2.0, 0.0):
        spsa = Spsa(PARAMETERS, 10, seed=1)
        trial = spsa.ask()
        assert trial is not None
        spsa.tell(trial.number, points)
        moved = spsa.trajectory[1] - spsa.trajectory[0]
        towards = np.array(trial.plus) - np.array(trial.minus)
        assert (np.sign(moved) == np.sign(towards) * (1 if points else -1)).all()
    spsa = Spsa(PARAMETERS, 10, seed=1)
    spsa.ask()
    spsa.tell(0, None)
    assert (spsa.trajectory[1] == spsa.trajectory[0]).all()
    with pytest.raises(ValueError, match="already recorded"):
        spsa.tell(0, 1)


class Slots(Executor):
    """Plays at once: `lost` says which jobs lose their slot; after `kill_at` jobs the whole program is gone."""

    def __init__(self, kill_at: int = -1, lost: tuple[int, ...] = ()) -> None:
        self.jobs, self._kill_at, self._lost = 0, kill_at, lost

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """One trial: its records."""
        if self.jobs == self._kill_at:
            raise KeyboardInterrupt
        future: Future[Any] = Future()
        if self.jobs in self._lost:
            future.set_exception(WorkerLostError("gone"))
        else:
            future.set_result(args[0])
        self.jobs += 1
        return future


def a_record(winner: Winner | None, termination: Termination = Termination.REPETITION) -> GameRecord:
    """A game somebody won, or none did."""
    return GameRecord(
        "id", "loa", "standard", {}, "", "plus", "minus", winner, termination, termination.kind, (), (), "", ""
    )


WINNERS: dict[float, tuple[Winner, Winner]] = {
    0.0: ("second", "first"),
    0.5: ("draw", "first"),
    1.0: ("draw", "draw"),
    1.5: ("first", "draw"),
    2.0: ("first", "second"),
}


def records_of(trial: Trial) -> list[Any]:
    """Two records with the points of `played`."""
    points = played(trial)
    found = [a_record(winner) for winner in WINNERS[points]]
    assert points_of(found) == points
    return found


def tuned(folder: Path, slots: Slots, at_once: int = 3) -> Spsa:
    """A run of 60 trials in a folder, begun or continued."""
    spsa = Spsa(PARAMETERS, 60, seed=9)
    with PairFile(folder / PAIRS) as file:
        file.read(spsa)
        Tuner(spsa, file, records_of).run(slots, lambda: at_once)
    return spsa


def test_a_run_that_was_killed_goes_on_to_the_same_values(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    usual = tuned(whole, Slots(lost=(4,)))
    with pytest.raises(KeyboardInterrupt):
        tuned(killed, Slots(kill_at=25), at_once=7)
    torn = (killed / PAIRS).read_bytes() + b'{"pair":31,"poi'
    (killed / PAIRS).write_bytes(torn)
    rest = Slots()
    again = tuned(killed, rest, at_once=1)
    assert np.array_equal(again.trajectory, usual.trajectory)
    numbers = [json.loads(line)["pair"] for line in (killed / PAIRS).read_text().splitlines()]
    assert sorted(numbers) == list(range(60))
    assert rest.jobs < 60


def test_a_void_game_leaves_a_pair_without_points() -> None:
    void = a_record(None, Termination.WORKER_LOST)
    assert points_of([a_record("first"), void]) is None
    assert points_of([a_record("first")]) is None


def test_a_line_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / PAIRS).write_text('{"pair":0,"points":1}\n' * 2)
    with pytest.raises(LaboratoryError, match=r"line 2: trial 0 .* already recorded"):
        tuned(tmp_path, Slots())


ANNOUNCED = {
    "Hash": OptionDecl("Hash", "spin", "16", 1, 4096),
    "Contempt": OptionDecl("Contempt", "spin", "150", 0, 10_000),
    "Book": OptionDecl("Book", "string", ""),
}


def test_what_is_not_said_of_a_parameter_is_what_the_bot_announced() -> None:
    assert read_parameters(["Contempt"], None, ANNOUNCED) == [Parameter("Contempt", 0, 10_000, 150, 500)]
    assert read_parameters(["Contempt:0:400:100:25"], None, ANNOUNCED) == [Parameter("Contempt", 0, 400, 100, 25)]
    file = "[Contempt]\nmax = 1000\n[Hash]\nmin = 8\nstep = 2\n"
    assert read_parameters([], file, ANNOUNCED) == [
        Parameter("Contempt", 0, 1000, 150, 50),
        Parameter("Hash", 8, 4096, 16, 2),
    ]


@pytest.mark.parametrize(
    ("texts", "file", "words"),
    [
        ([], None, "--parameter NAME; the bot has Contempt, Hash"),
        (["Book"], None, "no spin option 'Book'"),
        (["Hash:1:2:3:4:5"], None, "NAME:MIN:MAX:START:STEP"),
        (["Hash:a"], None, "NAME:MIN:MAX:START:STEP"),
        (["Hash:0:10"], None, "the option takes 1 to 4096"),
        (["Hash:10:20:30"], None, "must lie within the bounds"),
        (["Hash:10:20:15:0"], None, "must lie within the bounds"),
        (["Hash", "Hash"], None, "given twice"),
        ([], "Hash = 3", "write a table"),
        ([], "[Hash]\nmin = true", "expected numbers"),
        ([], "[Hash", "invalid TOML"),
        ([], "[Hash]\nmean = 1", "write a table"),
    ],
)
def test_parameters_that_cannot_be_are_refused(texts: list[str], file: str | None, words: str) -> None:
    with pytest.raises(LaboratoryError, match=words):
        read_parameters(texts, file, ANNOUNCED)
