"""People play a bot in Chromium: whole games by mouse, keyboard and touch, and through a restart."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from arena.cluster.spool import Spool
from arena.coordinator import human_games
from arena.coordinator.background import Conditions, OutageLog
from arena.coordinator.human_games import HumanGames
from arena.coordinator.leadership import LEASE
from arena.documents.human_game import OpponentItem
from arena.store import Store
from referee.rules import load
from referee.rules.move_input import LegalMove, legal_moves
from referee.rules.position import Position
from tests.arena.api.server import Server, settings_in
from tests.arena.coordinator.humans import InstantBot, OfferingBot
from tests.arena.pages.conftest import window
from tests.arena.pages.test_free_board import place_of, type_move
from tests.arena.pages.test_viewer import reads
from tests.conftest import EFFORT

WON = (("a1", "a2"), ("a2", "b3", "d2"), ("d2", "f1", "g1"))
"""A game that White wins in Pijersi against a bot that plays its first legal move."""


@pytest.fixture
def store(sqlite_store: Store) -> Store:
    sqlite_store.samples.ensure({"first": "bots.first"}, {"pijersi": [one.name for one in load("pijersi").variants]})
    return sqlite_store


@contextmanager
def open_server(store: Store, folder: Path, bot: type[InstantBot] = InstantBot) -> Iterator[Server]:
    """Open a server that plays people's games against `bot`."""
    settings = settings_in(folder, sandbox="none")
    server = Server(store, settings)
    server.unlimited()
    assert store.leases.take(LEASE, "here", 3600)
    store.queue.give_back()
    spool = Spool(folder / "spool")

    def record(_: str) -> None:
        for game in spool.names():
            if arrival := spool.read(game):
                store.results.commit(arrival.record, "here")
                spool.forget(game)
                server.context.live.take(human_games.GameAborted(game=game))

    games = HumanGames(
        store,
        server.context.arena.bus,
        settings,
        owner="here",
        spool=spool,
        conditions=Conditions(lambda: store.leases.fencing(LEASE, "here"), OutageLog(spool.backlog), print),
        on_done=record,
    )
    games.elsewhere[""] = bot
    games.begin()
    try:
        yield server
    finally:
        games.stop()
        server.close()


def _begin(page: Any, server: Server) -> dict[str, Any]:
    page.goto(f"{server.url}/play?family=pijersi")
    page.click("text=Play now")
    page.wait_for_selector(".hit", state="attached")
    assert "/play/" in page.url
    return server.get("/pijersi/board/scenes.json").json["chart"]  # type: ignore[no-any-return]


def _choose(page: Any) -> None:
    """Choose the intended move if the page offers several."""
    if page.locator("#entry button.main").count():
        page.click("#entry button.main >> nth=0")


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(human_games, "POLL_INTERVAL_S", 0.05)


def test_a_game_by_mouse_goes_on_after_a_restart(browser: Any, store: Store, tmp_path: Path) -> None:
    with window(browser) as page:
        with open_server(store, tmp_path) as server:
            chart = _begin(page, server)
            for cell in WON[0]:
                page.mouse.click(*place_of(page, chart, cell))
            _choose(page)
            reads(page, "#last", "2")
            path = page.url.removeprefix(server.url)
        with open_server(store, tmp_path) as server:
            page.goto(server.url + path)
            page.wait_for_selector(".hit", state="attached")
            assert page.inner_text("#last") == "2"
            for number, way in enumerate(WON[1:], 2):
                page.wait_for_selector(".hit", state="attached")
                for cell in way:
                    page.mouse.click(*place_of(page, chart, cell))
                _choose(page)
                reads(page, "#last", str(min(2 * number, 5)))
            reads(page, "#turn", "Game over.")  # the last ply is known before its result is
            game = path.rsplit("/", 1)[1]
            page.goto(f"{server.url}/games/{game}")
            assert page.inner_text("#sentence").startswith("guest (White) beat first v1 (Black) at ply 5")
        assert store.games.record(game).moves[0] == "a1a2"


