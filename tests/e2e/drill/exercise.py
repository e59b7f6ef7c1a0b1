"""One drill of one topology: set up, play under fire, stop, judge.

The faults are spread over the tournament by its progress, so that all of them hit it however fast the machine is.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence

from arena.documents.query import PageQuery
from tests.e2e.drill import fault as faults
from tests.e2e.drill import verdict
from tests.e2e.drill.contest import DrillError
from tests.e2e.drill.machine import Timeout, strays
from tests.e2e.drill.report import Hit, Report
from tests.e2e.drill.stage import Stage
from tests.e2e.drill.verdict import Check

IDLE_S = 180.0
"""How long the tournament may stand still before the drill gives up."""
_POLL_INTERVAL_S = 0.25
_STRAY_S = 15.0


def tell(line: str) -> None:
    """Say what happens, on standard error."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def drill(
    stage: Stage, *, games: int, count: int, seed: int, pause_ms: int, time_control: str, only: Sequence[str] = ()
) -> Report:
    """Play at least so many games under so many faults. Raises DrillError when the drill itself cannot go on."""
    began = time.monotonic()
    with stage:
        contest = stage.contest
        contest.time_control = time_control
        contest.submit(pause_ms)
        contest.create(games, seed)
        report = Report(stage.name, seed, contest.games)
        drawn = faults.draw(stage, count, seed, only)
        tell(f"{stage.name}: up after {time.monotonic() - began:.0f} s, {contest.games} games, {len(drawn)} faults")
        planned = _planned(stage)
        for number, fault in enumerate(drawn):
            # Some games after the fault before, so that its recovery is seen.
            due = max(games * (number + 0.5) / (len(drawn) + 1), _finished(stage) + 2)
            _await(stage, lambda due=due: _finished(stage) >= min(due, contest.games), "the tournament stands still")
            if _open(stage) < faults.games_for(fault):
                report.remarks.append(f"few games were left at fault {number + 1}: another tournament followed")
                contest.create(max(games // 4, faults.games_for(fault)), seed)
                planned |= _planned(stage)
                report.games = contest.games
            report.hits.append(_hit(stage, fault, seed))
        _await(stage, lambda: not _open(stage), "the tournament does not end")
        _await(stage, stage.is_finished, "the tournament is not declared finished")
        _await(stage, stage.is_ready, "the pages do not come back")
        _time(stage, report)
        for line in stage.store.voids.page(PageQuery(limit=500)).items:
            report.voids[line.termination] = report.voids.get(line.termination, 0) + 1
        shots = [
            verdict.Shot(hit.began, hit.ended)
            for hit in report.hits
            if hit.fault.kind.startswith("kill a bot") and hit.note.startswith("SIGKILL")
        ]
        report.checks += verdict.judge(stage, planned, shots)
        report.checks.append(_gone(stage, report))
        report.remarks += stage.remarks
    report.seconds = time.monotonic() - began
    return report


def _hit(stage: Stage, fault: faults.Fault, seed: int) -> Hit:
    time.sleep(random.Random(f"{seed} {fault.number} delay").uniform(0.5, 1.5))  # nothing is at rest when it is hit
    hit = Hit(fault, time.time(), 0.0, "")
    try:
        hit.note = faults.commit(stage, fault, seed)
    except (AssertionError, TimeoutError) as error:
        hit.problem = str(error)
    hit.ended = time.time()
    tell(f"{_finished(stage):4} games  {fault.number:2} {fault.label}: {hit.note} {hit.problem}")
    return hit


def _time(stage: Stage, report: Report) -> None:
    """How long after each fault the next game began that came to a result."""
    records = [record for number in stage.contest.numbers for record in stage.contest.export(number)]
    starts = sorted(verdict.seconds_of(record["started"]) for record in records)
    for hit in report.hits:
        after = next((start for start in starts if start >= hit.ended), None)
        hit.recovery_s = None if after is None else after - hit.ended


def _gone(stage: Stage, report: Report) -> Check:
    """Stop everything: no service ended by itself before, all end in good order now, and nothing is left."""
    services = dict(stage.supervisor.services)
    known = {service.pid for service in services.values()} | stage.own_pids()
    problems = [f"left behind while it ran: {line}" for line in strays(known, _STRAY_S)]
    ends = [surprise for service in services.values() for surprise in service.surprises]
    report.remarks += [f"not ordered: {surprise}" for surprise in ends]
    for name in services:
        count = Counter(line for line in stage.log(name).splitlines() if line.startswith("Traceback"))
        if count:
            report.remarks.append(f"{count.total()} tracebacks in the log of {name}")
    problems += stage.supervisor.stop()
    problems += [problem for hit in report.hits if (problem := hit.problem and f"{hit.fault.label}: {hit.problem}")]
    stage.shut()
    problems += [f"left behind at the end: {line}" for line in strays(set(), _STRAY_S)]
    return Check("everything stopped, no process is left", tuple(problems), f"{len(services)} services")


def _await(stage: Stage, is_done: Callable[[], bool], complaint: str) -> None:
    """Wait while the tournament makes progress. Raises DrillError."""
    best, timeout = -1, Timeout(IDLE_S)
    while not is_done():
        if (finished := _finished(stage)) > best:
            best, timeout = finished, Timeout(IDLE_S)
        if timeout.is_over():
            raise DrillError(f"{complaint}: {stage.counts()}; see {stage.folder / 'logs'}")
        time.sleep(_POLL_INTERVAL_S)


def _finished(stage: Stage) -> int:
    counts = stage.counts()
    return counts.get("finished", 0) + counts.get("void", 0)


def _open(stage: Stage) -> int:
    return sum(stage.counts().get(state, 0) for state in ("planned", "queued", "running"))


def _planned(stage: Stage) -> set[str]:
    """The games, once all of them are planned."""
    _await(stage, lambda: _open(stage) + _finished(stage) >= stage.contest.games, "the games are not planned")
    return {line.id for line in stage.games()}
