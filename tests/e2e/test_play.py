"""`arena play` and `arena check` as a user runs them: results, resuming after SIGKILL, bad input."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee import toml
from referee.game.openings import Opening
from referee.game.record import read_record
from referee.game.spec import BotSpec
from referee.tournament.document import read
from referee.tournament.ledger import Ledger
from referee.tournament.match import PlannedMatch
from tests import program
from tests.conftest import INTERPRETED

ROOT = Path(__file__).parents[2]
ARENA = [sys.executable, "-m", "arena"]
LONG = 30


def arena(*words: str, code: int = 0, more: Mapping[str, str] = INTERPRETED) -> subprocess.CompletedProcess[str]:
    """Run a command line to its end and check its exit code; `more` is added to the environment of what it starts."""
    done = program.arena(words, more)
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture(scope="module")
def c_bot(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The sample bot in C, built into a folder of its own."""
    if not shutil.which("gcc") or not shutil.which("make"):
        pytest.skip("no C compiler and make here")
    folder = tmp_path_factory.mktemp("c")
    shutil.copytree(ROOT / "bots" / "examples" / "loa", folder / "c", ignore=shutil.ignore_patterns("bin"))
    subprocess.run(["make", "-s", "-C", str(folder / "c")], check=True, capture_output=True)
    return str(folder / "c" / "bin" / "loa_bot")


def sums(result: dict[str, Any]) -> None:
    """Crosstable, standings and games agree."""
    points = {line["name"]: line["points"] for line in result["standings"]}
    assert {row["name"]: row["points"] for row in result["crosstable"]} == points
    assert sum(points.values()) == len(result["games"])


