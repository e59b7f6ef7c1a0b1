"""Every command on terminals of all looks, at an empty and at a rich arena."""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from arena.cli.terminal.exit import Exit
from arena.cli.terminal.output import options_of
from arena.cli.terminal.table import Table
from arena.documents.table import Column
from tests.arena.cli.place import Look, Place, command_of, commands, empty, lines_of, rich
from tests.arena.cli.printed import fault_of, printed
from tests.conftest import EFFORT, INTERPRETED

__all__ = ["empty", "rich"]

LOOKS = {
    "light-80": Look(80, {"COLORFGBG": "0;15"}),
    "piped": Look(0),
    "dumb-120": Look(120, {"TERM": "dumb"}),
    "dark-120": Look(120, {"COLORFGBG": "15;0"}),
    "no-colour-80": Look(80, {"NO_COLOR": "1"}),
}
"""Of these an empty arena has the first, as has a command that takes seconds, and a rich one the first two. What
colours there are is one decision for all commands: the others are looked at where a board is shown, and by a release.
"""
DONE, NOT_FOUND = Exit.DONE, Exit.NOT_FOUND


@dataclass(frozen=True)
class Case:
    """A command line, those that must precede it each time, and how it ends at a rich and at an empty arena.

    `stdin` is a file that it reads. `until` is what is written when a command that does not end by itself is to be
    interrupted. A command that is `slow` is run in one look only. Those that serve until they are ended are asked for
    what they refuse: their own tests start them as programs.
    """

    line: str
    code: Exit = DONE
    empty: Exit | None = None
    before: tuple[str, ...] = ()
    stdin: str = "/dev/null"
    until: str = ""
    slow: bool = False


def of_rich(line: str, **more: Any) -> Case:
    """Return the case of a command that an empty arena has nothing for."""
    return Case(line, empty=NOT_FOUND, **more)


