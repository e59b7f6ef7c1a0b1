"""Every command that messages, pages and documents show is run: by a guide, by the test of each command, or here.

`shown_commands.txt` has those that are run here, in sessions. Below a command stand the one that is run (`=`) where a
reader replaces words, commands before it (`<`), and how it ends (`!`) unless well. Its first sections are the commands
that cannot be run here, and why.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from arena.cli.terminal.exit import Exit
from arena.submission.template import template_files
from referee.rules import load
from referee.rules.rules import GameText
from tests.arena.cli.place import Look, Place, rich
from tests.arena.cli.printed import alone, in_document, is_whole, printed
from tests.arena.cli.test_every_command import CASES, CUP_HEAD, ENTRIES, LATER_TIME
from tests.arena.cli.test_printed_commands import DOCS, PAGES, SOURCES, texts
from tests.arena.pages.stage import random_moves
from tests.conftest import INTERPRETED
from tests.test_guides import GUIDES, blocks
from tests.with_features import commands_off

__all__ = ["rich"]

TEMPLATES = sorted((DOCS.parent / "arena").rglob("templates/**/*.html"))
README = DOCS.parent / "README.md"
OTHER_AUTHORS = DOCS / "how-to" / "play-public-engines.md"
"""A page of programs of other authors, which are not here: its commands are only parsed."""
SMALL = (
    (r"sample:\w+(;option\.\w+=\w+)*", "{bot}"),
    (r"--tc (\d+\+[\d.]+|nodes:\d+)", "--tc nodes:1"),
    (r"--(games|positions) \d+", r"--\1 2"),
    (r"--nodes \d+", "--nodes 1"),
    (r"--openings random\S+", "--openings none"),
    (r"--sprt \S+|--sandbox \S+|--watch", ""),
    (r"--config /etc/arena/arena.toml|--data (data|league|DIR)\b", "--data {data}"),
    (r"/backup/", "{home}/"),
)
"""What is less here: opponents that resign, few nodes, two games, no sandbox, nobody who waits for a referee."""
OPTIONS = (
    r"option name Mobility type spin default 30 min 0 max 100\noption name Centre type spin default 120 min 0 max 400"
)
"""Those of a bot that commands tune."""
WITHOUT_SANDBOX = ("play", "check")


@dataclass
class Shown:
    """A command that is shown, the one that is run, those before it, and how it ends."""

    line: str
    here: str
    before: list[str] = field(default_factory=list)
    code: Exit = Exit.DONE


def sections() -> dict[str, list[Shown]]:
    """Read the sections of the file."""
    parts: dict[str, list[Shown]] = {}
    for line in Path(__file__).with_name("shown_commands.txt").read_text(encoding="utf-8").splitlines():
        mark, words = line[:4], line[4:]
        if line.startswith("# "):
            commands = parts.setdefault(line[2:], [])
        elif mark == "  = ":
            commands[-1].here = words
        elif mark == "  < ":
            commands[-1].before.append(words)
        elif mark == "  ! ":
            commands[-1].code = Exit[words]
        elif line:
            commands.append(Shown(line, line))
    return parts


SECTIONS = sections()
SESSIONS = [name for name in SECTIONS if not name.startswith("elsewhere: ")]


def executed() -> Iterator[str]:
    """Yield the commands that guides, README and the test of every command run."""
    yield from (case.line for case in CASES)
    for guide in GUIDES:
        yield from in_blocks("".join(text for kind, _, text in blocks(guide.page) if kind == "sh"))
    yield from in_blocks("".join(re.findall(r"^```sh\n(.*?)^```$", README.read_text(encoding="utf-8"), re.M | re.S)))


def in_blocks(text: str) -> list[str]:
    """Return the commands of blocks of a document."""
    return in_document(f"```sh\n{text}```\n")


def shown() -> Iterator[tuple[str, str]]:
    """Yield the commands that are shown, and the file in which each stands."""
    for path in SOURCES:
        yield from ((line, path.name) for text in texts(path) for line in printed(text))
    for path in TEMPLATES:
        named = re.findall(r"<code>arena ([a-z-][^<]*)</code>", path.read_text(encoding="utf-8"))
        yield from ((line.replace("{{ family }}", "loa"), path.name) for line in named)
    for path in PAGES:
        if path != OTHER_AUTHORS:
            yield from ((line, path.name) for line in in_document(path.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, rich: Place) -> Path:
    """Return a folder with the files that commands read."""
    assert rich.stage
    place = tmp_path_factory.mktemp("home")
    place.chmod(0o755)
    bot = template_files("python-plain", "loa")["my_bot.py"].decode().replace(r"\nugiok", rf"\n{OPTIONS}\nugiok")
    programs = dict.fromkeys(("mybot", "mybot-new", "old", "my_bot.py", "searcher.py", "adapter.py", "engine"), bot)
    programs["program"] = "#!/bin/sh\nread position; read moves\nset -- $moves\necho $1\n"
    for name, text in programs.items():
        (place / name).write_text(text)
        (place / name).chmod(0o755)
    later = f'name = "Later"\n{CUP_HEAD}start_time = {LATER_TIME}\n{ENTRIES}'
    bots = 'time_control = "nodes:1"\n[entries]\nbots = ["./mybot", "b=./old"]\n[adjudication]\nmax_plies = 2\n'
    record = rich.store.games.record(rich.stage.finished["loa"])
    line = json.dumps(replace(record, moves=record.moves[:2], plies=record.plies[:2]).as_json())
    files = {
        "first.toml": later,
        "later.toml": later,
        "match.toml": f'name = "First"\n{CUP_HEAD}{bots}',
        "plan.toml": 'family = "loa"\nstarts = ["standard"]\ngames = 1\nnodes = [2]\nmax_plies = 2\n',
        "game.json": line,
        "games.ndjson": f"{line}\n" * 3,
        "final.ndjson": f"{line}\n",
    }
    files |= {name: text for kind, name, text in blocks("how-to/schedule-tournaments.md") if kind == "toml"}
    rules = load("tablut").settle()
    (notation,) = (form for form in rules.rules.formats if form.name == "otn")
    files["parties.txt"] = notation.write(GameText(tuple(random_moves(rules, 6, seed=1))), rules)
    for name, text in files.items():
        (place / name).write_text(text)
    return place


def filled(line: str, place: Place, home: Path) -> str:
    """Return a command line as it is run here."""
    for pattern, instead in SMALL:
        line = re.sub(pattern, instead, line)
    if line.split()[0] in WITHOUT_SANDBOX:
        line = f"{line} --sandbox none"
    scripted = DOCS.parent / "tests" / "referee" / "scripted.py"
    values = {"home": f"{home}", "data": f"{place.folder}"}
    values["bot"] = f"'{sys.executable} -S -E {scripted} --clocks resign'"
    values["last"] = f"{max(item.id for item in place.store.tournaments.page().items)}"
    return re.sub(r"\{(\w+)\}", lambda name: values[name[1]], line)


@pytest.mark.parametrize("session", SESSIONS)
def test_shown_command_runs(session: str, home: Path, rich: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    for name, value in INTERPRETED.items():
        monkeypatch.setenv(name, value)
    faults = []
    for command in SECTIONS[session]:
        if command.line.split()[0] in commands_off():
            continue
        for before in command.before:
            assert rich.run(filled(before, rich, home)) == Exit.DONE
        line = filled(command.here, rich, home)
        code, text = rich.screen(line, Look(0))
        print(f"--- {line}: {code}\n{text}")
        if code != command.code or "Traceback" in text:
            faults.append(f"arena {line}: exit code {code}\n{text}")
    assert not faults, "\n".join(faults)


def test_every_shown_command_is_run() -> None:
    lines = {alone(line): place for line, place in shown()}
    whole = {line: place for line, place in lines.items() if is_whole(line) and line.split()[0] not in commands_off()}
    ours = {command.line for commands in SECTIONS.values() for command in commands}
    known = {alone(line) for line in executed()} | ours
    assert {line: place for line, place in whole.items() if line not in known} == {}
    assert not sorted(ours - lines.keys()), "these are no longer shown"