@pytest.mark.parametrize(
    ("family", "has_touch"),
    # Single cells, cells with a choice between stacks, rows of cells: the page knows no families, only ways of moves.
    [("loa", True), ("pijersi", True), ("abalone", False)],
)
def test_a_walk_enters_every_kind_of_move_without_a_needless_question(
    family: str, has_touch: bool, browser: Any, store: Store, tmp_path: Path
) -> None:
    """Play random moves, each by one of its ways, against a bot that plays its first legal move."""
    rules = load(family)
    store.samples.ensure({"first": "bots.first"}, {family: [start.name for start in rules.variants]})
    size, words = ((375, 667), {"has_touch": True}) if has_touch else ((1280, 800), {})
    with window(browser, *size, **words) as page, open_server(store, tmp_path) as server:
        click = page.touchscreen.tap if has_touch else page.mouse.click
        page.goto(f"{server.url}/play?family={family}")
        page.click("text=Play now")
        chart = server.get(f"/{family}/board/scenes.json").json["chart"]
        dice, at, plies = random.Random(family), Position.start(rules.settle()), 0
        for _ in range(5 * EFFORT):
            moves = legal_moves(at)
            move = dice.choice(moves)
            way = dice.choice(move.ways)
            page.wait_for_selector(".hit", state="attached")
            picked = decisive(chart, at, way, moves)
            for cell in picked:
                click(*place_of(page, chart, cell))
            if len(begun(picked, moves)) > 1:
                choice = page.locator(f"#entry button.main:has-text('{move.shown}') >> nth=0")
                _is_whole_beside_the_board(page, choice)
                click(*_middle(choice))
            at, plies = at.play(at.read(move.move)), plies + 1
            if at.outcome is None:
                at, plies = at.play(at.texts[0]), plies + 1
            reads(page, "#last", str(plies))
            if at.outcome is not None:
                break


def begun(picked: Sequence[str], moves: Sequence[LegalMove]) -> list[LegalMove]:
    """Return the moves that begin with these cells."""
    return [move for move in moves if any(tuple(way[: len(picked)]) == tuple(picked) for way in move.ways)]


def decisive(chart: Any, at: Position, way: Sequence[str], moves: Sequence[LegalMove]) -> Sequence[str]:
    """Return the cells that leave one move; a pair of neighbours of one side may mean a push, and waits for a third."""
    for count in range(2, len(way)):
        is_pair = count == 2 and not chart["stacks"] and way[1] in at.board.pieces and _touch(chart, *way[:2])
        if len(begun(way[:count], moves)) == 1 and not is_pair:
            return way[:count]
    return way


def _touch(chart: Any, cell: str, other: str) -> bool:
    far = {name: math.dist(chart["places"][cell], place) for name, place in chart["places"].items() if name != cell}
    return far[other] < 1.5 * min(far.values())


def _middle(place: Any) -> tuple[float, float]:
    box = place.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def _is_whole_beside_the_board(page: Any, choice: Any) -> None:
    """Check that a choice covers no part of the board and is not cut off."""
    box, board, screen = choice.bounding_box(), page.locator("#frame").bounding_box(), page.viewport_size
    assert board["y"] + board["height"] <= box["y"] + 1
    assert box["y"] + box["height"] <= screen["height"]
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= screen["width"]
    assert choice.evaluate("one => one.scrollWidth <= one.clientWidth && one.scrollHeight <= one.clientHeight + 1")


@pytest.mark.parametrize(
    ("rear", "aim", "move", "is_dragged"),
    [
        pytest.param("b2", "c3", "b2c3", False, id="clicked on the next marble"),
        pytest.param("a2", "c4", "a2b3", True, id="dragged to the front marble"),
    ],
)
def test_a_row_of_marbles_is_aimed_at_from_its_rear(
    rear: str, aim: str, move: str, is_dragged: bool, browser: Any, store: Store, tmp_path: Path
) -> None:
    store.samples.ensure({"first": "bots.first"}, {"abalone": ["standard"]})
    with window(browser) as page, open_server(store, tmp_path) as server:
        page.goto(f"{server.url}/play?family=abalone")
        page.click("text=Play now")
        page.wait_for_selector(".hit", state="attached")
        chart = server.get("/abalone/board/scenes.json").json["chart"]
        if is_dragged:
            page.mouse.move(*place_of(page, chart, rear))
            page.mouse.down()
            page.mouse.move(*place_of(page, chart, aim), steps=4)
            page.mouse.up()
        else:  # two marbles may also move sideways
            page.mouse.click(*place_of(page, chart, rear))
            page.mouse.click(*place_of(page, chart, aim))
            page.click(f"#entry button.main:has-text('{move}')")
        reads(page, "#last", "2")
        assert page.inner_text("#moves tr:first-child td:nth-child(2)").startswith(move)


