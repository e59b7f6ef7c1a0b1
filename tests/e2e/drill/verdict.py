"""What must hold after the drill, whatever happened in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.e2e.drill.stage import Stage

_SLACK_S = 2.0
"""Records round their times."""


@dataclass(frozen=True)
class Check:
    """One thing that must hold."""

    name: str
    problems: tuple[str, ...]
    detail: str = ""

    @property
    def has_passed(self) -> bool:
        return not self.problems


@dataclass(frozen=True)
class Shot:
    """A bot killed from outside, at some time from `began` to `ended`."""

    began: float
    ended: float


def seconds_of(text: str) -> float:
    """A record's time as seconds since the epoch."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def judge(stage: Stage, planned: set[str], shots: Sequence[Shot]) -> list[Check]:
    """All checks but those of processes. `planned` are the games known before the first fault."""
    tables = {number: stage.contest.export(number) for number in stage.contest.numbers}
    records = [record for table in tables.values() for record in table]
    return [
        _once(stage, planned, records),
        _faultless(records, shots),
        _ratings(stage),
        _verified(stage, len(records)),
        _tables(stage, tables),
    ]


def _once(stage: Stage, planned: set[str], records: list[dict[str, Any]]) -> Check:
    """Every game that was planned has one result, and no other game has one."""
    problems = []
    times = Counter(record["id"] for record in records)
    problems += [f"{game} has {count} results" for game, count in times.items() if count > 1]
    problems += [f"{game} has no result" for game in sorted(planned - times.keys())]
    problems += [f"{game} was never planned" for game in sorted(times.keys() - planned)]
    problems += [f"{record['id']} is void" for record in records if record["kind"] == "void"]
    lines = stage.games()
    if len(planned) != stage.contest.games:
        problems.append(f"{len(planned)} games were planned instead of {stage.contest.games}")
    problems += [f"{line.id} is {line.state}" for line in lines if line.state != "finished"]
    commits = {line.commit_number for line in lines}
    undone = stage.store.results.undone()  # results of a lying worker; their numbers are not used again
    if len(commits) != len(lines) or max(commit or 0 for commit in commits) != len(lines) + undone:
        problems.append(f"the commit numbers are not those of {len(lines)} results and {undone} that were undone")
    return Check("every planned game has exactly one result", tuple(problems), f"{len(records)} games")


def _faultless(records: list[dict[str, Any]], shots: Sequence[Shot]) -> Check:
    """No bot lost for a fault of ours: only the games in which a bot was killed from outside may be forfeits."""
    problems, hits = [], 0
    left = list(shots)
    for record in records:
        if record["kind"] != "forfeit":
            continue
        began, ended = seconds_of(record["started"]), seconds_of(record["finished"])
        shot = next((shot for shot in left if began - _SLACK_S <= shot.ended and shot.began <= ended + _SLACK_S), None)
        if shot is not None and record["termination"] in ("crashed", "protocol-error", "handshake-failed"):
            left.remove(shot)
            hits += 1
        else:
            problems.append(f"{record['id']} {record['termination']}: {record['detail']}")
    detail = f"{hits} games lost by {len(shots)} bots killed from outside"
    return Check("no fault of ours was charged to a bot", tuple(problems), detail)


def _ratings(stage: Stage) -> Check:
    found = stage.arena("ratings", "rebuild", "--check")
    return Check("ratings rebuild equal", tuple(found["problems"]), f"{found['games']} rated games")


def _verified(stage: Stage, count: int) -> Check:
    found = stage.arena("verify", "--all")
    problems = [f"{failure['game']}: {failure['problem']}" for failure in found["failures"]]
    if found["checked"] != count:
        problems.append(f"{found['checked']} games verified instead of {count}")
    return Check("every record is right by the rules", tuple(problems), f"{found['checked']} games")


def _tables(stage: Stage, tables: Mapping[int, list[dict[str, Any]]]) -> Check:
    """Standings, crosstables and games say the same, and so do the leaderboard and all games together."""
    problems, games = [], Counter[str]()
    for number, records in tables.items():
        problems += _table(stage, number, records)
        games.update(name for record in records for name in (record["first"], record["second"]))
    for line in stage.store.ratings.leaderboard("loa").items:
        if line.games != games[line.name]:
            problems.append(f"leaderboard of {line.name}: {line.games} games instead of {games[line.name]}")
    return Check("crosstable, standings, leaderboard and games agree", tuple(problems))


def _table(stage: Stage, number: int, records: list[dict[str, Any]]) -> list[str]:
    points: Counter[str] = Counter()
    games: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for record in records:
        first, second = record["first"], record["second"]
        gained = {"first": 1.0, "second": 0.0}.get(record["winner"], 0.5)
        for name, rival, share in ((first, second, gained), (second, first, 1 - gained)):
            points[name] += share  # type: ignore[assignment]
            games[name] += 1
            pairs[name, rival] += share  # type: ignore[assignment]
    problems = []
    shown = stage.contest.show(number)
    for line in shown["standings"]:
        if (line["points"], line["games"]) != (points[line["name"]], games[line["name"]]):
            problems.append(f"standings of {line['name']}: {line['points']} of {line['games']}, games say otherwise")
    table = stage.contest.crosstable(number)
    names = [row["name"] for row in table]
    for row in table:
        for rival, cell in zip(names, row["cells"], strict=True):
            if cell is not None and cell["points"] != pairs[row["name"], rival]:
                problems.append(f"crosstable {row['name']} against {rival}: {cell['points']}, games say otherwise")
    if shown["state"] != "finished" or shown["finished_games"] != len(records):
        problems.append(f"the tournament is {shown['state']} with {shown['finished_games']} finished games")
    return problems
