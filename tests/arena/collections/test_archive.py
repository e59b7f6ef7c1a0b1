"""Collections of games: read in every notation of every family, faults reported, searched, shown, exported."""

from __future__ import annotations

import contextlib
import io
import json
import random
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.cli.terminal.run import run
from arena.collections.best_reading import best_reading
from arena.collections.collection import Collection, pieces, read_collection, read_parts
from arena.collections.conversion import to_archived, to_text
from arena.collections.notation import write_record
from arena.collections.recorded import RECORD
from arena.documents.archive import ArchiveQuery, ArchiveSource
from arena.store import Store
from arena.store.archive.archive import Archive
from arena.store.archive.archived_game import ArchivedGame
from arena.store.archive.search import ArchiveSearch
from referee.game.record import read_record
from referee.rules import families, load
from referee.rules.core import ParseError, UnknownNameError
from referee.rules.position import Position
from referee.rules.rules import GameFormat, GameText, Ruleset
from referee.rules.symmetry import key_of
from referee.verify.verification import verify

VECTORS = Path(__file__).parents[2] / "data" / "vectors"
FORMATS = [(family, form.name) for family in families() for form in (*load(family).formats, RECORD)]
TOKENS = {"first": "1-0", "second": "0-1", "draw": "1/2-1/2"}


def vectors(family: str) -> list[dict[str, Any]]:
    return list(json.loads((VECTORS / f"{family}.json").read_text())["games"])


def game_text(game: dict[str, Any], ruleset: Ruleset, **tags: str) -> GameText:
    result = TOKENS[game["result"]["winner"]] if game["result"] else "*"
    return GameText(tuple(game["moves"]), ruleset.variant.name, ruleset.overrides, game["position"], tags, result)


def form_of(family: str, name: str) -> GameFormat:
    return next(form for form in (*load(family).formats, RECORD) if form.name == name)


GAME_427 = next(game for game in vectors("abalone") if "427" in game["note"])
TAGS_427 = {"Number": "427", "Black": "Turlututu", "White": "picasso", "Date": "2017-03-05"}


def text_427(form: str = "aba-pro") -> str:
    ruleset = load("abalone").settle("irish-daisy", {"mark_ejections": True, "show_score": True})
    plain = load("abalone").settle("irish-daisy")
    return form_of("abalone", form).write(game_text(GAME_427, plain, **TAGS_427), ruleset)


@pytest.fixture
def archive(sqlite_store: Store) -> Archive:
    return sqlite_store.archive


def entries(found: Collection, source: str = "file.txt") -> list[ArchivedGame]:
    assert not found.problems, [str(problem) for problem in found.problems]
    return [to_archived(one, source, found.format) for one in found.games]


# Reading


@pytest.mark.parametrize(("family", "name"), FORMATS)
def test_a_collection_in_every_notation_of_every_family(family: str, name: str) -> None:
    form, parts, wanted = form_of(family, name), [], []
    for place, game in enumerate(vectors(family)[:12]):
        ruleset = load(family).settle(game["variant"], game["options"])
        try:
            text = form.write(game_text(game, ruleset, Event=f"number {place}"), ruleset)
            assert [read.moves for read in form.read(text, load(family).settle())] == [tuple(game["moves"])]
        except (ValueError, AssertionError):
            continue  # a notation need not have words for every start
        parts.append(text.rstrip("\n"))
        wanted.append(game)
    assert len(wanted) >= 5
    reading = read_collection("\n\n".join(parts) + "\n", form, load(family).settle())
    assert not reading.problems
    assert [collected.final for collected in reading.games] == [game["final_position"] for game in wanted]
    assert [collected.text for collected in reading.games] == [f"{part}\n" for part in parts]


