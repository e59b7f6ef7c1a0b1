"""Checks of uploads in the background, and their repetition once the machine is calm."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from arena.coordinator import checks
from arena.coordinator.checks import SubmissionChecks
from arena.metrics import CoordinatorMetrics
from tests.arena.coordinator.stage import Stage, on_sqlite

BUSY = {"fit_from_ms": 5600, "load": "load 66.0 on 2 cores"}


def background(stage: Stage, measure: Callable[[int], object]) -> SubmissionChecks:
    metrics = CoordinatorMetrics()
    return SubmissionChecks(
        stage.store, stage.bus, lambda number: None, measure=measure, ladder_time_control="", metrics=metrics
    )


@on_sqlite
def test_work_measures_again_when_the_machine_is_calm(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    number, measured = stage.bot("busy", capabilities={"loa": BUSY}), list[int]()
    work = background(stage, measured.append).work
    monkeypatch.setattr(checks, "is_calm", lambda: False)
    work(threading.Event())
    assert measured == []
    monkeypatch.setattr(checks, "is_calm", lambda: True)
    work(threading.Event())
    work(threading.Event())  # not again before the interval is over
    assert measured == [number]


@on_sqlite
def test_work_stops_measuring_when_the_machine_gets_busy(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.bot("first", capabilities={"loa": BUSY})
    latest, measured = stage.bot("latest", capabilities={"loa": BUSY}), list[int]()
    calm = iter([True, True, False])
    monkeypatch.setattr(checks, "is_calm", lambda: next(calm))
    background(stage, measured.append).work(threading.Event())
    assert measured == [latest]


@on_sqlite
def test_work_checks_an_upload_before_it_measures_another_version_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = stage.bot("first", capabilities={"loa": BUSY})
    latest, done = stage.bot("latest", capabilities={"loa": BUSY}), list[tuple[str, int]]()
    monkeypatch.setattr(checks, "is_calm", lambda: True)

    def measure(number: int) -> None:
        done.append(("measured", number))
        if number == latest:
            stage.bot("new", state="uploaded")

    background = SubmissionChecks(
        stage.store,
        stage.bus,
        lambda number: done.append(("checked", number)),
        measure=measure,
        ladder_time_control="",
        metrics=CoordinatorMetrics(),
    )
    background.work(threading.Event())
    assert done == [("measured", latest), ("checked", latest + 1), ("measured", first)]


@pytest.mark.parametrize(("load", "is_calm"), [(0.5, True), (4000.0, False)])
def test_is_calm_compares_the_load_with_the_cores(load: float, is_calm: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks.os, "getloadavg", lambda: (load, 0.0, 0.0))
    assert checks.is_calm() is is_calm