def test_a_click_while_the_bot_thinks_says_so(browser: Any, store: Store, tmp_path: Path) -> None:
    with window(browser) as page, open_server(store, tmp_path) as server:
        chart = _begin(page, server)
        page.route("**/decide.json", lambda route: None)  # the move stays on its way
        for cell in ("a1", "a2"):
            page.mouse.click(*place_of(page, chart, cell))
        _choose(page)
        page.mouse.click(*place_of(page, chart, "d4"))
        reads(page, "#entry .refusal", "Your move is on its way.")


def test_a_click_where_nothing_can_go_says_why(browser: Any, store: Store, tmp_path: Path) -> None:
    with window(browser) as page, open_server(store, tmp_path) as server:
        chart = _begin(page, server)
        for cells, words in (
            ("d4", "d4 empty: select a piece first"),
            ("g1", "g1 (goal) black scissors: not a piece of the side to move"),
            ("a1 e1", "e1 empty: a1 has no legal move there"),
        ):
            for cell in cells.split():
                page.mouse.click(*place_of(page, chart, cell))
            reads(page, "#entry .refusal", words)
            reads(page, "#spoken", words)
        page.mouse.click(*place_of(page, chart, "a2"))  # the selection has stayed
        assert page.locator("#entry .refusal").count() == 0
        assert page.inner_text("#entry p") == "a1 a2"


def test_moves_are_confirmed_by_whoever_wishes_it(browser: Any, store: Store, tmp_path: Path) -> None:
    with window(browser) as page, open_server(store, tmp_path) as server:
        chart = _begin(page, server)
        assert page.evaluate("localStorage.getItem('arena-confirm')") is None
        page.click("[data-go=display]")
        page.check("[data-setting=confirm]")
        page.click("#display button")
        page.reload()
        page.wait_for_selector(".hit", state="attached")
        for cell in ("b4", "d5", "e5"):
            page.mouse.click(*place_of(page, chart, cell))
        button = page.locator("#entry button.main")
        reads(page, "#entry button.main", re.compile("^b4=d5-e5"))
        assert page.inner_text("#last") == "0"
        button.click()
        reads(page, "#last", "2")


def test_the_text_field_is_folded_away_for_whoever_does_not_type(browser: Any, store: Store, tmp_path: Path) -> None:
    with window(browser) as page, open_server(store, tmp_path) as server:
        _begin(page, server)
        assert page.is_hidden("#write input[name=move]")
        type_move(page, "a1-a2")
        reads(page, "#last", "2")
        page.reload()
        page.wait_for_selector("#write input[name=move]")


def test_a_move_is_made_before_the_board_is_loaded(browser: Any, store: Store, tmp_path: Path) -> None:
    with window(browser) as page, open_server(store, tmp_path) as server:
        page.route("**/games/*/scenes.json*", lambda route: None)  # never answered
        page.goto(f"{server.url}/play?family=pijersi")
        page.click("text=Play now")
        page.click(".typed summary")
        page.fill("#write input[name=move]", "a1-a2")
        with page.expect_navigation():
            page.press("#write input[name=move]", "Enter")
        while page.inner_text("#last") == "0":
            page.reload()


def test_a_game_by_keyboard_is_taken_back_and_resigned(browser: Any, store: Store, tmp_path: Path) -> None:
    with window(browser) as page:
        page.on("dialog", lambda dialog: dialog.accept())
        with open_server(store, tmp_path) as server:
            _begin(page, server)
            page.focus("#frame")
            for key in ("ArrowUp", "Enter", "ArrowRight", "Enter", "Enter"):
                page.keyboard.press(key)
            reads(page, "#last", "2")
            page.click("button[value=back]")
            reads(page, "#last", "0")
            page.wait_for_selector(".hit", state="attached")
            type_move(page, "a1-a2")
            reads(page, "#last", "2")
            page.click("button[value=resign]")
            reads(page, "#turn", "Game over.")
            page.goto(page.url.replace("/play/", "/games/"))
            assert re.search(r"\b0-1, resigned: guest resigned\nRatings", page.inner_text("#about dl"))
        assert store.people.open() == []


def test_a_draw_that_the_bot_offers_is_taken(browser: Any, store: Store, tmp_path: Path) -> None:
    with window(browser) as page, open_server(store, tmp_path, OfferingBot) as server:
        _begin(page, server)
        assert page.locator("#take").is_hidden()
        type_move(page, "a1-a2")
        reads(page, "#offer", "The bot offers a draw.")
        page.reload()
        page.wait_for_selector(".hit", state="attached")  # before that, the button sends the plain form
        reads(page, "#offer", "The bot offers a draw.")
        page.click("#take")
        reads(page, "#turn", "Game over.")
        game = page.url.rsplit("/", 1)[1]
    assert (store.games.record(game).winner, len(store.games.record(game).moves)) == ("draw", 2)