@pytest.mark.parametrize("family", ["loa", "pijersi"])
def test_a_text_of_many_games_is_read_as_its_parts_are(family: str) -> None:
    ruleset = load(family).settle()
    form = ruleset.rules.formats[0]
    parts = []
    for seed in range(120):
        dice, position, moves = random.Random(seed), Position.start(ruleset), ()
        while len(moves) < 3 + seed % 20 and position.moves:
            moves = (*moves, dice.choice(position.texts))
            position = position.play(moves[-1])
        parts.append(form.write(GameText(moves, ruleset.variant.name, result="1-0"), ruleset))
        if seed % 10 == 0:
            with contextlib.suppress(ValueError):  # there are notations that have no words for what cannot be played
                parts[-1] = form.write(GameText((*moves, moves[0]), ruleset.variant.name, result="1-0"), ruleset)
    text, line, wanted = "", 1, Collection(form.name)
    for part in parts:
        reading = read_collection(part, form, ruleset)
        wanted.games += [replace(collected, line=collected.line + line - 1) for collected in reading.games]
        wanted.problems += [replace(problem, line=problem.line + line - 1) for problem in reading.problems]
        text, line = f"{text}{part}\n", line + part.count("\n") + 1
    reading = read_collection(text, form, ruleset)
    assert reading == wanted
    assert [collected.final for collected in reading.games] == [collected.final for collected in wanted.games]


def test_texts_of_other_hands() -> None:
    rules = load("abalone").settle()
    linear = "1.a1b2 i5h5 2.a2b3 i6h6\n3.c2c3 g4g5 4...\n\n1. e4e4e5 {doubled\n1. in a comment} e6e6e7\n"
    assert [line for line, _ in pieces(linear, form_of("abalone", "aba-pro"), rules)] == [1, 4]
    title = "       Black      White\n"
    table = f"{title}   1.  a1b2       i5h5\n   2.  a2b3\n\n{title}   1   c3c4       g7g6\n"
    reading = best_reading(table, rules, rules.rules.formats)
    assert reading.format == "aba-pro-table"
    assert [collected.game.moves for collected in reading.games] == [("a1b2", "i5h5", "a2b3"), ("c3c4", "g7g6")]


def test_pijersi_with_set_ups_and_swaps() -> None:
    text = """#! standard
a16:RPSRPS / b17:PSR(WW)SRP / f17:prs(ww)rsp / g16:sprspr
1 a4-b5=c4   2 f4=d5-d4

#! random/symmetry
g16:sprspr f13:prs f4:ww f57:rsp
b13:PSR b4:WW b57:SRP a16:RPSRPS
1 (a1b7)   2 ()   3 a4-b5=c4
"""
    reading = read_collection(text, form_of("pijersi", "pijersi"), load("pijersi").settle())
    first, second = entries(reading)
    assert first.moves == ("a4b5c4", "f4d5d4")
    assert (second.moves[:2], second.options) == (("(a1b7)", "()"), {"swap_phase": 1})
    assert second.tags["Setup"] == "random/symmetry"


def test_bad_games_are_named_with_line_move_and_position_and_good_ones_are_kept() -> None:
    text = (
        "1.a1b2 i5h5 2.a2b3 i6h6\n\n"  # good, line 1
        "1.a1b2 i5h5\n2.a2b3 i6h6\n3.a1a9 b3b4\n\n"  # unreadable, line 5
        '[Variant "nope"]\n1.a1b2\n\n'  # unknown, line 7
        "1.a1b2\ni5h5\na1b1\nb2b3\n\n"  # illegal, line 12
        "1.c3c4 g7g6 1-0\n\n"  # good, line 15
        '[Result "0-1"]\n' + text_427().replace('[Result "0-1"]', '[Result "1-0"]')
    )
    reading = read_collection(text, form_of("abalone", "aba-pro"), load("abalone").settle())
    assert [collected.line for collected in reading.games] == [1, 15]
    problems = [(problem.line, problem.ply) for problem in reading.problems]
    assert problems[:3] == [(5, 5), (7, 0), (12, 3)]
    assert "a9" in reading.problems[0].message
    assert "nope" in reading.problems[1].message
    start = Position.start(load("abalone").settle())
    assert reading.problems[0].position == str(start.play_all(["a1b2", "i5h5", "a2b3", "i6h6"]))
    assert reading.problems[2].position == str(start.play_all(["a1b2", "i5h5"]))
    assert "illegal move a1b1" in str(reading.problems[2])
    assert "claims 1-0" in reading.problems[3].message
    assert reading.problems[3].ply == 94


