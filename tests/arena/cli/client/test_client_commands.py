"""The client commands against a running server: what they print, and how they end."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import tarfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from arena.cli.client.bot import bundle_of
from arena.cli.source import remote
from arena.cli.terminal.exit import Exit
from arena.cli.terminal.run import run
from arena.client import keyring
from referee.game.record import read_record
from referee.game.record_text import read_texts
from tests.arena.api.filled import Arena
from tests.arena.field import reading_imports

LATER = f"{datetime.now(UTC) + timedelta(days=30):%Y-%m-%dT20:00:00Z}"
"""Whenever this is run: not due yet."""


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arena: Arena) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("ARENA_SERVER", arena.server.url)
    monkeypatch.delenv("ARENA_TOKEN", raising=False)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*words: str, code: Exit = Exit.DONE, is_json: bool = False) -> Any:
        capsys.readouterr()
        ended = run(list(words))
        out, err = capsys.readouterr()
        assert ended == code, (out, err)
        if code:
            assert err.startswith("error: ")
            assert "Traceback" not in err
            return err
        return json.loads(out) if is_json else out

    return call


def test_lists_and_documents(arena: Arena, cli: Any) -> None:
    assert {item["name"] for item in cli("bot", "list", "--json", is_json=True)["items"]} >= {"greedy", "random"}
    assert len(cli("bot", "list", "-o", "ndjson", "--limit", "2").splitlines()) == 2
    assert "greedy" in cli("bot", "list", "--family", "loa")
    assert cli("bot", "show", "greedy", "--json", is_json=True)["owner"] == "arena"
    assert "greedy v1" in cli("bot", "show", "greedy")
    assert cli("bot", "show", "greedy", "--version", "1", "--json", is_json=True)["state"] == "active"
    assert cli("tournament", "list", "--state", "finished", "--json", is_json=True)["items"][0]["name"] == "Finished"
    shown = cli("tournament", "show", str(arena.finished), "--json", is_json=True)
    assert (shown["state"], len(shown["standings"])) == ("finished", 3)
    assert "12 of 12 games" in cli("tournament", "show", str(arena.finished))
    board = cli("leaderboard", "loa", "--json", is_json=True)
    assert [line["place"] for line in board["items"]] == [1, 2, 3]
    assert "provisional" in cli("leaderboard", "loa")
    assert len(cli("leaderboard", "loa", "-o", "ndjson").splitlines()) == 3
    assert cli("leaderboard", "tablut") == ""


def test_games(arena: Arena, cli: Any, tmp_path: Path) -> None:
    game = arena.games[0]
    assert cli("game", "show", game, "--json", is_json=True)["id"] == game
    assert game in cli("game", "show", game)
    events = [json.loads(line) for line in cli("game", "watch", game, "-o", "ndjson").splitlines()]
    assert [event["event"] for event in events] == ["state", "final"]
    assert "a1a6" in cli("game", "watch", game)
    assert read_record(cli("game", "download", game)).id == game
    target = tmp_path / "game.txt"
    cli("game", "download", game, "-o", "text", "--output-file", str(target))
    assert [record.id for record in read_texts(target.read_text())] == [game]
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["game.txt"]


def test_watching_and_exporting_a_tournament(arena: Arena, cli: Any) -> None:
    number = str(arena.finished)
    assert cli("tournament", "watch", number, "--json", is_json=True)["event"] == "final"
    assert "3  " in cli("tournament", "watch", number)
    lines = cli("tournament", "export", number).splitlines()
    assert [read_record(line).family for line in lines] == ["loa"] * 12
    assert len(list(read_texts(cli("tournament", "export", number, "-o", "text")))) == 12


def table_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_tables_and_games_come_as_csv(arena: Arena, cli: Any, tmp_path: Path) -> None:
    number = str(arena.finished)
    board = cli("leaderboard", "loa", "--json", is_json=True)["items"]
    lines = table_of(cli("leaderboard", "loa", "--output", "csv"))
    assert [line["name"] for line in lines] == [line["name"] for line in board]
    assert float(lines[0]["mu"]) == board[0]["mu"]
    standings = table_of(cli("tournament", "show", number, "-o", "csv"))
    assert [line["rank"] for line in standings] == ["1", "2", "3"]
    assert sum(int(line["games"]) for line in standings) == 24
    assert "greedy" in {line["name"] for line in table_of(cli("bot", "list", "-o", "csv"))}
    games = table_of(cli("tournament", "export", number, "-o", "csv"))
    records = [json.loads(line) for line in cli("tournament", "export", number, "--output", "ndjson").splitlines()]
    assert [(line["id"], line["plies"]) for line in games] == [
        (record["id"], str(len(record["moves"]))) for record in records
    ]
    assert "moves" not in games[0]
    target = tmp_path / "games.csv"
    cli("game", "export", "--family", "loa", "-o", "csv", "--output-file", str(target))
    assert len(table_of(target.read_text())) >= 12
    none = cli("game", "export", "--family", "tablut", "-o", "csv")
    assert none.startswith("id,event,"), "no game is a table with its head alone"


def test_the_forms_have_short_forms(arena: Arena, cli: Any) -> None:
    assert cli("leaderboard", "loa", "-o", "json", is_json=True) == cli("leaderboard", "loa", "--json", is_json=True)
    assert cli("leaderboard", "loa", "-o", "table") == cli("leaderboard", "loa")
    assert "not allowed with" in cli("leaderboard", "loa", "--json", "-o", "csv", code=Exit.USAGE)
    assert "did you mean csv?" in cli("leaderboard", "loa", "-o", "cvs", code=Exit.USAGE)
    game = arena.games[0]
    assert cli("game", "download", game, "--json") == cli("game", "download", game)


def test_logs(arena: Arena, cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    game = arena.games[0]
    assert "token" in cli("logs", game, "--side", "first", code=Exit.REFUSED)
    monkeypatch.setenv("ARENA_TOKEN", arena.tokens["organiser"])
    assert cli("logs", game, "--side", "first") == "hello from first\n"
    assert cli("logs", game, "--side", "second", "--json", is_json=True)["log"] == "hello from second"


def test_logs_in_a_pipe_escape_control_characters_unless_raw(
    arena: Arena, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_TOKEN", arena.tokens["organiser"])
    hostile = "\x1b]0;owned\x07one\r\n\x9b2Jtwo\t\u202ethree\n"
    monkeypatch.setattr(remote, "client", lambda _: SimpleNamespace(get=lambda _: {"name": "zeta", "log": hostile}))
    words = ("logs", arena.games[0], "--side", "first")
    assert cli(*words) == "\\x1b]0;owned\\x07one\n\\x9b2Jtwo\t\\u202ethree\n"
    assert cli(*words, "--raw") == hostile


def test_a_tournament_from_a_file(arena: Arena, cli: Any, tmp_path: Path) -> None:
    file = tmp_path / "open.toml"
    file.write_text(f'name = "Open"\nfamily = "loa"\nstart_time = {LATER}\n[entries]\nbots = ["greedy", "random"]\n')
    token = ("--token", arena.tokens["organiser"])
    made = cli("tournament", "create", str(file), "--json", *token, is_json=True)
    assert made["start_time"].startswith(LATER.rstrip("Z")) or made["state"] == "scheduled"
    for verb, state in (("pause", "paused"), ("resume", "scheduled"), ("cancel", "cancelled")):
        assert cli("tournament", verb, str(made["id"]), "--json", *token, is_json=True)["state"] == state
    assert "cancelled" in cli("tournament", "pause", str(made["id"]), *token, code=Exit.FAILED)
    file.write_text('name = "Weekly"\nfamily = "loa"\n[entries]\nall = true\n[schedule]\ncron = "0 20 * * 5"\n')
    assert "next at" in cli("tournament", "create", str(file), *token)
    assert "nothing to --watch" in cli("tournament", "create", str(file), "--watch", *token, code=Exit.USAGE)
    file.write_text("name = ")
    assert "not TOML" in cli("tournament", "create", str(file), *token, code=Exit.USAGE)
    file.write_text('name = "x"\nfamily = "nope"\n')
    assert "nope" in cli("tournament", "create", str(file), *token, code=Exit.USAGE)
    cli("tournament", "create", str(tmp_path / "none.toml"), *token, code=Exit.NOT_FOUND)


def test_another_file_for_a_tournament_or_a_schedule(arena: Arena, cli: Any, tmp_path: Path) -> None:
    file, token = tmp_path / "later.toml", ("--token", arena.tokens["organiser"])
    text = f'name = "{{}}"\nfamily = "loa"\nstart_time = {LATER}\n[entries]\nbots = ["greedy", "random"]\n'
    file.write_text(text.format("Later"))
    number = str(cli("tournament", "create", str(file), "--json", *token, is_json=True)["id"])
    file.write_text(text.format("Last") + '[sprt]\nelo1 = "x"\n')
    assert "elo1" in cli("tournament", "change", number, str(file), *token, code=Exit.USAGE)
    file.write_text(text.format("Last").replace('"greedy"', '"alphabeta"'))
    changed = cli("tournament", "change", number, str(file), "--json", *token, is_json=True)
    assert (changed["name"], [line["name"] for line in changed["entries"]]) == ("Last", ["alphabeta v1", "random v1"])
    finished = str(arena.finished)
    assert "is unchanged" in cli("tournament", "change", finished, str(file), *token, code=Exit.FAILED)
    file.write_text('name = "Yearly"\nfamily = "loa"\n[entries]\nall = true\n[schedule]\ncron = "0 20 1 1 *"\n')
    number = str(cli("tournament", "create", str(file), "--json", *token, is_json=True)["id"])
    file.write_text(file.read_text().replace("1 1 *", "2 1 *"))
    for words in (("schedule", "change", number, str(file)), ("tournament", "change", number, str(file), "--schedule")):
        assert "Yearly" in cli(*words, *token)
    assert cli("schedule", "show", number, "--json", is_json=True)["cron"] == "0 20 2 1 *"
    shown = cli("schedule", "preview", number, "--count", "2")
    assert len(re.findall(r"\w{3} \d{4}-01-02 20:00 \+0000 +Yearly", shown)) == 2
    assert "loa standard, round-robin" in shown
    assert "bots (3): alphabeta v1, greedy v1, random v1" in shown
    rows = table_of(cli("schedule", "preview", number, "--count", "3", "-o", "csv"))
    assert [row["name"] for row in rows] == ["Yearly"] * 3
    assert "from 1 to 50" in cli("schedule", "preview", number, "--count", "51", code=Exit.USAGE)
    assert "token" in cli("schedule", "delete", number, code=Exit.REFUSED)
    assert cli("schedule", "delete", number, "--json", *token, is_json=True)["name"] == "Yearly"
    assert "schedule list" in cli("schedule", "delete", number, *token, code=Exit.NOT_FOUND)
    assert "schedule list" in cli("schedule", "preview", number, code=Exit.NOT_FOUND)


def test_entering_withdrawing_and_extending(arena: Arena, cli: Any, tmp_path: Path) -> None:
    file = tmp_path / "open.toml"
    file.write_text(
        f'name = "Later"\nfamily = "loa"\nformat = "swiss"\nrounds = 2\nstart_time = {LATER}\n'
        '[entries]\nbots = ["greedy", "random"]\n'
    )
    token = ("--token", arena.tokens["organiser"])
    number = str(cli("tournament", "create", str(file), "--json", *token, is_json=True)["id"])
    entered = cli("tournament", "enter", number, "alphabeta", "--json", *token, is_json=True)["entries"]
    assert {line["name"] for line in entered if line["withdrawn"] is None} >= {"greedy v1", "alphabeta v1"}
    again = cli("tournament", "withdraw", number, "alphabeta", "--version", "1", "--json", *token, is_json=True)
    assert "alphabeta v1" not in [line["name"] for line in again["entries"] if line["withdrawn"] is None]
    cli("tournament", "enter", number, "alphabeta v1", *token)
    assert "did you mean alphabeta" in cli("tournament", "withdraw", number, "alphabet", *token, code=Exit.NOT_FOUND)
    again = cli("tournament", "withdraw", number, "alphabeta v1", "--json", *token, is_json=True)
    assert "alphabeta v1" not in [line["name"] for line in again["entries"] if line["withdrawn"] is None]
    assert "nobody" in cli("tournament", "enter", number, "nobody", *token, code=Exit.NOT_FOUND)
    assert cli("tournament", "priority", number, "-7", "--json", *token, is_json=True)["priority"] == -7
    assert ", priority -7" in cli("tournament", "show", number)
    cli("tournament", "priority", number, "200", *token, code=Exit.USAGE)


def test_byes_and_late_entries_of_a_swiss_are_shown(arena: Arena, cli: Any, tmp_path: Path) -> None:
    file, token = tmp_path / "club.toml", ("--token", arena.tokens["organiser"])
    file.write_text(
        f'name = "Club"\nfamily = "loa"\nformat = "swiss"\nrounds = 4\nstart_time = {LATER}\n'
        '[entries]\nbots = ["greedy", "random", "alphabeta"]\n'
        "[swiss]\nhalf_point_byes = {greedy = [2, 3]}\nlate_entries = {alphabeta = 2}\n"
    )
    number = str(cli("tournament", "create", str(file), "--json", *token, is_json=True)["id"])
    shown = cli("tournament", "show", number)
    assert "half-point byes: greedy (round 2, 3)\nlate entries: alphabeta (from round 2)\n" in shown


def test_extending_says_what_the_number_is_and_what_comes_of_it(arena: Arena, cli: Any, tmp_path: Path) -> None:
    file, token = tmp_path / "open.toml", ("--token", arena.tokens["organiser"])
    text = 'name = "Later"\nfamily = "loa"\nformat = "{}"\n{}start_time = {}\n[entries]\nbots = ["greedy", "random"]\n'
    file.write_text(text.format("swiss", "rounds = 2\n", LATER))
    swiss = str(cli("tournament", "create", str(file), "--json", *token, is_json=True)["id"])
    longer = cli("tournament", "extend", swiss, "5", "--json", *token, is_json=True)
    assert longer["settings"]["rounds"] == 5
    assert longer["plan"] == {"games": 10, "is_most": False, "games_per_pairing": 2, "rounds": 5}
    said = cli("tournament", "extend", swiss, "+2", *token)
    assert f"tournament {swiss} is scheduled: 7 rounds, 2 games of each pairing, 14 games in all" in said
    assert "must be more than its 7 rounds; write 8 or more" in cli(
        "tournament", "extend", swiss, "3", *token, code=Exit.USAGE
    )
    file.write_text(text.format("round-robin", "games = 4\n", LATER))
    number = str(cli("tournament", "create", str(file), "--json", *token, is_json=True)["id"])
    said = cli("tournament", "extend", number, "8", *token)
    assert f"tournament {number} is scheduled: 8 games of each pairing, 4 rounds, 8 games in all" in said
    assert "must be even" in cli("tournament", "extend", number, "+3", *token, code=Exit.USAGE)
    for wrong in ("0", "+0", "++2", "many"):
        cli("tournament", "extend", number, wrong, *token, code=Exit.USAGE)


def test_a_server_names_all_problems_at_once(arena: Arena, cli: Any, tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "bad.toml"
    file.write_text('name = "x"\nfamily = "loa"\ntc = "1+1"\ngames = "2"\n[entries]\nbots = ["greedy"]\n')
    assert run(["tournament", "create", str(file), "--token", arena.tokens["organiser"]]) == Exit.USAGE
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "  games: '2' is not a whole number; write a whole number",
        "  tc: unknown key; did you mean time_control?",
    ]
    assert err.startswith(f"error: {file}: games")


def test_submitting_and_retiring(arena: Arena, cli: Any, tmp_path: Path) -> None:
    script = tmp_path / "mybot"
    script.write_text("#!/bin/sh\nexit 1\n")
    token = ("--token", arena.tokens["author"])
    submission = cli("bot", "submit", str(script), "--name", "mine", "--family", "loa", "--json", *token, is_json=True)
    assert (submission["name"], submission["state"]) == ("mine v1", "uploaded")
    assert "duplicate bundle" in cli(
        "bot", "submit", str(script), "--name", "mine", "--family", "loa", *token, code=Exit.FAILED
    )
    folder = tmp_path / "folder"
    (folder / "__pycache__").mkdir(parents=True)
    (folder / "__pycache__" / "x.pyc").write_bytes(b"x")
    (folder / "run").write_text("#!/bin/sh\nexit 2\n")
    (folder / "run").chmod(0o755)
    (folder / "bot.toml").write_text('name = "other"\nfamilies = ["loa"]\ncommand = ["./run"]\n')
    assert cli("bot", "submit", str(folder), "--name", "mine", "--json", *token, is_json=True)["number"] == 2
    (folder / "bot.toml").unlink()
    assert "bot.toml" in cli("bot", "submit", str(folder), "--name", "mine", *token, code=Exit.USAGE)
    assert cli("bot", "retire", "mine", "--version", "2", "--json", *token, is_json=True)["state"] == "retired"
    assert cli("bot", "retire", "mine", "--json", *token, is_json=True)["is_retired"] is True


def test_a_verdict_is_waited_for(
    arena: Arena, cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from arena.cli.client import bot

    def conclude(seconds: float) -> None:
        version = arena.store.checks.claim()
        assert version is not None
        arena.store.checks.conclude(
            version.id or 0,
            report={"families": {"loa": {"steps": [STEP], "command": ["/secret/place"]}}},
            variants={"loa": []},
            capabilities={},
            problem="loa: says nothing",
            log="--- loa\nSyntaxError: expected a colon",
        )

    monkeypatch.setattr(bot, "time", SimpleNamespace(sleep=conclude))  # the server of this process sleeps by its own
    while arena.store.checks.claim():
        pass
    script = tmp_path / "watched"
    script.write_text("#!/bin/sh\nexit 3\n")
    words = ("bot", "submit", str(script), "--name", "watched", "--family", "loa", "--watch")
    assert run([*words, "--token", arena.tokens["author"]]) == Exit.FAILED
    assert "standard error:\n      --- loa\n      SyntaxError: expected a colon" in capsys.readouterr().err
    assert "FAIL loa  handshake  silence  write ugiok" in cli("bot", "show", "watched", "--version", "1")
    assert "/secret" not in cli("bot", "show", "watched", "--version", "1", "--json")


STEP = {"name": "handshake", "needed": True, "passed": False, "detail": "silence", "advice": "write ugiok"}


def test_logging_in_with_a_token(arena: Arena, cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "author" in cli("login", "--token", arena.tokens["author"])
    assert keyring().stat().st_mode & 0o777 == 0o600
    assert arena.server.url in json.loads(keyring().read_text())["tokens"]
    monkeypatch.delenv("ARENA_SERVER")
    cli("bot", "retire", "greedy", code=Exit.REFUSED)
    cli("login", "--token", "arena_" + "A" * 43, code=Exit.REFUSED)
    keyring().write_text("{")
    assert "log in again" in cli("bot", "list", code=Exit.USAGE)


def test_logging_in_with_a_password_and_out(arena: Arena, cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from arena.credentials import hash_password

    arena.store.users.add("ada", "organiser", hash_password("correct horse"))
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse\n"))
    login = cli("login", "--user", "ada", "--scopes", "read,organise", "--json", is_json=True)
    assert login["scopes"] == ["organise", "read"]
    token = json.loads(keyring().read_text())["tokens"][arena.server.url]
    assert arena.server.get("/api/v1/account", token=token).status == 200
    cli("logout")
    assert json.loads(keyring().read_text())["tokens"] == {}
    assert arena.server.get("/api/v1/account", token=token).status == 401
    monkeypatch.setattr("sys.stdin", io.StringIO("wrong\n"))
    cli("login", "--user", "ada", code=Exit.REFUSED)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    cli("login", "--user", "ada", code=Exit.USAGE)
    cli("login", "--user", "ada", "--scopes", "root", code=Exit.USAGE)


def test_bot_submit_folder_takes_the_name_of_its_file(arena: Arena, cli: Any, tmp_path: Path) -> None:
    token = ("--token", arena.tokens["author"])
    (tmp_path / "bot.toml").write_text('name = "called"\nfamilies = ["loa"]\ncommand = ["./bot.py"]\n')
    (tmp_path / "bot.py").write_text("#!/usr/bin/env python3\n")
    assert cli("bot", "submit", str(tmp_path), "--json", *token, is_json=True)["bot"] == "called"
    assert "add --name NAME" in cli("bot", "submit", str(tmp_path / "bot.py"), *token, code=Exit.USAGE)
    (tmp_path / "bot.toml").write_text('families = ["loa"]\ncommand = ["./bot.py"]\n')
    assert "write one into its bot.toml" in cli("bot", "submit", str(tmp_path), *token, code=Exit.USAGE)


def test_bundle_of_a_program_keeps_its_name_and_its_bytes(tmp_path: Path) -> None:
    script = tmp_path / "my bot.py"
    script.write_text("#!/usr/bin/env python3\n")
    with bundle_of(script) as bundle, bundle_of(script) as other:
        assert bundle.read() == other.read()
        bundle.seek(0)
        with tarfile.open(fileobj=bundle) as archive:
            assert archive.getnames() == ["bot.toml", "my bot.py"]
            member = archive.extractfile("bot.toml")
            assert member is not None
            assert member.read() == b'command = ["./my bot.py"]\n'


LEFT_OUT = ("lib/all", "lib/secret", "loop", "pipe", ".git")


def test_bundle_of_a_folder_has_its_links_and_tells_what_it_leaves_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "secret").write_text("mine")
    bot = tmp_path / "bot"
    for name in (".git", "lib/__pycache__", ".github"):
        (bot / name).mkdir(parents=True)
    for name in ("bot.py", ".gitignore", ".github/rules", ".git/config", "lib/__pycache__/x.pyc"):
        (bot / name).write_text("#!/usr/bin/env python3\n")
    (bot / "lib" / "same.py").symlink_to("../bot.py")
    (bot / "lib" / "all").symlink_to("..")
    (bot / "lib" / "secret").symlink_to("../../secret")
    (bot / "loop").symlink_to("loop")
    os.mkfifo(bot / "pipe")
    with bundle_of(bot) as bundle, bundle_of(bot) as other, tarfile.open(fileobj=bundle) as archive:
        names = [".github", ".github/rules", ".gitignore", "bot.py", "lib", "lib/same.py"]
        assert sorted(archive.getnames()) == names
        member = archive.extractfile("lib/same.py")
        assert member is not None
        assert member.read() == b"#!/usr/bin/env python3\n"
        bundle.seek(0)
        assert bundle.read() == other.read()
    told = capsys.readouterr().err
    assert [told.count(f"left out: {name}, ") for name in LEFT_OUT] == [2, 2, 2, 2, 0]


def test_another_password_of_ones_own(arena: Arena, cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from arena.credentials import hash_password

    arena.store.users.add("grace", "author", hash_password("correct horse"))
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse\n"))
    cli("login", "--user", "grace")
    monkeypatch.setattr("sys.stdin", io.StringIO("wrong\nanother horse\n"))
    assert "wrong current password" in cli("user", "password", code=Exit.REFUSED)
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse\nanother horse\n"))
    words = ("user", "password", "--revoke-tokens", "--json")
    assert cli(*words, is_json=True) == {"schema": 1, "changed": True, "tokens_revoked": True}
    assert "the token was revoked on 20" in cli("bot", "list", code=Exit.REFUSED)
    monkeypatch.setattr("sys.stdin", io.StringIO("another horse\n"))
    cli("login", "--user", "grace")


def test_how_commands_end(arena: Arena, cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "did you mean greedy?" in cli("bot", "show", "greedi", code=Exit.NOT_FOUND)
    cli("game", "show", "0" * 16, code=Exit.NOT_FOUND)
    cli("game", "show", "../../etc", code=Exit.NOT_FOUND)
    cli("tournament", "pause", str(arena.finished), code=Exit.REFUSED)
    cli("leaderboard", "loa", "--pool", "a b", code=Exit.USAGE)
    cli("bot", "list", "--server", "ftp://x", code=Exit.USAGE)
    cli("bot", "list", "--server", "http://x:port", code=Exit.USAGE)
    assert "is the server running?" in cli("bot", "list", "--server", "http://127.0.0.1:9", code=Exit.UNREACHABLE)
    context = arena.server.context
    from arena.http.rate_limit import Rate, RateLimiter

    known = dict(context.limiters)
    try:
        context.limiters["read"] = RateLimiter(Rate(1, 1))
        cli("bot", "list")
        assert "try again in" in cli("bot", "list", code=Exit.REFUSED)
    finally:
        context.limiters.update(known)


def test_a_cut_stream_is_taken_up_behind_the_last_event(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    from arena import client as module
    from arena.client import ApiClient

    client = ApiClient(arena.server.url)
    path = f"/tournaments/{arena.finished}/stream"
    asked: list[object] = []
    opened = ApiClient._opened

    def cutting(self: ApiClient, method: str, where: str, query: Any, *rest: Any) -> Any:
        asked.append(query["after"])
        response = opened(self, method, where, query, *rest)
        if len(asked) <= 3:
            lines = [line for line, _ in zip(response, range(3), strict=False)]
            response.__exit__()

            class Cut:
                def __enter__(self) -> Any:
                    return iter(lines)

                def __exit__(self, *_: object) -> None:
                    """Cut off."""

            return Cut()
        return response

    monkeypatch.setattr(ApiClient, "_opened", cutting)
    monkeypatch.setattr(module.time, "sleep", lambda seconds: None)
    events = list(client.events(path, after=0))
    assert [event["event"] for event in events] == ["game"] * 12 + ["final"]
    numbers = [event["seq"] for event in events[:-1]]
    assert numbers == sorted(set(numbers))
    assert asked == [0, numbers[2], numbers[5], numbers[8]]


def test_quota_schedules_and_exports(arena: Arena, cli: Any, tmp_path: Path) -> None:
    token = ("--token", arena.tokens["organiser"])
    assert cli("bot", "quota", *token, "--json", is_json=True)["bots"] == {"used": 0, "limit": 20}
    assert "versions" in cli("bot", "quota", *token)
    file = tmp_path / "weekly.toml"
    file.write_text('name = "Fridays"\nfamily = "loa"\nentries = { all = true }\nschedule = { cron = "0 20 * * 5" }\n')
    made = cli("tournament", "create", str(file), *token, "--json", is_json=True)
    assert "0 20 * * 5" in cli("schedule", "list")
    number = str(made["id"])
    assert cli("schedule", "disable", number, *token, "--json", is_json=True)["is_enabled"] is False
    assert cli("schedule", "enable", number, *token) == ""
    assert cli("schedule", "show", number, "--json", is_json=True)["next_fire"]
    assert "no schedule 99" in cli("schedule", "show", "99", code=Exit.NOT_FOUND)
    lines = cli(
        "game", "export", "--bot", "greedy", "--termination-class", "rules", "--since", "2026-01-01"
    ).splitlines()
    assert lines
    assert all("greedy v1" in (read_record(line).first, read_record(line).second) for line in lines)
    assert "write a day" in cli("game", "export", "--since", "yesterday", code=Exit.USAGE)
    assert "did you mean greedy" in cli("game", "export", "--bot", "greedi", code=Exit.NOT_FOUND)


def test_the_archive_of_a_server(arena: Arena, cli: Any, tmp_path: Path) -> None:
    file, token = tmp_path / "old.txt", ("--token", arena.tokens["organiser"])
    file.write_text(
        '[Black "Anna"] [White "Bert"] [Number "427"]\n1.a1b2! i5h5 2.a2b3 i6h6\n\n[Black "Carl"]\n1.a1b2 i5h5\n'
    )
    here = ("--server", arena.server.url)
    with reading_imports(arena.server.store):
        taken = cli("archive", "import", str(file), "--family", "abalone", *here, *token)
    assert taken == f"{file}: 2 games imported as aba-pro, 0 bad\n"
    assert "organise" in cli("archive", "import", str(file), "--family", "abalone", *here, code=Exit.REFUSED)
    listed = cli("archive", "list", "--json", *here, is_json=True)["sources"]
    assert {"source": "old.txt", "family": "abalone", "variant": "standard", "games": 2} in listed
    result = cli("archive", "search", "--source", "old.txt", "--limit", "1", "--json", *here, is_json=True)
    assert (result["total"], result["games"][0]["first"]) == (2, "Anna")
    rest = cli("archive", "search", "--source", "old.txt", "--offset", "1", "--json", *here, is_json=True)
    assert [game["first"] for game in rest["games"]] == ["Carl"]
    assert "Anna" in cli("archive", "search", "--number", "427", *here)
    shown = cli("archive", "show", "--id", result["games"][0]["id"], "--ply", "2x", "--json", *here, is_json=True)
    assert (shown["shown"]["ply"], shown["marks"], shown["first"]) == (3, {"1": "!"}, "Anna")
    assert cli("archive", "export", "--number", "427", *here).startswith('[Black "Anna"]')
    assert "1.  a1b2!" in cli("archive", "export", "--number", "427", "--notation", "aba-pro-table", *here)
    lines = cli("archive", "export", "--source", "old.txt", "-o", "ndjson", *here).splitlines()
    assert [read_record(line).first for line in lines] == ["Anna", "Carl"]
    assert "no game" in cli("archive", "show", "--player", "nobody", *here, code=Exit.NOT_FOUND)
    assert "different archives" in cli("archive", "list", "--data", str(tmp_path), *here, code=Exit.USAGE)


def test_explore_without_moves_is_the_start(arena: Arena, cli: Any) -> None:
    start = cli("explore", "loa", "--server", arena.server.url, "--json")
    empty = ("--moves", "", "--position", "", "--variant", "", "--bot", "", "--since", "")
    assert cli("explore", "loa", *empty, "--server", arena.server.url, "--json") == start