def test_a_game_with_a_finger_at_320_pixels(browser: Any, store: Store, tmp_path: Path) -> None:
    with window(browser, 320, 640, has_touch=True) as page, open_server(store, tmp_path) as server:
        chart = _begin(page, server)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        for number, way in enumerate(WON, 1):
            page.wait_for_selector(".hit", state="attached")
            for cell in way:
                page.touchscreen.tap(*place_of(page, chart, cell))
            if page.locator("#entry button.main").count():
                page.tap("#entry button.main >> nth=0")
            reads(page, "#last", str(min(2 * number, 5)))
        reads(page, "#turn", "Game over.")


def test_a_move_made_while_waiting_is_shown_as_pending(browser: Any, store: Store, tmp_path: Path) -> None:
    server = Server(store, settings_in(tmp_path))  # without a referee: the game never starts
    server.unlimited()
    try:
        with window(browser) as page:
            chart = _begin(page, server)
            reads(page, "#turn", "Your turn. Starting your game…")
            for cell in WON[0]:
                page.mouse.click(*place_of(page, chart, cell))
            _choose(page)
            words = re.compile(r"^Your move a1-?a2 is stored\. It is played as soon as the game starts\.$")
            reads(page, "#turn", words)
            page.wait_for_selector("#frame svg.pending")
            page.reload()
            reads(page, "#turn", words)
            page.wait_for_selector("#frame svg.pending")
    finally:
        server.close()


def test_the_choice_of_moves_covers_nothing_on_a_phone(browser: Any, store: Store, tmp_path: Path) -> None:
    with window(browser, 320, 568, has_touch=True) as page, open_server(store, tmp_path) as server:
        chart = _begin(page, server)
        before = page.locator(".bar").bounding_box()
        for cell in ("b4", "c4"):
            page.touchscreen.tap(*place_of(page, chart, cell))
        assert page.locator("#entry button.main").count() == 2
        assert page.locator(".bar").bounding_box() == before
        assert place_of(page, chart, "a1")[1] + 10 < before["y"]


COVERED = """() => [...document.querySelectorAll("main :is(button, a, input, summary)")].filter((one) => {
    one.scrollIntoView({ block: "nearest" });
    const { x, y, width, height } = one.getBoundingClientRect();
    const top = width && one.checkVisibility() && document.elementFromPoint(x + width / 2, y + height / 2);
    return top && top.closest(".bar") && !one.contains(top) && !top.contains(one);
}).map((one) => one.outerHTML.slice(0, 80))"""
"""The controls that lie below the bar of the board after they were scrolled to."""


def test_the_bar_of_a_game_covers_no_control_on_a_phone(browser: Any, store: Store, tmp_path: Path) -> None:
    with window(browser, 320, 568, has_touch=True) as page, open_server(store, tmp_path) as server:
        _begin(page, server)
        assert page.evaluate(COVERED) == []


def test_what_stands_above_a_seat_in_french_fits_one_line(browser: Any, store: Store, tmp_path: Path) -> None:
    with window(browser, 320, 640) as page, open_server(store, tmp_path) as server:
        _begin(page, server)
        page.goto(f"{page.url}?lang=fr")
        line, link = page.locator(".crumbs"), page.get_by_role("link", name="vue des spectateurs")
        assert link.is_visible()
        assert line.bounding_box()["height"] < 2 * link.bounding_box()["height"]


def test_a_rematch_has_the_other_side(browser: Any, store: Store, tmp_path: Path) -> None:
    with window(browser) as page, open_server(store, tmp_path) as server:
        page.on("dialog", lambda dialog: dialog.accept())
        _begin(page, server)
        reads(page, "#turn", "Your turn.")
        first = page.url
        page.click("button[value=resign]")
        reads(page, "#turn", "Game over.")
        page.click("text=Rematch")
        page.wait_for_url(re.compile(r"/play/[0-9a-f]+\?flip=1"))
        assert page.url.split("?")[0] != first
        reads(page, "#sentence", "You play Black.")


def test_opponents_have_ratings_and_the_last_choice_is_remembered(browser: Any, store: Store, tmp_path: Path) -> None:
    with window(browser) as page, open_server(store, tmp_path) as server:
        page.goto(f"{server.url}/play?family=pijersi")
        assert "not rated yet" in page.inner_text(".picks")
        page.check("[name=side][value=second]")
        page.click("text=Play now")
        page.wait_for_url("**/play/*")
        page.goto(f"{server.url}/play?family=pijersi")
        assert page.is_checked("[name=side][value=second]")
        page.goto(f"{server.url}/play?family=pijersi&side=first")
        assert page.is_checked("[name=side][value=first]")