@pytest.mark.parametrize(
    ("family", "name", "text", "line", "ply"),
    [
        ("loa", "loa", "1. b1-b3 h4-f2\n2. d1-d1 a1-a2 *\n", 2, 3),
        ("loa", "loa", "1. b1-b3 h4-f2\n\n2. zz *\n", 3, 3),
        ("baroque", "display", "1. Pc2c4\n1... Pc7c5 2. Pc4c5 *\n", 2, 3),
        ("pijersi", "pijersi", "1 a4-b5=c4\n2 f4=d5-d4\n3 a1-a1\n", 3, 3),
        ("tablut", "tablut", "1. e2e4\n", 1, 1),
        ("tablut", "otn", "[variant:bell]\n\n1. a4-a3 e4-f4\n2. a3-a4 e9-e1\n", 4, 4),
    ],
)
def test_where_the_mistake_is_in_every_family(family: str, name: str, text: str, line: int, ply: int) -> None:
    found = read_collection(text, form_of(family, name), load(family).settle())
    assert not found.games
    (problem,) = found.problems
    assert (problem.line, problem.ply) == (line, ply), str(problem)
    assert problem.position


@pytest.mark.parametrize("text", ["", "\n \n", "{only a comment}\n"])
def test_an_empty_collection_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no game"):
        best_reading(text, load("abalone").settle(), load("abalone").formats)


def test_a_long_text_whose_later_games_are_of_another_notation_is_read_as_that() -> None:
    rules = load("abalone").settle()
    game = GameText(("a1b2", "i5h5", "a2b3"), "standard", tags={"Number": "1"})
    line, table = (form_of("abalone", name).write(game, rules) for name in ("aba-pro", "aba-pro-reversed"))
    reading = best_reading("\n".join([line] * 30), rules, rules.rules.formats)
    assert (reading.format, len(reading.games), reading.problems) == ("aba-pro", 30, [])
    mixed = "\n".join([line] * 30 + [table] * 40)
    alone = [read_parts(pieces(mixed, form, rules), form, rules) for form in rules.rules.formats]
    reading = best_reading(mixed, rules, rules.rules.formats)
    assert len(reading.problems) == min(len(other.problems) for other in alone)


def test_a_number_below_a_title_begins_no_game() -> None:
    moves = text_427().rpartition("]")[2].strip()
    text = f"Marguerite irlandaise\n427\n{moves}\n\nMarguerite belge\n\n1.a1b2 i5h5\n"
    (one, two) = entries(read_collection(text, form_of("abalone", "aba-pro"), load("abalone").settle()))
    assert (one.tags["Number"], one.variant, len(one.moves)) == ("427", "irish-daisy", 94)
    assert (two.variant, two.moves) == ("belgian-daisy", ("a1b2", "i5h5"))


# Keeping and searching