LATER_TIME = f"{datetime.now(UTC) + timedelta(days=30):%Y-%m-%dT20:00:00Z}"
CUP_HEAD, ENTRIES = 'family = "loa"\nformat = "swiss"\nrounds = 2\n', '[entries]\nbots = ["random", "greedy"]\n'
ATLAS = "atlas run {home}/plan.toml --out {home}/atlas-{n} --concurrency 1"
HOOK = "webhook add https://club.example/hook-{n}"
LATER = "tournament create {home}/later.toml"
CASES = (
    Case("rules list"),
    Case('rules moves loa --moves "b1b3 h3f5"'),
    Case("rules vectors {root}/tests/data/vectors/loa.json --only setups"),
    Case("rules convert loa --from loa --to record", stdin="{home}/games.txt"),
    Case("rules setup pijersi"),
    Case("rules conformance loa --positions 2", slow=True),
    Case("rules new hexes {home}/new-{n}"),
    Case("perft loa --depth 1 --divide"),
    Case("playouts loa --games 2"),
    Case("warmup loa --jobs 1", slow=True),
    Case("play one={bot} other={bot} --family loa --openings none --sandbox none", slow=True),
    Case("check /bin/true --family loa --sandbox none", Exit.FAILED, slow=True),
    Case("replay {home}/game.json"),
    Case("analyse {home}/game.json --nodes 1 --sandbox none", slow=True),
    Case("archive import {home}/games.txt --family loa --data {data}"),
    Case("archive list"),
    Case("archive search"),
    of_rich("archive show --number 427"),
    of_rich("archive export --number 427"),
    Case("archive index"),
    Case("explore loa"),
    Case("book make loa --plies 1 --count 2 --depth 0"),
    Case("book check {home}/loa.book --family loa"),
    Case("doctor", slow=True),
    Case("completion bash"),
    Case("init --data {home}/init-{n}", slow=True),
    Case("db upgrade"),
    Case("db check"),
    Case("db dump {home}/dump-{n}.zst"),
    Case("db load {home}/dump.zst --data {home}/load-{n}", slow=True),
    Case("db backup"),
    Case("db restore --data {home}/restore-{n} {home}/backup.sqlite3"),
    Case("user add user-{n}"),
    Case("user token zoe"),
    Case("user change zoe --revoke-tokens --role admin"),
    Case("user invite"),
    Case("user reset zoe"),
    Case("user tokens zoe"),
    Case("user revoke zoe --all", before=("user token zoe",)),
    Case("user list"),
    Case("user password", Exit.USAGE),
    Case("demo --data {home}/game.json", Exit.USAGE),
    Case("serve --data {home}/nowhere", NOT_FOUND),
    Case("referee --data {home}/nowhere", NOT_FOUND),
    Case("scheduler --init-tls {home}/tls-{n}", slow=True),
    Case("worker --scheduler nowhere", Exit.USAGE),
    Case("new-bot c loa {home}/bot-{n}"),
    Case(HOOK),
    Case("webhook list"),
    Case("webhook test 99", NOT_FOUND),
    of_rich("webhook log 1", before=(HOOK,)),
    Case("webhook remove 99", NOT_FOUND),
    Case("ratings rebuild"),
    Case("verify", Exit.FAILED, NOT_FOUND),
    Case("dump update"),
    Case("dump list"),
    Case("analysis fit loa", Exit.FAILED),
    Case("login --token {token}"),
    Case("logout --token {new_token}"),
    Case("bot submit {home}/bot --name bot-{n} --family loa"),
    Case("bot list --retired"),
    of_rich("bot show ada"),
    Case("bot retire bot-{n}", before=("bot submit {home}/bot --name bot-{n} --family loa",)),
    Case("bot quota"),
    Case("connect sample:random --name far-{n} --family loa", until="trying again", slow=True),
    Case("test begin 'ada v1' 'bob v1' --family loa", Exit.REFUSED, NOT_FOUND),
    of_rich("test list ada"),
    Case("test stop 9999", NOT_FOUND),
    Case("challenge greedy --bot ada --family loa", Exit.REFUSED, NOT_FOUND),
    Case(LATER),
    Case("tournament change {last} {home}/later.toml", before=(LATER,)),
    of_rich("tournament show 1"),
    Case("tournament extend {last} +2", before=(LATER,)),
    Case("tournament list"),
    Case("tournament watch {last}", before=(LATER, "tournament cancel {last}")),
    of_rich("tournament export 1"),
    Case("tournament start {last}", before=(LATER,)),
    Case("tournament pause {last}", before=(LATER,)),
    Case("tournament drain {last}", Exit.FAILED, before=(LATER,)),
    Case("tournament resume {last}", before=(LATER, "tournament pause {last}")),
    Case("tournament cancel {last}", before=(LATER,)),
    Case("tournament enter {last} random", before=(LATER, "tournament withdraw {last} random")),
    Case("tournament withdraw {last} random", before=(LATER,)),
    Case("tournament priority {last} 5", before=(LATER,)),
    Case("schedule list"),
    of_rich("schedule show 1"),
    of_rich("schedule preview 1"),
    of_rich("schedule enable 1"),
    of_rich("schedule disable 1"),
    of_rich("schedule change 1 {home}/weekly.toml"),
    Case("schedule delete 99", NOT_FOUND),
    Case("leaderboard loa"),
    of_rich("game show {game}"),
    of_rich("game watch {game}"),
    of_rich("game download {game}"),
    Case("game export"),
    of_rich("logs {game} --side first"),
    Case(ATLAS, slow=True),
    Case("atlas report {home}/atlas-{n}", before=(ATLAS,), slow=True),
    Case("atlas show loa"),
    Case("tune {bot} --family loa --parameter Skill:0:10:4:3 --games 2 --sandbox none", Exit.USAGE, slow=True),
    Case("datagen --family loa --positions 2 --out {home}/games.txt", Exit.USAGE),
    Case("train --family loa {home} --output-file {home}/net.json", Exit.USAGE),
    Case('solve loa --position "{lost}" --in 2'),
    Case("problems find loa --arena --games 1", slow=True),
    Case("problems add loa --position '{lost}' --in 2", slow=True),
    Case("problems list"),
    of_rich("problems show 1"),
    of_rich("problems solve 1 --solution"),
    of_rich("problems month 1"),
    Case("problems remove 99", NOT_FOUND),
)
CASES_HERE = [case for case in CASES if command_of(case.line) in commands()]
"""The environment may turn features off."""
NUMBERS = itertools.count(1)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, rich: Place) -> Path:
    """Files that commands read."""
    assert rich.stage
    place = tmp_path_factory.mktemp("home")
    (place / "later.toml").write_text(f'name = "Later"\n{CUP_HEAD}start_time = {LATER_TIME}\n{ENTRIES}')
    (place / "weekly.toml").write_text(f'name = "Weekly"\n{CUP_HEAD}{ENTRIES}[schedule]\ncron = "0 20 * * 5"\n')
    (place / "plan.toml").write_text('family = "loa"\nstarts = ["standard"]\ngames = 1\nnodes = [2]\nmax_plies = 2\n')
    (place / "loa.book").write_text("b1b3\nb1h1\n")
    (place / "bot").write_text("#!/bin/sh\nexec cat\n")
    record = rich.store.games.record(rich.stage.finished["loa"])
    record = replace(record, moves=record.moves[:2], plies=record.plies[:2])
    (place / "game.json").write_text(json.dumps(record.as_json()))
    (place / "games.txt").write_text("b1b3 h3f5\n")
    assert rich.run(f"db dump {place}/dump.zst") == DONE
    assert rich.run("db backup") == DONE
    (kept,) = (rich.folder / "backups").iterdir()
    kept.rename(place / "backup.sqlite3")
    return place


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> list[Table]:
    """The tables that commands print."""
    printed: list[Table] = []
    build = Table.of

    def keep(columns: Sequence[Column[Any]], rows: Any) -> Table:
        printed.append(build(columns, rows))
        return printed[-1]

    monkeypatch.setattr(Table, "of", keep)
    return printed