def bare(games: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Records without what may differ between two runs: times."""
    found = []
    for game in games:
        plies = [{key: ply[key] for key in ("score", "depth", "nodes", "book")} for ply in game["plies"]]
        times = {"started": "", "finished": "", "lag": None, "out_of_turn_ms": None}
        found.append({**game, **times, "plies": plies, "logs": {}})
    return found


def test_a_tournament_gives_games_standings_and_ratings(c_bot: str) -> None:
    words = ["--family", "loa", "--games", "4", "--tc", "nodes:50", "--json"]
    done = arena("play", f"one={c_bot}", f"two={c_bot}", *words, more={})
    result = json.loads(done.stdout)
    assert len(result["games"]) == 4
    sums(result)
    assert {game["first"] for game in result["games"]} == {"one", "two"}
    assert sum(result["terminations"].values()) == 4
    assert result["moves"] == sum(len(game["moves"]) for game in result["games"])
    for game in result["games"]:
        assert len(game["plies"]) == len(game["moves"])
        assert game["kind"] == "rules"


def test_node_limited_games_are_the_same_at_any_concurrency(c_bot: str) -> None:
    runs = []
    for concurrency in ("1", "2"):
        words = ["play", f"a={c_bot}", f"b={c_bot}", "g=sample:greedy", "--family", "loa", "--games", "2"]
        done = arena(*words, "--tc", "nodes:40", "--concurrency", concurrency, "--seed", "5", "--json")
        runs.append(bare(json.loads(done.stdout)["games"]))
    assert runs[0] == runs[1]


def test_a_killed_run_continues_with_every_game_once(c_bot: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    bots = [f"{name}{'-' * LONG}{name}={c_bot}" for name in "abc"]
    words = ["play", *bots, "--family", "loa", "--games", "20"]
    words += ["--tc", "nodes:3000", "--concurrency", "2", "--out", str(out), "--json"]
    environment = {**os.environ, **INTERPRETED}
    process = subprocess.Popen(
        [*ARENA, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, bufsize=0, env=environment
    )
    assert process.stderr
    # However late this reader is, the run waits for it after some forty lines of such long names.
    fcntl.fcntl(process.stderr, fcntl.F_SETPIPE_SZ, 4096)
    for line in process.stderr:
        if line.startswith(b"[7/60]"):
            os.kill(process.pid, signal.SIGKILL)
            break
    process.wait(timeout=300)
    process.stderr.close()
    kept = (out / "games.ndjson").read_text()
    before = kept.count("\n")
    assert 7 <= before < 60
    result = json.loads(arena(*words).stdout)
    assert [game["sequence"] for game in result["games"]] == list(range(1, 61))
    sums(result)
    after = (out / "games.ndjson").read_text()
    assert after.startswith(kept[: kept.rfind("\n") + 1])
    assert len({json.loads(line)["id"] for line in after.splitlines()}) == after.count("\n") == 60
    again = arena(*words)
    assert "60 of 60 games are there already" in again.stderr
    assert json.loads(again.stdout)["games"] == result["games"]
    other = arena(*[word if word != "nodes:3000" else "nodes:2" for word in words], code=2)
    assert "another time_control" in other.stderr
    assert (out / "games.ndjson").read_text() == after


def test_ctrl_c_finishes_the_running_games_and_keeps_them(c_bot: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ["play", f"a={c_bot}", f"b={c_bot}", "--family", "loa", "--games", "400", "--tc", "nodes:3000"]
    environment = {**os.environ, **INTERPRETED}
    process = subprocess.Popen([*ARENA, *words, "--out", str(out)], stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stderr
    for line in process.stderr:
        if line.startswith("[3/"):
            process.send_signal(signal.SIGINT)
            break
    tail = process.communicate(timeout=300)[1]
    assert process.returncode == 130
    assert "finishing the running games" in tail
    assert "games are left to play" in tail
    assert all(json.loads(line)["winner"] for line in (out / "games.ndjson").read_text().splitlines())


def test_a_bot_that_is_not_there_or_does_not_introduce_itself_stops_before_the_first_game(
    c_bot: str, tmp_path: Path
) -> None:
    done = arena("play", "ghost=./no-such-bot", f"c={c_bot}", "--family", "loa", "--json", code=3)
    assert "no such file: ./no-such-bot" in done.stderr
    out = ["--out", str(tmp_path / "run"), "--sandbox", "none"]
    done = arena("play", "mute=/bin/sh -c 'echo no book >&2'", f"c={c_bot}", "--family", "loa", *out, code=1)
    assert "bot 'mute' did not complete its handshake" in done.stderr
    assert "no book" in done.stderr
    assert not done.stdout
    assert not (tmp_path / "run" / "run.json").exists()


def test_a_bot_that_does_not_announce_the_rules_is_refused(c_bot: str) -> None:
    done = arena("play", c_bot, c_bot, "--family", "loa", "--variant", "zen", code=2)
    assert "announce" in done.stderr
    assert "Traceback" not in done.stderr
    assert not done.stdout


def test_a_folder_of_other_things_is_left_alone(c_bot: str, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    done = arena("play", c_bot, c_bot, "--family", "loa", "--out", str(tmp_path), code=2)
    assert "letter.txt" in done.stderr
    assert [item.name for item in tmp_path.iterdir() if item.name != "run.lock"] == ["letter.txt"]


def test_check_finds_the_c_bot_fit_and_says_what_it_can(c_bot: str) -> None:
    report = json.loads(arena("check", c_bot, "--family", "loa", "--json").stdout)
    assert report["fit"] is True
    assert all(step["passed"] for step in report["steps"])
    assert any("> ugi" in step["lines"] for step in report["steps"])
    assert report["capabilities"]["stop"] is True


def test_check_of_what_is_no_bot_fails_with_the_stage(c_bot: str) -> None:
    done = arena("check", "/bin/false", "--family", "loa", code=1)
    assert "start and handshake" in done.stdout
    assert "exit code 1" in done.stdout
    assert "no such file: ./no-such-bot" in arena("check", "./no-such-bot", "--family", "loa", code=3).stderr
    assert "chmod +x" in arena("check", str(ROOT / "README.md"), "--family", "loa", code=1).stdout


def test_a_bot_that_never_gets_ready_is_suspended(tmp_path: Path) -> None:
    scripted = ROOT / "tests" / "referee" / "scripted.py"
    once = tmp_path / "once.sh"
    once.write_text(
        f"#!/bin/sh\n[ -e {tmp_path}/met ] && exit 1\ntouch {tmp_path}/met\nexec {sys.executable} {scripted}\n"
    )
    once.chmod(0o755)
    words = ["play", f"mute={once}", f"fine={sys.executable} {scripted} resign", "--family", "loa", "--games", "12"]
    words += ["--sandbox", "none", "--suspend-after", "3", "--out", str(tmp_path / "run"), "--json"]
    done = arena(*words)
    lines = [line for line in done.stderr.splitlines() if "suspended" in line]
    assert lines == ["mute is suspended: it did not get ready 3 times in a row; it forfeits all its other games"]
    games = json.loads(done.stdout)["games"]
    assert [game["termination"] for game in games].count("suspended") >= 6
    assert {game["kind"] for game in games} == {"forfeit"}
    assert len(games) == 12
    (mute,) = [line for line in json.loads(done.stdout)["standings"] if line["name"] == "mute"]
    assert (mute["points"], mute["forfeits"]) == (0, 12)
    assert "12 games verified, 0 wrong" in arena("replay", str(tmp_path / "run" / "games.ndjson"), "--verify").stdout


RANKED = ROOT / "tests" / "referee" / "ranked.py"


def ranked(count: int) -> list[str]:
    """Bots by strength: each resigns after so many moves of its own, the later the stronger."""
    return [f"bot{number}={sys.executable} -S -E {RANKED} {count - number}" for number in range(count)]


RACE = """\
name = "cup"
family = "loa"
format = "race"
openings = "none"
time_control = "nodes:1"
rated = false
[entries]
bots = {}
[race]
top = 2
confidence = 0.6
games = 400
"""
"""A tournament whose rounds are not known beforehand."""


def test_a_killed_tournament_continues_with_the_same_plan(tmp_path: Path) -> None:
    """Its standings are those of the ranking function for the same games: a server computes the same."""
    file, out = tmp_path / "cup.toml", tmp_path / "run"
    bots = ranked(4)
    file.write_text(RACE.format(json.dumps(bots)))
    words = ["play", "--config", str(file), "--sandbox", "none", "--concurrency", "2", "--out", str(out), "--json"]
    process = subprocess.Popen(
        [*ARENA, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, **INTERPRETED}
    )
    assert process.stderr
    for line in process.stderr:
        if line.startswith(b"[7/"):
            process.kill()
            break
    process.wait(timeout=300)
    process.stderr.close()
    planned, kept = (out / "planned.ndjson").read_text(), (out / "games.ndjson").read_text()
    assert kept.count("\n") >= 7
    result = json.loads(arena(*words).stdout)
    assert (out / "planned.ndjson").read_text().startswith(planned[: planned.rfind("\n") + 1])
    assert (out / "games.ndjson").read_text().startswith(kept[: kept.rfind("\n") + 1])
    steps = [json.loads(line) for line in (out / "planned.ndjson").read_text().splitlines()]
    ids = [game for step in steps for game in step["games"]]
    assert len(ids) == len(set(ids))
    by_id = {game["id"]: game for game in result["games"]}
    assert set(by_id) <= set(ids)
    assert [by_id[game]["sequence"] for game in ids if game in by_id] == [game["sequence"] for game in result["games"]]
    assert {game["event"] for game in result["games"]} == {"cup"}

    document = read(toml.read(file.read_text()) | {"entries": {"bots": [bot.partition("=")[0] for bot in bots]}})
    ledger = Ledger(document, [BotSpec(name, ("./bot",)) for name in document.entries.bots], (Opening("standard"),))
    for step in steps:
        ledger.plan([PlannedMatch(*match) for match in step["matches"]])
    by_sequence = {game.spec.sequence: game.id for game in ledger.games}
    records = [read_record(line) for line in (out / "games.ndjson").read_text().splitlines()]
    for record in records:
        ledger.add(replace(record, id=by_sequence[record.sequence]))
    ledger.call_off()
    lines = ledger.table().lines
    assert [
        (line["rank"], line["name"], line["points"], line["byes"], line["round"]) for line in result["standings"]
    ] == [(line.rank, line.name, line.points, line.byes, line.round) for line in lines]
    assert ledger.next_step().is_finished
    assert lines[0].name == "bot0"
    assert set(result["race"]["leaders"]) == {"bot0", "bot1"}
    again = arena(*words)
    assert json.loads(again.stdout)["games"] == result["games"]
    assert f"{len(result['games'])} of" in again.stderr