def test_game_427_is_found_by_everything_it_has(archive: Archive) -> None:
    rules = load("abalone").settle()
    (archived,) = entries(read_collection(text_427(), form_of("abalone", "aba-pro"), rules))
    others = entries(read_collection("1.a1b2 i5h5\n\n1.c3c4 g7g6\n", form_of("abalone", "aba-pro"), rules))
    assert archive.add([*others, archived]) == 3
    assert archive.add([archived]) == 0
    assert (archived.first, archived.second, archived.winner, archived.termination) == (
        "Turlututu",
        "picasso",
        "second",
        "ejections",
    )
    middle = Position.start(archived.ruleset()).play_all(archived.moves[:40])
    searches = [
        ArchiveSearch(query=ArchiveQuery(id=archived.id)),
        ArchiveSearch(query=ArchiveQuery(number="427")),
        ArchiveSearch(query=ArchiveQuery(family="abalone", variant="irish-daisy")),
        ArchiveSearch(query=ArchiveQuery(player="PICASSO")),
        ArchiveSearch(query=ArchiveQuery(first="turlu")),
        ArchiveSearch(query=ArchiveQuery(second="casso", result="second")),
        ArchiveSearch(first_moves=("e4e5", "e3e4")),
        ArchiveSearch(query=ArchiveQuery(source="file.txt"), key=key_of(middle.ruleset, middle.state)),
    ]
    for search in searches:
        assert archive.find(search) == [replace(archived, serial=3)], search
        assert archive.count(search) == 1
    nothing = [
        *(
            ArchiveSearch(query=ArchiveQuery(family="loa")),
            ArchiveSearch(query=ArchiveQuery(player="%")),
            ArchiveSearch(query=ArchiveQuery(first="picasso")),
            ArchiveSearch(first_moves=("e4e5", "e3e5")),
        ),
        *(ArchiveSearch(query=ArchiveQuery(result="first", number="427")), ArchiveSearch(first_moves=("e4e",))),
    ]
    assert [archive.count(search) for search in nothing] == [0] * len(nothing)
    assert [entry.number for entry in archive.find(ArchiveSearch())] == ["1", "2", "427"]
    assert [entry.number for entry in archive.find(ArchiveSearch(), limit=1, offset=1)] == ["2"]
    assert archive.sources() == [
        ArchiveSource("file.txt", "abalone", "irish-daisy", 1),
        ArchiveSource("file.txt", "abalone", "standard", 2),
    ]


@pytest.mark.parametrize("form", ["aba-pro", "aba-pro-table"])
def test_game_427_comes_back_as_it_went_in(archive: Archive, form: str) -> None:
    text = text_427(form)
    archive.add(entries(best_reading(text, load("abalone").settle(), load("abalone").formats)))
    (archived,) = archive.find(ArchiveSearch(query=ArchiveQuery(number="427")))
    assert to_text(archived) == text
    assert archived.format == form
    for other in load("abalone").formats:
        read = other.read(to_text(archived, other), load("abalone").settle())
        assert [list(game.moves) for game in read] == [GAME_427["moves"]]


def test_archived_games_are_records_that_the_rules_confirm(archive: Archive) -> None:
    family = "pijersi"
    for game in vectors(family)[:12]:
        ruleset = load(family).settle(game["variant"], game["options"])
        reading = read_collection(RECORD.write(game_text(game, ruleset), ruleset), RECORD, load(family).settle())
        archive.add(entries(reading))
    kept = archive.find(ArchiveSearch(query=ArchiveQuery(family=family)))
    assert len(kept) > 5
    for entry in kept:
        record = entry.record()
        verify(read_record(record.line()))
        assert record.moves == entry.moves


@pytest.mark.parametrize(("family", "name"), [("baroque", "coordinates"), ("tablut", "otn")])
def test_a_record_of_the_arena_is_written_in_a_notation_of_its_family(family: str, name: str) -> None:
    game = vectors(family)[0]
    ruleset = load(family).settle(game["variant"], game.get("options", {}))
    form = form_of(family, name)
    given = game_text(game, ruleset, First="one", Second="two")
    (collected,) = read_collection(form.write(given, ruleset), form, load(family).settle()).games
    record = to_archived(collected, "here", name).record()
    text = write_record(record, name)
    (again,) = read_collection(text, form, load(family).settle()).games
    assert again.game.moves == record.moves
    assert again.ruleset.variant == collected.ruleset.variant
    assert "one" in text
    assert record.id in text
    with pytest.raises(UnknownNameError):
        write_record(record, "chess")