def test_levels_of_the_champion_come_first_and_one_for_newcomers_is_chosen(
    browser: Any, store: Store, tmp_path: Path
) -> None:
    store.samples.ensure_all({"loa": ["standard"]})
    with window(browser) as page, open_server(store, tmp_path) as server:
        page.goto(f"{server.url}/play?family=loa")
        choices = page.locator("[name=bot]").evaluate_all("all => all.map(one => one.value)")
        assert choices[:9] == [*(f"level-{level}" for level in range(1, 9)), "champion"]
        assert set(choices[9:]) == {"random", "greedy", "alphabeta", "mcts"}
        assert page.input_value("[name=bot]:checked") == "level-3"
        assert "Level 5\nclub player" in page.inner_text(".picks")
        assert not page.locator("[name=bot][value=greedy]").is_visible()
        page.click("text=Other opponents")
        page.check("[name=bot][value=greedy]")
        page.click("text=Play now")
        page.wait_for_url("**/play/*")
        page.goto(f"{server.url}/play?family=loa")
        assert page.locator("[name=bot][value=greedy]").is_visible()
        assert page.is_checked("[name=bot][value=greedy]")


def test_a_level_has_its_word_whatever_its_rating() -> None:
    assert OpponentItem("level-8", "level-8 v1", 1, 2.0, 8).strength == "master"


@pytest.mark.parametrize(
    ("rating", "word"),
    [(None, "not rated yet"), (9.9, "beginner"), (10.0, "club player"), (18.0, "strong"), (25.0, "expert")],
)
def test_a_rating_is_put_into_a_word(rating: float | None, word: str) -> None:
    assert OpponentItem("zeta", "zeta v1", 1, rating).strength == word


def test_whoever_hears_the_viewer_is_there_before_it_speaks(store: Store, tmp_path: Path) -> None:
    with open_server(store, tmp_path) as server:
        bot = store.people.opponents("pijersi")[0].bot
        form = f"family=pijersi&bot={bot}&side=first&time=600%2B5".encode()
        begun = server.ask("POST", "/play", data=form, headers={"Content-Type": "application/x-www-form-urlencoded"})
        mine = {"Cookie": begun.cookies[0].split(";")[0]}
        page = server.get(begun.headers["Location"], headers=mine).body.decode()
        assert re.findall(r'<script type="module" src="/static/([a-z]+)', page)[-2:] == ["play", "viewer"]


def test_who_did_not_begin_a_game_watches_it(store: Store, tmp_path: Path) -> None:
    with open_server(store, tmp_path) as server:
        bot = store.people.opponents("pijersi")[0].bot
        form = f"family=pijersi&bot={bot}&side=second&time=600%2B5".encode()
        sent = {"Content-Type": "application/x-www-form-urlencoded"}
        begun = server.ask("POST", "/play", data=form, headers=sent)
        assert begun.status == 303
        assert "HttpOnly" in begun.cookies[0]
        game = begun.headers["Location"].rsplit("/", 1)[1]
        assert server.get(f"/play/{game}").headers["Location"] == f"/games/{game}"
        mine = {"Cookie": begun.cookies[0].split(";")[0]}
        assert b"You play Black" in server.get(f"/play/{game}?flip=1", headers=mine).body
        forged = server.ask(
            "POST", f"/play/{game}", data=b"do=resign", headers={**sent, **mine, "Origin": "https://x.example"}
        )
        assert forged.status == 403
        stranger = server.ask("POST", f"/play/{game}/decide.json", data=b"do=resign", headers=sent)
        assert stranger.status == 403
        assert server.get("/tournaments/1").headers["Location"] == "/play?family=pijersi"
        refused = server.ask("POST", "/play", data=b"family=pijersi&bot=77", headers={**sent, **mine})
        assert refused.status == 422
        assert b"does not play people" in refused.body
        assert server.get("/play?family=chess").status == 400
        refused = server.get("/play?bot=nobody")
        assert (refused.status, b"does not play people" in refused.body) == (400, True)
        assert server.get("/play?family=loa&bot=first").status == 400
        page = server.get("/play?bot=first").body.decode()
        assert 'name="family" value="pijersi"' in page
        assert re.search(r'name="bot" value="first" checked', page)
