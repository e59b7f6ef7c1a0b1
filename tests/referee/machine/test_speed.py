"""How fast a process is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import pytest

from referee.game.record import read_record
from referee.game.record_text import read_texts, write_text
from referee.game.spec import GameSpec, PlannedGame, TimeControl, spec_from_json
from referee.game.unplayed import record_of
from referee.machine import speed
from referee.machine.speed import REFERENCE, scaled
from referee.rules import families, load
from referee.rules.core import Termination
from tests.referee.conftest import scripted

PLANNED = PlannedGame.of(
    GameSpec("loa", "standard", scripted("one"), scripted("two"), time=TimeControl(), scale_clocks=True)
)


@pytest.fixture
def has_speed(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Makes this process one that counts so many times the leaves of the reference."""
    return lambda factor: monkeypatch.setattr(speed, "measure", lambda: REFERENCE * factor)


@pytest.fixture(autouse=True)
def _unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "_here", speed._Measured())


def test_leaves_are_counted_until_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter((10.0, 10.1, 10.2, 10.5))
    monkeypatch.setattr(speed, "DEPTH", 1)
    monkeypatch.setattr(speed, "time", SimpleNamespace(perf_counter=lambda: next(times), monotonic=lambda: 0.0))
    ruleset = load(families()[0]).settle()
    moves = ruleset.rules.kernel.count(ruleset.read(), ruleset.config)
    leaves = speed.measure()
    assert leaves == pytest.approx(2 * moves / 0.5), "twice within the time"
    assert speed.lately() == leaves, "and not once more"


def test_who_was_measured_lately_is_not_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    at = [1000.0]
    monkeypatch.setattr(speed, "time", SimpleNamespace(monotonic=lambda: at[0]))
    monkeypatch.setattr(speed, "measure", lambda: 7.0)
    monkeypatch.setattr(speed, "_here", speed._Measured(5.0, 1001.0))
    assert speed.lately() == 5.0
    at[0] = 1001.0
    assert speed.lately() == 7.0


@pytest.mark.parametrize(
    ("factor", "scale", "time"),
    [
        (1.0, 1.0, "10+0.1"),
        (0.8, 1.25, "12.5+0.125"),
        (1.25, 0.8, "8+0.08"),
        (100, 0.5, "5+0.05"),
        (0.0, 4.0, "40+0.4"),
    ],
)
def test_clocks_are_as_much_longer_as_the_machine_is_slower(
    has_speed: Callable[[float], None], factor: float, scale: float, time: str
) -> None:
    has_speed(factor)
    found = scaled(PLANNED)
    assert found.id == PLANNED.id
    assert (found.spec.clock_scale, found.spec.time_text) == (scale, time)


def test_the_record_tells_how_much_longer_clocks_were(has_speed: Callable[[float], None]) -> None:
    has_speed(0.5)
    spec = scaled(PLANNED).spec
    record = record_of(PLANNED.id, spec, "first", Termination.STALLED, "", started="2026-01-01T00:00:00Z")
    assert (record.time, record.clock_scale) == ("20+0.2", 2.0)
    assert read_record(record.line()).clock_scale == 2.0
    (again,) = read_texts(write_text(record))
    assert again.clock_scale == 2.0
    assert "clock_scale" not in replace(record, clock_scale=1.0).as_json()


def test_bots_with_times_of_their_own_have_them_scaled_too(has_speed: Callable[[float], None]) -> None:
    has_speed(0.5)
    spec = replace(PLANNED.spec, second=replace(PLANNED.spec.second, time=TimeControl("nodes", 0, 0, 500)))
    odds = replace(PLANNED.spec, first=replace(PLANNED.spec.first, time=TimeControl("movetime", 1000, 0)))
    assert scaled(replace(PLANNED, spec=spec)).spec.time_text == "20+0.2 v nodes:500"
    assert scaled(replace(PLANNED, spec=odds)).spec.time_text == "2/move v 20+0.2"


def test_clocks_stay_where_nobody_asked_or_a_bot_thinks_elsewhere(has_speed: Callable[[float], None]) -> None:
    has_speed(0.5)
    plain = replace(PLANNED, spec=replace(PLANNED.spec, scale_clocks=False))
    remote = replace(PLANNED, spec=replace(PLANNED.spec, second=replace(PLANNED.spec.second, place="remote")))
    assert scaled(plain) is plain
    assert scaled(remote) is remote


def test_a_spec_says_of_clocks_only_what_is_not_as_usual() -> None:
    assert not {"scale_clocks", "clock_scale"} & set(replace(PLANNED.spec, scale_clocks=False).as_json())
    assert "clock_scale" not in PLANNED.spec.as_json()
    assert spec_from_json(PLANNED.spec.as_json()) == PLANNED.spec