def filled(line: str, place: Place, home: Path, number: int) -> str:
    """Return a command line with the values of an arena."""
    values = {
        "home": home,
        "data": place.folder,
        "root": Path(__file__).parents[3],
        "n": f"{number}",
        "bot": f"'{sys.executable} -S -E {Path(__file__).parents[2] / 'referee' / 'scripted.py'} --clocks resign'",
        "token": place.token,
        "game": place.stage.finished["loa"] if place.stage else "0" * 16,
        "lost": "8/2w2w2/8/3bb3/2b1w3/8/3b4/8 b - 1",
    }
    if "{last}" in line:
        values["last"] = place.store.tournaments.page().items[0].id
    if "{new_token}" in line:
        values["new_token"] = place.server.person("yan", "admin")
    return line.format(**values)


def check(case: Case, look: Look, shown: str, tables: Sequence[Table]) -> None:
    """Check what a command wrote."""
    lines = lines_of(shown)
    assert "Traceback" not in shown
    assert any(lines) or " export" in case.line, "nothing is written"
    if look.columns:
        wide = [line for line in lines if cell_len(line) > look.columns]
        assert not [line for line in wide if " " in line.strip() and not line.startswith("{")], wide
    codes = set(re.findall(r"\x1b\[[0-9;?]*[A-Za-z]", shown))
    if not look.columns or "TERM" in look.environment:
        assert not codes
    elif not look.has_colour:
        assert codes <= {"\x1b[K"}
    for table in tables:
        rows = [list(column) for column in zip(*table.rows, strict=True)] or [["-"]] * len(table.columns)
        titles = [
            column.title
            for column, cells in zip(table.columns, rows, strict=True)
            if not look.columns or (not column.drop and any(cells))
        ]
        assert any(all(title in line for title in titles) for line in lines), titles


def check_commands(shown: str, words: Sequence[str]) -> None:
    """Check that the parser takes the commands in an output, and that they name the arena of the one that ran."""
    for line in printed(shown):
        assert not fault_of(line)
        for place in ("--server", "--data"):
            if place in words and place in options_of(line.split()):
                assert place in line.split() or "--help" in line.split(), line


def leaves_empty(case: Case) -> bool:
    """Return whether a command uses an arena, and leaves an empty one as it is."""
    uses_one = bool({"--server", "--data"} & {*commands()[command_of(case.line)]._option_string_actions})
    changes = "{n}" in case.line or case.line == LATER or re.search(" (?:import|add) ", case.line)
    return uses_one and not case.before and not changes


@pytest.mark.parametrize(
    ("case", "arena"),
    [
        pytest.param(case, arena, id=f"{arena}-{command_of(case.line)}")
        for case in CASES_HERE
        for arena in ("rich", "empty")
        if arena == "rich" or leaves_empty(case)
    ],
)
def test_command_is_legible_on_every_terminal(
    case: Case,
    arena: str,
    home: Path,
    tables: list[Table],
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place: Place = request.getfixturevalue(arena)
    wanted = case.code if arena == "rich" or case.empty is None else case.empty
    for name, value in INTERPRETED.items():
        monkeypatch.setenv(name, value)
    count = 1 if case.slow or arena == "empty" else 2 if EFFORT == 1 else None
    for name, look in itertools.islice(LOOKS.items(), count):
        number = next(NUMBERS)
        for line in case.before:
            assert place.run(filled(line, place, home, number)) == DONE
        tables.clear()
        line = filled(case.line, place, home, number)
        code, shown = place.screen(line, look, stdin=filled(case.stdin, place, home, number), until=case.until)
        print(f"--- {line}, {name}: {code}\n{shown}")
        assert code == wanted
        check(case, look, shown, tables)
        check_commands(shown, place.words(line))


WITHOUT_ARENA = {
    *("analyse", "book make", "doctor", "scheduler", "worker"),  # need none
    *("db load", "db restore", "demo", "init"),  # make one
}


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in CASES_HERE
        if command_of(case.line) not in WITHOUT_ARENA
        and "--data" in commands()[command_of(case.line)]._option_string_actions
    ],
    ids=lambda case: command_of(case.line),
)
def test_command_for_a_folder_of_no_arena_names_the_one_that_makes_it(
    case: Case, rich: Place, home: Path, tmp_path: Path
) -> None:
    nowhere = tmp_path / "nowhere"
    line = filled(case.line.replace("{last}", "1"), rich, home, next(NUMBERS)).partition(" --data")[0]
    code, shown = rich.screen(f"{line} --data {nowhere}", LOOKS["piped"])
    assert code == NOT_FOUND
    assert f"no arena in {nowhere}; `arena init --data {nowhere}` makes one" in shown
    assert not nowhere.exists()


@pytest.mark.parametrize("look", ["light-80", "dumb-120", "dark-120", "no-colour-80"])
def test_rows_of_a_board_are_not_broken(rich: Place, home: Path, look: str) -> None:
    _, shown = rich.screen(f"replay {home}/game.json", LOOKS[look])
    check(Case("replay"), LOOKS[look], shown, ())
    lines = lines_of(shown)
    rows = [line for line in lines if re.fullmatch(r"[1-8]  (?:[.bw] ){7}[.bw]", line.rstrip())]
    assert len(rows) == 8, shown


def test_every_command_has_a_case() -> None:
    assert {command_of(case.line) for case in CASES_HERE} == set(commands())
