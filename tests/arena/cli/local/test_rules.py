"""The commands that need no server: names, JSON keys and exit codes are a contract other programs rely on."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from arena.__main__ import main
from arena.cli.terminal import commands, output
from referee.machine import source
from referee.rules import families, load
from referee.rules.position import Position

VECTORS = Path(__file__).parents[3] / "data" / "vectors"


def run(capsys, *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    out, err = capsys.readouterr()
    return code, out, err


def document(capsys, *words: str):
    code, out, _ = run(capsys, *words, "--json")
    assert out.count("\n") == 1, "one document, on one line away from a terminal"
    return code, json.loads(out)


def feed(monkeypatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


# Help


@pytest.mark.parametrize(("word", "code"), [("--help", 0), ("plya", 2)])
def test_help_is_light(word, code):
    """Building the parser, and printing help or the error of a slip, loads nothing heavy."""
    program = (
        f"import sys; from arena.__main__ import main; code = main(['{word}'])\n"
        "heavy = {'numba', 'numpy', 'sqlmodel', 'sqlalchemy', 'aiohttp', 'aiomqtt', 'rich', 'asyncio', 'pydantic'}\n"
        "sys.exit(f'loaded: {sorted(heavy & set(sys.modules))}' if heavy & set(sys.modules) else code)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == code, done.stderr
    for command in commands.every():
        assert code or f"  {command.name} " in done.stdout


BOTS = "sample:random sample:greedy --family loa"
PLAYING = "numba sqlalchemy aiohttp referee.machine.pool referee.check.probe referee.play.dispatch"
WITHOUT = {
    f"{PLAYING} asyncio numpy": {
        "demo --help": 0,
    },
    f"{PLAYING} asyncio": {
        "play --help": 0,
        "play": 2,
        f"play {BOTS} --nope": 2,
        f"play {BOTS} --games x": 2,
        f"play {BOTS} --sandbox glass": 2,
        f"play {BOTS} --games 0": 2,
    },
    PLAYING: {
        "demo --tc x": 2,
    },
    "numba": {
        "play sample:random sample:greedy --family lao": 2,
        f"play {BOTS} --variant nope": 2,
        f"play {BOTS} --option nope=1": 2,
        f"play sample:nope {BOTS}": 2,
        f"play {BOTS} --games 20 --tc x": 2,
        f"play {BOTS} --games 20 --draw x": 2,
        f"play {BOTS} --games 20 --resign x": 2,
        f"play {BOTS} --games 20 --sprt x": 2,
        f"play {BOTS} --games 20 --openings nosuch.txt": 3,
        f"play {BOTS} --games 20 --openings random:999": 2,
    },
}
"""The exit codes of commands, by what must not be loaded for them: help and errors do not wait for what it takes to
play. Wrong values may need a look at rules and bots. What a command may load is loaded for those after it too."""


def test_wrong_arguments_are_answered_before_anything_heavy_is_loaded():
    program = """if True:
        import json, sys
        from arena.__main__ import main
        for heavy, codes in json.loads(sys.argv[1]).items():
            for words, code in codes.items():
                assert main(words.split()) == code, words
                assert not (loaded := set(heavy.split()) & set(sys.modules)), f"{words}: {loaded}"
    """
    line = [sys.executable, "-c", program, json.dumps(WITHOUT)]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", [command for command in commands.every() if command.group in ("rules", "local")])
def test_every_command_has_help_and_examples(capsys, command):
    code, out, _ = run(capsys, command.name, "--help")
    assert code == 0
    assert "examples:" in out
    assert len(command.examples) >= 2
    assert all(
        example.startswith(f"arena {command.name} ") or example == f"arena {command.name}"
        for example in command.examples
    )


def test_version(capsys):
    code, out, _ = run(capsys, "--version")
    assert code == 0
    assert re.fullmatch(r"arena \S+, sources [0-9a-f]{12}\n", out)
    assert source.digest() in out


def test_interrupt(capsys, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("referee.rules.per_family.perft", interrupted)
    code, _, err = run(capsys, "perft", "loa", "--depth", "1")
    assert (code, err) == (130, "interrupted\n")


def test_fault_of_the_program_is_told_from_a_slip(capsys, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("by nought")

    monkeypatch.setattr("referee.rules.per_family.perft", broken)
    code, _, err = run(capsys, "perft", "loa", "--depth", "1")
    assert code == 1
    assert "Traceback" in err
    assert err.splitlines()[-1] == "error: ZeroDivisionError: by nought; this is a fault of the program"


# Colour


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_only_on_a_terminal(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert output.styled("x", "red", stream=Terminal()) == "\x1b[31mx\x1b[0m"
    assert output.styled("x", "red", stream=io.StringIO()) == "x"
    monkeypatch.setenv("NO_COLOR", "1")
    assert output.styled("x", "red", stream=Terminal()) == "x"


def test_quiet(capsys):
    _, _, err = run(capsys, "warmup", families()[0], "--quiet", "--jobs", "1")
    assert err == ""
    output.be_quiet(False)


# Rules


def test_rules_list(capsys):
    code, data = document(capsys, "rules", "list")
    assert code == 0
    assert [entry["family"] for entry in data["families"]] == list(families())
    for entry in data["families"]:
        rules = load(entry["family"])
        assert entry["version"] == rules.version
        assert entry["sides"] == list(rules.sides)
        for variant in entry["variants"]:
            assert {"name", "options", "position"} <= set(variant)
        for option in entry["options"]:
            assert {"name", "type", "values", "default", "changes"} <= set(option)
            assert option["values"]
    code, out, _ = run(capsys, "rules", "list", families()[0])
    assert code == 0
    assert load(families()[0]).variants[-1].name in out
    assert f"First to move: {', then '.join(load(families()[0]).sides)}." in out


def test_rules_moves(capsys):
    family = families()[0]
    code, data = document(capsys, "rules", "moves", family)
    start = Position.start(load(family).settle())
    assert code == 0
    assert data == {"schema": 1, "position": str(start), "side": "first", "legal_moves": start.texts, "result": None}
    code, out, _ = run(capsys, "rules", "moves", family)
    assert code == 0
    assert str(start) in out
    assert start.texts[0] in out


def test_rules_moves_with_history(capsys):
    """Two shuffles end the game by repetition, under `loss` against the side that brought it about."""
    moves = "b1b3 h5f5 b3b1 f5h5 " * 2
    code, data = document(capsys, "rules", "moves", "loa", "--moves", moves, "--option", "repetition_result=loss")
    assert code == 0
    assert data["result"] == {"winner": "first", "reason": "repetition"}
    assert data["legal_moves"] == []


def test_rules_check(capsys, tmp_path):
    code, data = document(capsys, "rules", "vectors", str(VECTORS / "loa.json"), "--max-nodes", "100000")
    assert code == 0
    assert {"file", "checked", "failed", "skipped", "failures"} <= set(data["files"][0])
    assert data["files"][0]["skipped"] > 0
    wrong = json.loads((VECTORS / "loa.json").read_text())
    wrong = {"game": "loa", "perft": [{**wrong["perft"][0], "nodes": 35}], "positions": wrong["positions"][:2]}
    wrong["positions"][1]["legal_moves"] = ["a1a2"]
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(wrong))
    code, data = document(capsys, "rules", "vectors", str(path))
    assert code == 1
    assert data["files"][0]["failed"] == 2
    assert data["files"][0]["failures"][1]["position"] == wrong["positions"][1]["position"]
    code, out, _ = run(capsys, "rules", "vectors", str(path))
    assert code == 1
    assert wrong["positions"][1]["position"] in out
    assert "arena perft loa --variant standard --divide --depth 1" in out
    path.write_text("{")
    assert run(capsys, "rules", "vectors", str(path))[0] == 2


def test_rules_convert_there_and_back(capsys, monkeypatch):
    feed(monkeypatch, "1. b1-b3 h4-f2 2. d1:a4 h2-e2 1-0\n")
    code, out, err = run(capsys, "rules", "convert", "loa", "--from", "loa", "--to", "record")
    assert code == 0
    assert err == "1 game converted\n"
    record = json.loads(out)
    assert record["moves"] == ["b1b3", "h4f2", "d1a4", "h2e2"]
    assert (record["family"], record["variant"], record["result"]) == ("loa", "standard", "1-0")
    feed(monkeypatch, out)
    code, out, _ = run(capsys, "rules", "convert", "loa", "--from", "record", "--to", "loa")
    assert code == 0
    assert "b1-b3 h4-f2" in out
    for text in ("", "not json", '{"moves": 3}', '{"moves": [], "family": "tablut"}', "[" * 100_000):
        feed(monkeypatch, text)
        code, _, err = run(capsys, "rules", "convert", "loa", "--from", "record", "--to", "loa")
        assert code == 2, text[:50]
        assert err.startswith("error: ")


# Kernels


def test_perft(capsys):
    family = families()[0]
    code, data = document(capsys, "perft", family, "--depth", "2")
    assert code == 0
    assert set(data) == {"schema", "nodes", "seconds", "nodes_per_second", "divide"}
    divided = document(capsys, "perft", family, "--depth", "2", "--divide")[1]
    assert divided["nodes"] == data["nodes"] == sum(divided["divide"].values())
    assert list(divided["divide"]) == Position.start(load(family).settle()).texts
    assert document(capsys, "perft", family, "--depth", "0")[1]["nodes"] == 1


def test_playouts(capsys):
    words = ("playouts", families()[0], "--games", "20", "--seed", "7", "--max-plies", "60")
    code, data = document(capsys, *words)
    assert code == 0
    assert {"games", "plies", "seconds", "plies_per_second", "results"} <= set(data)
    assert set(data["results"]) == {"first", "second", "draw", "unfinished"}
    assert sum(data["results"].values()) == data["games"] == 20
    again = document(capsys, *words)[1]
    assert (again["plies"], again["results"]) == (data["plies"], data["results"])


def test_warmup(capsys):
    family = families()[0]
    main(["warmup", family])
    capsys.readouterr()
    code, out, err = run(capsys, "warmup", family, "--jobs", "1")
    assert code == 0
    assert err.startswith(family)
    assert "1 families ready" in out
    code, data = document(capsys, "warmup", family)
    assert [entry["family"] for entry in data["families"]] == [family]


# Records


def record(**changes):
    """A finished game of Lines of Action as JSON."""
    ply = {"ms": 1.0, "charged_ms": 1.0, "lag_ms": 0.0, "score": None, "depth": None, "nodes": None, "book": False}
    moves = ["b1b3", "h5f5", "b3b1", "f5h5"] * 2
    start = str(Position.start(load("loa").settle()))
    data = {
        "id": "0123456789abcdef",
        "family": "loa",
        "variant": "standard",
        "options": {},
        "position": start,
        "first": "one",
        "second": "two",
        "winner": "draw",
        "termination": "repetition",
        "kind": "rules",
        "moves": moves,
        "plies": [ply] * len(moves),
        "started": "2026-01-01T00:00:00+00:00",
        "finished": "2026-01-01T00:00:01+00:00",
    }
    return {**data, **changes}


@pytest.fixture
def game(tmp_path):
    path = tmp_path / "game.json"
    path.write_text(json.dumps(record(), indent=2))
    return str(path)


def test_replay_draws(capsys, game):
    code, out, _ = run(capsys, "replay", game)
    assert code == 0
    assert "one (Black) - two (White)  1/2-1/2  repetition" in out
    assert "ply 8 of 8 (4y): second (White) played f5-h5" in out
    assert "draw by repetition" in out
    code, out, _ = run(capsys, "replay", game, "--ply", "0")
    assert "ply 0 of 8: the start" in out
    assert "first (Black) to move" in out
    assert run(capsys, "replay", game, "--ply", "9")[0] == 2


def test_replay_json(capsys, game):
    code, data = document(capsys, "replay", game, "--ply", "1")
    assert code == 0
    assert data["moves"] == record()["moves"]
    assert data["shown"]["ply"] == 1
    assert data["shown"]["side"] == "second"
    assert len(data["shown"]["legal_moves"]) == 34


def test_replay_text_is_read_again(capsys, game, tmp_path):
    code, out, _ = run(capsys, "replay", game, "-o", "text")
    assert code == 0
    path = tmp_path / "game.txt"
    path.write_text(out + "\n\n")
    assert run(capsys, "replay", str(path), "--verify") == (0, "1 games verified, 0 wrong\n", "")


def test_replay_verifies_every_game(capsys, tmp_path):
    games = [
        record(),
        record(id="lie", winner="first"),
        record(id="late", moves=[*record()["moves"], "b1b3"], plies=[record()["plies"][0]] * 9),
        record(id="illegal", moves=["b1b4"], plies=record()["plies"][:1]),
    ]
    path = tmp_path / "games.ndjson"
    path.write_text("".join(json.dumps(game) + "\n" for game in games))
    code, out, err = run(capsys, "replay", str(path), "--verify")
    assert code == 1
    assert out == "4 games verified, 3 wrong\n"
    assert "game lie: claims first by repetition, but the rules give draw by repetition in 1bbbbbb1/" in err
    assert "game late: over before ply 9 (b1b3)" in err
    assert "game illegal: ply 1: illegal move 'b1b4' in 1bbbbbb1/" in err
    assert run(capsys, "replay", str(path), "--game", "1", "--verify")[0] == 0
    assert run(capsys, "replay", str(path), "--game", "lie", "--verify")[0] == 1
    assert run(capsys, "replay", str(path), "--game", "nobody")[0] == 3
    assert run(capsys, "replay", str(path))[2].startswith("the first of 4 games")
    path.write_text(json.dumps({"games": games}))
    assert run(capsys, "replay", str(path), "--verify")[0] == 1


@pytest.mark.parametrize(
    "text", ["", "{", "{}", "[1]", '{"games": 1}', "nonsense", "\xff\xfe", '{"id": "x"}\n{"id": 3}', "[" * 100_000]
)
def test_replay_refuses_other_files(capsys, tmp_path, text):
    path = tmp_path / "other"
    path.write_text(text, encoding="latin-1")
    code, _, err = run(capsys, "replay", str(path))
    assert code == 2, err
    assert err.startswith("error: ")
    assert str(path) in err


def test_console_script():
    """`python -m arena` is the same program."""
    done = subprocess.run(
        [sys.executable, "-m", "arena", "rules", "moves", "loa", "--variant", "nonsense"],
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: unknown variant of loa 'nonsense'")


# Set-ups


def test_rules_setup(capsys):
    code, data = document(capsys, "rules", "setup", "pijersi", "--name", "Pijersi-24#17")
    assert code == 0
    assert list(data) == ["schema", "position", "notation", "numbers", "permutations"]
    assert data["notation"] == "a16:SPRPSR / b17:PRS(WW)RPS / f17:spr(ww)srp / g16:rsprps"
    assert data["numbers"]["pijersi-24"] == [17]
    assert (len(data["permutations"]), data["permutations"][0]) == (6, data["position"])
    assert document(capsys, "rules", "setup", "pijersi", "--position", data["notation"])[1] == data
    code, out, _ = run(capsys, "rules", "setup", "pijersi", "--name", "pijersi-8100#17/23")
    assert code == 0
    assert "numbers  pijersi-8100#17/23" in out
    code, out, _ = run(capsys, "rules", "moves", "pijersi", "--position", data["notation"])
    assert (code, data["position"] in out) == (0, True)
    code, _, err = run(capsys, "rules", "setup", "loa")
    assert (code, "no numbered setups" in err) == (2, True)
