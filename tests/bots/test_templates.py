"""The bots that `arena new-bot` writes: fit by their check, whole games in every family, nonsense survived."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import pytest

from arena.submission.template import LANGUAGES
from referee.bot.argument import read_bot
from referee.game.spec import BotLimits, GameSpec, PlannedGame, read_time_control
from referee.play.play import play
from referee.play.roster import Roster
from referee.rules import families, load
from referee.rules.position import Position
from referee.sandbox import Sandbox
from tests.bots.compilers import build, need, write_template
from tests.bots.driver import COLD_S, Driver
from tests.conftest import INTERPRETED
from tests.program import arena

FAMILY_OF = dict(zip(LANGUAGES, cycle(families()), strict=False))
"""A family for the check of each language, so that all occur."""


@pytest.fixture(scope="module", params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    """A language whose compiler is here."""
    name: str = request.param
    need(name)
    return name


@pytest.fixture(scope="module")
def folder(language: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built bot."""
    place = tmp_path_factory.mktemp("template") / language
    write_template(language, FAMILY_OF[language], place)
    build(place)
    return place


@pytest.fixture
def bot(folder: Path, language: str, interpreted: None) -> Iterator[Driver]:
    with Driver(read_bot(str(folder), FAMILY_OF[language]).command, folder) as driver:
        yield driver


def test_template_passes_its_own_test(folder: Path, language: str) -> None:
    makefile = (folder / "Makefile").read_text(encoding="utf-8")
    assert "\nARENA ?= arena\n" in makefile
    (line,) = re.findall(r"^\t\$\(ARENA\) (.*)$", makefile, re.MULTILINE)
    words = shlex.split(line.replace("$(FAMILY)", FAMILY_OF[language]))
    done = arena([*words, "--transcript"], INTERPRETED, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fit to play" in done.stdout
    lists = [sent for sent in done.stdout.splitlines() if sent.strip().startswith("> legal ")]
    assert bool(lists) == (language != "python"), "only the SDK has the rules"
    assert all(len(sent) <= 130 for sent in lists)


def test_template_plays_whole_games_of_any_family(folder: Path, language: str, interpreted: None) -> None:
    """Only the bot with the SDK has the rules; the others know no families."""
    with Roster(Sandbox("none")) as roster:
        for family in families() if language == "python" else families()[:1]:
            rules, bot = load(family), read_bot(str(folder), family)
            spec = GameSpec(
                family,
                rules.variants[0].name,
                bot,
                bot,
                time=read_time_control("nodes:9"),
                options={option.name: 60 for option in rules.options if option.name == "max_plies"},
                limits=BotLimits(start_ms=120_000, ready_ms=120_000),
            )
            record = play(PlannedGame.of(spec), roster)
            assert (record.kind, record.anomalies) == ("rules", (0, 0)), record.detail
            assert len(record.moves) > 5


def test_template_moves_in_any_position(bot: Driver, language: str) -> None:
    bot.shake_hands()
    position = Position.start(load(FAMILY_OF[language]).settle())
    for _ in range(3):
        bot.send(f"position fen {position}", f"legal {' '.join(position.texts)}", "go movetime 1000")
        move = bot.expect("bestmove ").split()[1]
        assert move in position.texts
        position = position.play(move)
    assert bot.leave() == 0


def test_template_survives_nonsense(bot: Driver) -> None:
    bot.send("ugi", "", "hello", " ", "setoption", "stop", "go", "x" * 100_000, "isready")
    bot.expect("readyok", COLD_S)
    assert bot.leave() == 0


def test_template_ends_with_its_input(bot: Driver) -> None:
    bot.stdin.close()
    assert bot.process.wait(COLD_S) == 0
