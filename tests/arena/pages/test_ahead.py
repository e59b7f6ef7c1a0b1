"""People enter their next move in Chromium while the bot thinks: by mouse, finger, keyboard and text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from arena.coordinator import human_games
from arena.store import Store
from referee.rules import load
from referee.rules.move_input import LegalMove, legal_moves
from referee.rules.position import Position
from tests.arena.coordinator.humans import PonderingBot
from tests.arena.pages.conftest import window
from tests.arena.pages.test_free_board import place_of, type_move
from tests.arena.pages.test_play import begun, decisive, open_server
from tests.arena.pages.test_viewer import reads

INVITATION = "You may already enter your next move."

LATE_PREVIEW = """
const json = Response.prototype.json;
Response.prototype.json = async function () {
  const answer = await json.call(this);
  while (this.url.includes("&move=") && document.getElementById("last").textContent === "0") {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return answer;
};
"""
"""The picture of the sent move is read only after the move itself has come."""


class Seat:
    """A person's game in a window. They have moved, and the bot thinks."""

    def __init__(self, page: Any, chart: Any, at: Position) -> None:
        self.page, self.chart, self.at = page, chart, at
        """The position after the bot's answer."""

    def click(self, *cells: str, **how: Any) -> None:
        for cell in cells:
            self.page.mouse.click(*place_of(self.page, self.chart, cell), **how)

    def drag(self, start: str, end: str) -> None:
        self.page.mouse.move(*place_of(self.page, self.chart, start))
        self.page.mouse.down()
        self.page.mouse.move(*place_of(self.page, self.chart, end), steps=4)
        self.page.mouse.up()

    def says(self, words: str) -> None:
        reads(self.page, "#entry p", words)

    def is_planned(self, *cells: str) -> None:
        """Check that a move is marked on the board and told by voice."""
        words = f"{' '.join(cells)}: played as soon as the bot has answered"
        self.says(words)
        reads(self.page, "#spoken", words)
        assert self.page.locator(".ahead .picked").count() == len(cells)

    def pair(self) -> tuple[LegalMove, tuple[str, str]]:
        """Return a move that is decided by two cells, with them."""
        moves = legal_moves(self.at)
        return next(
            (move, (way[0], way[1]))
            for move in moves
            for way in move.ways
            if len(way) > 1 and len(begun(way[:2], moves)) == 1 and len(decisive(self.chart, self.at, way, moves)) == 2
        )


@pytest.fixture
def store(sqlite_store: Store) -> Store:
    return sqlite_store


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(human_games, "POLL_INTERVAL_S", 0.05)


@contextmanager
def _seat(
    browser: Any,
    store: Store,
    folder: Path,
    family: str = "pijersi",
    script: str = "",
) -> Iterator[Seat]:
    rules = load(family)
    store.samples.ensure({"first": "bots.first"}, {family: [variant.name for variant in rules.variants]})
    with window(browser) as page, open_server(store, folder, PonderingBot) as server:
        page.add_init_script(script)
        page.goto(f"{server.url}/play?family={family}")
        page.click("text=Play now")
        page.wait_for_selector(".hit", state="attached")
        chart = server.get(f"/{family}/board/scenes.json").json["chart"]
        start = Position.start(rules.settle())
        type_move(page, start.texts[0])
        after = start.play(start.texts[0])
        try:
            reads(page, "#turn", "The bot is thinking…")
            reads(page, "#entry p", INVITATION)
            yield Seat(page, chart, after.play(after.texts[0]))
        finally:
            for _ in range(3):  # the game ends only after the bot has answered
                PonderingBot.answer()
    PonderingBot.forget()


def test_a_move_entered_ahead_is_played_with_the_answer(browser: Any, store: Store, tmp_path: Path) -> None:
    with _seat(browser, store, tmp_path, "abalone") as seat:
        move, cells = seat.pair()
        seat.click(*cells)
        seat.is_planned(*cells)
        assert seat.page.inner_text("#last") == "1"
        PonderingBot.answer()
        reads(seat.page, "#last", "3")
        assert seat.page.inner_text("#moves tr:nth-child(2) td:nth-child(2)").startswith(move.shown)


@pytest.mark.parametrize("is_dragged", [True, False], ids=["dragged", "written"])
def test_a_move_is_entered_ahead(is_dragged: bool, browser: Any, store: Store, tmp_path: Path) -> None:
    with _seat(browser, store, tmp_path, "loa") as seat:
        move, (start, end) = seat.pair()
        if is_dragged:
            seat.drag(start, end)
            seat.is_planned(start, end)
        else:
            type_move(seat.page, move.move)
            seat.says(f"{move.move}: played as soon as the bot has answered")
        PonderingBot.answer()
        reads(seat.page, "#last", "3")
        assert seat.page.inner_text("#moves tr:nth-child(2) td:nth-child(2)").startswith(move.shown)


def test_a_move_entered_ahead_is_cancelled(browser: Any, store: Store, tmp_path: Path) -> None:
    with _seat(browser, store, tmp_path) as seat:
        for cancel in (
            lambda: seat.page.keyboard.press("Escape"),
            lambda: seat.click("d4", button="right"),
            lambda: seat.click("e5"),
            lambda: seat.page.click("[aria-label='Undo selection']"),
        ):
            seat.click("b4", "c4")
            seat.is_planned("b4", "c4")
            cancel()
            seat.says(INVITATION)
            assert seat.page.locator(".picked, .sketch *").count() == 0
        seat.click("e5")  # nobody's cell
        seat.says("The bot is thinking…")
        type_move(seat.page, "nonsense")
        seat.page.keyboard.press("Escape")
        PonderingBot.answer()
        reads(seat.page, "#last", "2")
        seat.says("Select a cell, or drag a piece.")


def test_two_cells_that_leave_a_choice_become_the_selection(browser: Any, store: Store, tmp_path: Path) -> None:
    with _seat(browser, store, tmp_path) as seat:
        seat.click("b4", "c4")
        seat.is_planned("b4", "c4")
        PonderingBot.answer()
        reads(seat.page, "#last", "2")
        choice = seat.page.locator("#entry button.main")
        choice.first.wait_for()
        assert choice.count() == 2
        assert "choose:" in seat.page.inner_text("#spoken")
        choice.first.click()
        reads(seat.page, "#last", "3")


def test_what_is_not_possible_after_the_answer_is_dropped(browser: Any, store: Store, tmp_path: Path) -> None:
    with _seat(browser, store, tmp_path) as seat:
        seat.click("a2", "e5")
        seat.is_planned("a2", "e5")
        PonderingBot.answer()
        words = "a2 e5 is not possible now: choose another move."
        seat.says(words)
        assert words in seat.page.inner_text("#spoken")
        assert seat.page.locator("#entry .quiet").count() == 1
        seat.click("b4", "c4")
        seat.page.click("#entry button.main >> nth=0")
        reads(seat.page, "#last", "3")


def test_a_written_move_that_is_refused_returns_to_its_field(browser: Any, store: Store, tmp_path: Path) -> None:
    with _seat(browser, store, tmp_path) as seat:
        type_move(seat.page, "a2-e5")
        seat.says("a2-e5: played as soon as the bot has answered")
        PonderingBot.answer()
        seat.page.wait_for_selector("#problem:not([hidden])")
        assert seat.page.input_value("#write input[name=move]") == "a2-e5"


def test_late_preview_of_a_move_does_not_replace_the_move(browser: Any, store: Store, tmp_path: Path) -> None:
    with _seat(browser, store, tmp_path, script=LATE_PREVIEW) as seat:
        seat.page.evaluate("new Promise((resolve) => setTimeout(resolve, 100))")
        seat.says(INVITATION)
        assert seat.page.locator("#frame svg.pending").count() == 0


def test_whoever_confirms_moves_enters_none_ahead(browser: Any, store: Store, tmp_path: Path) -> None:
    with _seat(browser, store, tmp_path) as seat:
        seat.page.click("[data-go=display]")
        seat.page.check("[data-setting=confirm]")
        seat.page.click("#display button")
        seat.page.reload()
        seat.page.wait_for_selector("#viewer[data-ready=yes]", state="attached")  # before that, no click is heard
        reads(seat.page, "#turn", "The bot is thinking…")
        seat.click("b4")
        reads(seat.page, "#entry .refusal", "The bot is thinking…")
        assert seat.page.locator(".early").count() == 0