@pytest.mark.parametrize("family", families())
def test_the_same_game_is_the_same_in_every_notation(family: str, archive: Archive) -> None:
    ruleset = load(family).settle()
    for game in vectors(family)[:3]:
        played = load(family).settle(game["variant"], game["options"])
        given = game_text(game, played, First="one", Second="two")
        ids = set()
        for form in (*load(family).formats, RECORD):
            (archived,) = entries(read_collection(form.write(given, played), form, ruleset))
            archive.add([archived])
            ids.add(archived.id)
        (kept,) = [match for match in archive.find(ArchiveSearch(query=ArchiveQuery(family=family))) if match.id in ids]
        numbered = game_text(game, played, First="one", Second="two", Number="17", Id="0123456789abcdef")
        (again,) = entries(read_collection(RECORD.write(numbered, played), RECORD, ruleset))
        assert (again.id, again.number) == (kept.id, "17")


def test_archive_export_writes_a_game_imported_as_a_record_as_text(
    tmp_path: Path, data_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    family = "abalone"
    game, data = vectors(family)[0], ["--data", str(data_folder)]
    again = ["--data", str(tmp_path / "again")]
    shutil.copytree(data_folder, tmp_path / "again")
    played = load(family).settle(game["variant"], game["options"])
    file = tmp_path / "games.ndjson"
    file.write_text(RECORD.write(game_text(game, played, First="one", Second="two", Number="17"), played))
    arena(capsys, "import", str(file), "--family", family, *data)
    text = arena(capsys, "export", *data)
    form = load(family).formats[0]
    (collected,) = read_collection(text, form, load(family).settle()).games
    assert list(collected.game.moves) == game["moves"]
    assert not text.startswith("{")
    file.write_text(text)
    assert "known already" in arena(capsys, "import", str(file), "--family", family, "--notation", form.name, *data)
    file.write_text(arena(capsys, "export", "-o", "ndjson", *data))
    assert "1 game imported" in arena(capsys, "import", str(file), "--family", family, *again)
    (listed,) = json.loads(arena(capsys, "search", "--json", *again))["games"]
    (other,) = json.loads(arena(capsys, "search", "--json", *data))["games"]
    assert (listed["id"], listed["number"]) == (other["id"], "17")


def test_players_of_tablut_are_named_by_what_they_do() -> None:
    text = "[attackers:Anna]\n[defenders:Bert]\n[variant:ashton]\n\n1. e4-f4\n"
    (one,) = entries(read_collection(text, form_of("tablut", "otn"), load("tablut").settle()))
    assert (one.variant, one.first, one.second) == ("ashton", "Bert", "Anna")


# The command


def arena(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert run(["archive", *words]) == code, capsys.readouterr().err
    return capsys.readouterr().out


def test_the_command_from_import_to_replay(
    tmp_path: Path, data_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file, data = tmp_path / "migs.txt", ["--data", str(data_folder)]
    file.write_text(text_427() + "\n1.a1b2 a1b2\n", encoding="utf-8")
    out = json.loads(arena(capsys, "import", str(file), "--family", "abalone", "--json", *data, code=1))
    (read,) = out["files"]
    assert (read["games"], read["new"], read["format"]) == (1, 1, "aba-pro")
    (bad,) = read["bad"]
    assert (bad["move"], bad["line"]) == (2, text_427().count("\n") + 2)
    assert " w " in bad["position"]
    again = arena(capsys, "import", str(file), "--family", "abalone", *data, code=1)
    assert "1 known already, 1 bad" in again
    assert "move 2: illegal move a1b2" in again
    result = json.loads(arena(capsys, "search", "--number", "427", "--json", *data))
    assert (result["total"], result["games"][0]["plies"]) == (1, 94)
    assert "Turlututu" in arena(capsys, "search", "--family", "abalone", "--moves", "E4-E5 e3e4", *data)
    assert arena(capsys, "export", "--number", "427", *data) == text_427()
    assert "migs.txt  abalone" in arena(capsys, "list", *data)
    assert "score 3-6" in arena(capsys, "show", "--number", "427", *data)
    exported = tmp_path / "games.json"
    for form in ("json", "ndjson"):
        arena(capsys, "export", "--number", "427", "-o", form, "--output-file", str(exported), *data)
        assert run(["replay", str(exported), "--verify"]) == 0
        assert "1 games verified, 0 wrong" in capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text_427("aba-pro-table").encode())))
    assert "0 games imported as aba-pro-table, 1 known" in arena(capsys, "import", "-", "--family", "abalone", *data)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["search", "--data", "nowhere"], 3, "no arena in"),
        (["import", "/no/such/file", "--family", "loa"], 3, "no such file"),
        (["import", __file__ + "c", "--family", "lao"], 2, "did you mean loa"),
        (["import", "EMPTY", "--family", "loa"], 2, "contains no game"),
        (["import", "EMPTY", "--family", "loa", "--notation", "otn"], 2, "unknown notation of loa 'otn'"),
        (["search", "--moves", "b1b3"], 2, "choose a family"),
    ],
)
def test_archive_commands_report_invalid_input(
    words: list[str], code: int, message: str, tmp_path: Path, data_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").write_text("\n")
    words = [str(tmp_path / "empty") if word == "EMPTY" else word for word in words]
    assert run(["archive", words[0], "--data", str(data_folder), *words[1:]]) == code
    assert message in capsys.readouterr().err


def test_help_needs_no_database() -> None:
    code = "import sys; from arena.cli.terminal.run import run; run(['archive', '--help']); assert 'sqlalchemy' not in "
    code += "sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_a_broken_text_is_an_error_of_the_collection_alone() -> None:
    with pytest.raises(ParseError):
        form_of("loa", "loa").read("1. b1-b3 {", load("loa").settle())
    found = read_collection("1. b1-b3 *\n\n1. b1-b3 {\n", form_of("loa", "loa"), load("loa").settle())
    assert (len(found.games), len(found.problems)) == (1, 1)


def test_one_json_document_is_read_as_its_lines_are() -> None:
    ruleset = load("loa").settle()
    lines = [
        RECORD.write(GameText(("b1b3",), "standard", {}, None, {"Number": str(number)}), ruleset) for number in (1, 2)
    ]
    games = [json.loads(line) for line in lines]
    expected = read_collection("\n".join(lines), RECORD, ruleset).games
    assert len(expected) == 2
    for document in ({"games": games}, games):
        for indent in (None, 1, 4):
            reading = best_reading(json.dumps(document, indent=indent), ruleset, (*ruleset.rules.formats, RECORD))
            assert [collected.game for collected in reading.games] == [collected.game for collected in expected]
            assert not reading.problems


@pytest.mark.parametrize("bad", [None, 3, 24])
def test_a_long_text_is_read_in_the_notation_that_reads_most_of_it(bad: int | None) -> None:
    ruleset = load("abalone").settle()
    games = [text_427("aba-pro") for _ in range(25)]
    if bad is not None:
        games[bad] = games[bad].replace("1. ", "1. a1z9 ", 1)
    text = "\n\n".join(games)
    every = [read_collection(text, form, ruleset) for form in ruleset.rules.formats]
    best = min(every, key=lambda reading: (len(reading.problems), -sum(len(game.game.moves) for game in reading.games)))
    chosen = best_reading(text, ruleset, ruleset.rules.formats)
    assert (chosen.format, len(chosen.games), chosen.problems) == (best.format, len(best.games), best.problems)


def test_import_counts_the_variations_that_became_comments(
    tmp_path: Path, data_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, data = tmp_path / "games.txt", ["--data", str(data_folder)]
    file.write_text("1. b1-b3 h4-f2 (1... h3-f3) (1... h3-f5) 2. d1xa4 *\n")
    told = arena(capsys, "import", str(file), "--family", "loa", *data)
    assert "1 variation could not be read: kept as comment\n" in told
    (report,) = json.loads(arena(capsys, "import", str(file), "--family", "loa", "--json", *data))["files"]
    assert report["unread"] == 1
