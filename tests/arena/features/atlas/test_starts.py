"""What pages, tournaments and books take from the figures of starts that come with the program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.__main__ import main
from arena.features.atlas import plan as plan_module
from arena.features.atlas.plan import read_plan, starts_of
from arena.features.atlas.report import to_csv
from referee.game import starts as published
from referee.game.openings import file_openings
from referee.rules import families, load
from referee.tournament import openings
from referee.tournament.document import read
from referee.tournament.part import SettingsError
from tests.arena.features.atlas.test_report import thrown

FAIR = ("pijersi-8100#1", "pijersi-8100#400")
TRUTH = {FAIR[0]: 0.5, FAIR[1]: 0.51, "pijersi-8100#800": 0.75, "pijersi-8100#1200": 0.3, "standard": 0.64}


@pytest.fixture
def atlas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An atlas of a few starts of Pijersi, of many games."""
    (tmp_path / "pijersi.csv").write_text(to_csv(thrown(tmp_path / "run", TRUTH, 3000)))
    monkeypatch.setattr(published, "_DATA", tmp_path)
    published.published.cache_clear()
    openings.draw.cache_clear()
    yield tmp_path
    published.published.cache_clear()
    openings.draw.cache_clear()


@pytest.mark.usefixtures("atlas")
def test_fair_starts_are_those_that_are_surely_fair() -> None:
    assert [one.variant for one in published.fair("pijersi", 0.05)] == list(FAIR)
    assert published.fair("pijersi", 0.001) == []
    assert len(published.fair("pijersi", 0.5)) == len(TRUTH)
    assert published.fair("loa", 0.5) == []


@pytest.mark.usefixtures("atlas")
def test_handicaps_are_starts_worth_so_much() -> None:
    found = {step: one.variant for step, one in published.handicaps("pijersi")}
    assert found == {150: "standard", 200: "pijersi-8100#1200", 300: "pijersi-8100#800"}
    assert published.handicaps("loa") == []


def document(**more: object) -> object:
    return read({"name": "x", "family": "pijersi", "variant": "standard", "games": 8, "entries": {"all": True}, **more})


@pytest.mark.usefixtures("atlas")
def test_tournaments_take_fair_starts() -> None:
    drawn = openings.draw(document(openings="fair:0.05"), 4)  # type: ignore[arg-type]
    assert {opening.variant for opening in drawn} == set(FAIR)
    assert drawn == openings.draw(document(openings="fair:0.05"), 4)  # type: ignore[arg-type]
    assert drawn[:2] == drawn[2:]
    for source, problem in (
        ("fair:0.001", "an advantage of at most 0.001"),
        ("fair:much", "fair:BOUND"),
        ("fair:0.9", "fair:BOUND"),
    ):
        with pytest.raises(SettingsError, match=problem) as caught:
            openings.check(document(openings=source))  # type: ignore[arg-type]
        assert caught.value.field == "openings"


@pytest.mark.usefixtures("atlas")
def test_books_take_fair_starts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["book", "make", "pijersi", "--fair", "0.2", "--count", "9", "--seed", "2"]) == 0
    text = capsys.readouterr().out
    ruleset = load("pijersi").settle()
    book = file_openings(ruleset, text, 3)
    assert len({opening.position or opening.variant for opening in book}) == 3, "standard is there as a position"
    assert "3000 games" in text
    assert main(["book", "make", "pijersi", "--fair", "0.0001"]) == 2
    assert main(["atlas", "show", "pijersi"]) == 0
    assert "standard" in capsys.readouterr().out
    assert main(["atlas", "show", "loa"]) == 3


def test_the_atlases_of_the_program_are_whole() -> None:
    files = sorted(published._DATA.glob("*.csv"))
    assert sum(file.stat().st_size for file in files) < 2_000_000
    for family in (file.stem for file in files):
        rules, starts = load(family), published.published(family)
        assert starts
        assert "CC0" in published.remarks(family)
        for start in starts[:: max(1, len(starts) // 20)]:
            assert start.games == start.first + start.draw + start.second
            assert start.low <= start.advantage <= start.high
            assert start.shrunk_low <= start.shrunk <= start.shrunk_high
            name = start.variant.partition("+")[0]
            assert rules.settle(name).variant.name == name


@pytest.mark.parametrize("family", families())
def test_every_family_has_a_plan(family: str) -> None:
    plan = read_plan((Path(plan_module.__file__).parent / "plans" / f"{family}.toml").read_text())
    assert plan.family == family
    assert len(plan.nodes) == 3
    quick = plan if family != "pijersi" else plan.model_copy(update={"starts": plan.starts[:2]})
    assert len(starts_of(quick)) > 4


@pytest.mark.parametrize("family", families())
def test_fair_starts_exist_within_the_bound_that_the_page_names(family: str) -> None:
    ruleset = load(family).settle()
    bound = published.narrowest_bound(ruleset)
    assert bound
    assert bound >= 0.05
    assert published.fair_openings(ruleset, bound, seed=1)
    if bound > 0.05:
        with pytest.raises(published.NoFairStartError) as error:
            published.fair_openings(ruleset, bound - 0.01, seed=1)
        assert error.value.hint == f"choose a wider bound, such as {bound:g}"
