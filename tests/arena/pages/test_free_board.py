"""The analysis board: its addresses without scripts, and in Chromium by mouse, keyboard, touch and text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from arena.store import Store
from referee.rules import families, load
from referee.rules.position import Position
from tests.arena.api.server import Server, settings_in
from tests.arena.pages.conftest import Site, Witness, window
from tests.arena.pages.test_pages import violations
from tests.arena.pages.test_viewer import reads


def _scenes(site: Site, address: str) -> dict[str, Any]:
    reply = site.server.get(address)
    assert reply.status == 200, reply.body
    return json.loads(reply.body)  # type: ignore[no-any-return]


def test_a_line_is_played_on_without_scripts(site: Site) -> None:
    reply = site.server.get("/loa/board?moves=b1b3&move=a4-c4")
    assert (reply.status, reply.headers["Location"]) == (303, "/loa/board?moves=b1b3+a4c4")
    text = site.server.get(reply.headers["Location"]).body.decode()
    end = Position.start(load("loa").settle()).play_all(["b1b3", "a4c4"])
    assert str(end) in text
    assert "Black to move" in text
    assert 'href="/loa/board?moves=b1b3"' in text  # undo


@pytest.mark.parametrize(
    "query", ["position=nonsense", "moves=b1b3+b1b3", "variant=nonsuch", "options=a=b", "game=xyz"]
)
def test_what_cannot_be_shown_is_said_above_a_board(site: Site, query: str) -> None:
    reply = site.server.get(f"/loa/board?{query}")
    text = reply.body.decode()
    assert reply.status == 400
    assert 'id="problem" role="alert">' in text
    assert 'class="board' in text
    problem = site.server.get(f"/loa/board/scenes.json?{query}")
    assert problem.status == 422
    assert json.loads(problem.body)["detail"][:10] in text


def test_a_line_leaves_a_game_at_a_ply_and_leads_back(site: Site) -> None:
    game = site.stage.finished["tablut"]
    record = site.stage.store.games.record(game)
    at = Position.start(load("tablut").settle(record.variant, record.options), record.position or None)
    at = at.play_all(record.moves[:4])
    move = at.texts[0]
    text = site.server.get(f"/tablut/board?game={game}&ply=4&moves={move}").body.decode()
    assert str(at.play(move)) in text
    assert f'href="/games/{game}?ply=4"' in text
    assert f"board?game={game}&amp;ply=4" in site.server.get(f"/games/{game}?ply=4").body.decode()
    data = _scenes(site, f"/tablut/board/scenes.json?game={game}&ply=4&moves={move}&after=4")
    assert (data["base"], data["last"]) == (4, 5)
    assert [scene["canonical"] for scene in data["scenes"]] == [move]
    assert [legal["move"] for legal in data["legal"]] == at.play(move).texts
    other = site.server.get(f"/loa/board?game={game}")
    assert other.status == 400
    assert "that game belongs to the family tablut" in other.body.decode()


def test_the_start_of_an_archived_game_is_its_own(site: Site) -> None:
    line = site.stage.store.archive.line(1)
    data = _scenes(site, f"/{line.family}/board/scenes.json?archive=1&ply=2")
    assert [scene["canonical"] for scene in data["scenes"][1:]] == list(site.stage.store.archive.get(1).moves[:2])


def test_moves_of_the_interface(site: Site) -> None:
    position = "8/8/8/3b4/3wb3/8/8/8 b - 1"
    data = _scenes(site, f"/api/v1/families/loa/moves?position={quote(position)}")
    assert (data["moves"], data["outcome"]) == ([], {"winner": "draw", "termination": "simultaneous-connection"})
    refused = site.server.get("/api/v1/families/loa/moves?moves=a1a2")
    assert refused.status == 422
    assert json.loads(refused.body)["hint"] == "a1 is empty"


# -- in a browser ------------------------------------------------------------------------------------------------------


def place_of(page: Any, chart: dict[str, Any], cell: str) -> tuple[float, float]:
    """Return the position of a cell on the screen."""
    x, y = page.evaluate(
        "place => { const svg = document.querySelector('#frame svg.board');"
        " const at = new DOMPoint(...place).matrixTransform(svg.getScreenCTM()); return [at.x, at.y]; }",
        chart["places"][cell],
    )
    return x, y


def type_move(page: Any, move: str) -> None:
    """Write a move into the text field, which is folded away at first, and send it."""
    if page.is_hidden("#write input[name=move]"):
        page.click(".typed summary")
    page.fill("#write input[name=move]", move)
    page.press("#write input[name=move]", "Enter")


def _open(page: Any, site: Site, address: str) -> dict[str, Any]:
    page.goto(site.url + address)
    page.wait_for_selector("#free[data-ready=yes]")
    path, _, query = address.partition("?")
    return _scenes(site, f"{path}/scenes.json?{query}")["chart"]  # type: ignore[no-any-return]


def test_moves_by_mouse_are_made_taken_back_and_shared(site: Site, page: Any, witness: Witness) -> None:
    chart = _open(page, site, "/pijersi/board")

    def click(cell: str) -> None:
        page.mouse.click(*place_of(page, chart, cell))

    click("b4")
    click("c4")
    assert "next:" in page.inner_text("#spoken")
    assert page.locator("#entry button.main").count() == 2  # the whole stack, or the cube on top of it
    page.click("#entry button.main >> text=b4=c4")
    reads(page, "#standing", "Black to move")
    assert page.url.endswith("/pijersi/board?moves=b4c4c4")
    # Dragged.
    page.mouse.move(*place_of(page, chart, "f1"))
    page.mouse.down()
    page.mouse.move(*place_of(page, chart, "f2"), steps=3)
    page.mouse.move(*place_of(page, chart, "e1"), steps=3)
    page.mouse.up()
    reads(page, "#standing", "White to move")
    assert page.url.endswith("?moves=b4c4c4+f1e1")
    page.click('[data-go="left"]')
    reads(page, "#standing", "Black to move")
    assert page.url.endswith("?moves=b4c4c4")
    page.click('[data-go="right"]')
    reads(page, "#ply", "2")
    type_move(page, "nonsense")
    reads(
        page,
        "#problem",
        "cannot read nonsense: unreadable move; write a4b5c4, a4-b5=c4, b4=d4 or, in the swap phase, (a1b7) or ()",
    )
    assert "422" in witness.faults.pop()  # the browser notes every answer of that kind
    type_move(page, "a1-b1")
    reads(page, "#ply", "3")
    position = page.inner_text("#position")
    page.goto(page.url)
    assert page.inner_text("#position") == position


def test_a_broadside_by_keyboard_says_where_it_may_go(site: Site, page: Any) -> None:
    _open(page, site, "/abalone/board")
    page.focus("#frame")
    for key, words in (
        ("ArrowUp", "a1 black marble, can be picked"),
        ("ArrowUp", "b1 black marble, can be picked"),
        ("Enter", "b1 black marble, selected; next: b2, c1, c2"),
        ("ArrowRight", "b2 black marble, can go here"),
        ("Enter", "b2 black marble, selected; next: c1; Enter plays b1b2c1"),
        ("Escape", "b1 black marble, selected; next: b2, c1, c2"),
        ("Enter", "b2 black marble, selected; next: c1; Enter plays b1b2c1"),
        ("ArrowUp", "c2 empty"),
        ("Enter", "c2 empty: b1 b2 has no legal move there"),
        ("ArrowLeft", "c1 empty, can go here"),
        ("Enter", "Black b1b2c1"),
    ):
        page.keyboard.press(key)
        reads(page, "#spoken", words)
    assert page.url.endswith("?moves=b1b2c1")


@pytest.mark.parametrize("is_dragged", [False, True], ids=["clicked", "dragged"])
def test_the_ends_of_a_row_move_it_where_one_broadside_is_left(site: Site, page: Any, is_dragged: bool) -> None:
    _open(page, site, "/abalone/board?moves=a3b3+i6h6+c3c4")
    chart = site.server.get("/abalone/board/scenes.json").json["chart"]
    page.mouse.move(*place_of(page, chart, "f6"))
    page.mouse.down()
    if not is_dragged:
        page.mouse.up()
    page.mouse.move(*place_of(page, chart, "h8"), steps=4)
    if not is_dragged:
        page.mouse.down()
    page.mouse.up()
    reads(page, "#ply", "4")
    assert page.url.endswith("f6h8e6")


def test_a_line_is_whole_where_somebody_steps_back_before_a_move_is_answered(site: Site, page: Any) -> None:
    _open(page, site, "/loa/board?moves=b1b3+h4f2")
    held: list[Any] = []
    page.route("**/scenes.json?*move=*", lambda route: held.append(route))  # noqa: PLW0108
    type_move(page, "d1a4")
    page.click('[data-go="left"]')
    reads(page, "#ply", "1")
    while not held:
        page.evaluate("0")
    held[0].continue_()
    reads(page, "#ply", "3")
    assert page.url.endswith("?moves=b1b3+h4f2+d1a4")
    assert page.locator("#moves a").count() == 3


def test_variations_and_notes_are_kept_in_the_address(site: Site, page: Any) -> None:
    at = Position.start(load("loa").settle()).play_all(["b1b3"])
    other = next(move for move in at.texts if move != "h4f2")
    shown = at.display(at.read(other))
    _open(page, site, "/loa/board?moves=b1b3+h4f2")
    assert "#" not in page.url
    page.click('[data-go="left"]')
    type_move(page, other)
    reads(page, ".tree .variation", f"(1… {shown})")
    page.fill("#note", "a [try]")
    page.keyboard.press("Tab")
    reads(page, ".tree em", "a  try")
    page.goto("about:blank")
    page.go_back()
    page.wait_for_selector("#free[data-ready=yes]")
    reads(page, "#ply", "2")
    assert page.locator(".tree a").count() == 3
    page.click(".tree .variation a")  # its scene is loaded only now
    reads(page, "#position", str(at.play(other)))
    assert page.input_value("#note") == "a  try"
    page.click('[data-go="promote"]')
    assert page.locator(".tree > a").last.inner_text() == shown
    page.click('[data-go="left"]')
    page.click('[data-go="right"]')
    reads(page, "#position", str(at.play(other)))  # the main line now
    page.click('[data-go="remove"]')
    reads(page, "#ply", "1")
    assert page.locator(".tree a").count() == 2
    assert "#" not in page.url


def _post(site: Site, path: str, **fields: str) -> Any:
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Origin": site.url}
    return site.server.ask("POST", path, data=urlencode(fields).encode(), headers=headers)


def test_a_tree_is_written_and_a_game_is_pasted_without_scripts(site: Site) -> None:
    tree = "b1b3 {good} [c1c3 {!? or this} h4f2] h4f2"
    notation = load("loa").formats[0].name
    reply = _post(site, "/loa/board/notation?moves=b1b3", tree=tree, notation=notation)
    assert (reply.status, reply.headers["Content-Disposition"]) == (200, 'attachment; filename="loa.txt"')
    page = _post(site, "/loa/board", text=reply.body.decode(), variant="standard").body.decode()
    assert f'data-tree="{tree}"' in page
    assert 'data-address="/loa/board?variant=standard&amp;moves=b1b3+h4f2"' in page
    for path, fields, problem in (
        ("/loa/board", {"text": "1. a1a1"}, b'role="alert"'),
        ("/loa/board/notation", {"tree": "a1a1", "notation": notation}, b"Illegal"),
        ("/loa/board/notation", {"tree": "b1b3", "notation": "nonsuch"}, b"Unknown notation"),
    ):
        reply = _post(site, path, **fields)
        assert reply.status == 422
        assert problem in reply.body


def test_a_pasted_game_is_copied_again_with_its_variations(site: Site, browser: Any) -> None:
    tree = "b1b3 {good} [c1c3 {!? or this} h4f2] h4f2"
    reply = _post(site, "/loa/board/notation", tree=tree, notation=load("loa").formats[0].name)
    with window(browser, is_apart=True, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.goto(f"{site.url}/loa/board")
        page.click("#paste summary")
        page.fill("#paste textarea", reply.body.decode())
        page.click("#paste button")
        page.wait_for_selector("#free[data-ready=yes]")
        assert page.url.endswith("/loa/board?variant=standard&moves=b1b3+h4f2#v:" + quote(tree, safe="!"))
        assert page.locator(".tree a").count() == 4
        page.click("#export [data-go=text]")
        reads(page, "#copied", "copied")
        assert page.evaluate("navigator.clipboard.readText()") == reply.body.decode()
        with page.expect_download() as download:
            page.click("#export button:text-is('Download')")
        assert Path(download.value.path()).read_text(encoding="utf-8") == reply.body.decode()
        page.click('[data-go="home"]')
        reads(page, "#ply", "0")


TREE = """async (text) => {
  const { Branch, read, write } = await import("/static/tree.js");
  const root = new Branch();
  read(text, root);
  return [write(root), root.end.line.map((one) => one.move).join(" ")];
}"""


@pytest.mark.parametrize(
    ("text", "main"),
    [
        ("a b c", "a b c"),
        ("a b [c d [e]] f {note}", "a b f"),
        ("(a1b7) () [(a2b6) {why}] a1a2", "(a1b7) () a1a2"),
        ("", ""),
    ],
)
def test_a_tree_is_read_as_it_was_written(site: Site, page: Any, text: str, main: str) -> None:
    page.goto(f"{site.url}/limits")
    assert page.evaluate(TREE, text) == [text, main]


@pytest.mark.long
def test_a_position_is_evaluated_at_once_and_then_deeper(browser: Any, tmp_path: Path, sqlite_store: Store) -> None:
    server = Server(sqlite_store, settings_in(tmp_path, analysis_board_nodes=20_000))
    server.unlimited()
    try:
        with window(browser) as page:
            page.goto(f"{server.url}/loa/board")
            # The engine starts in a process that waits for an idle processor.
            page.locator("#evaluation strong").first.wait_for(timeout=300_000)
            answers: list[Any] = []
            after = re.compile(r"evaluation\.json\?.*b1b3")
            page.on("response", lambda response: answers.append(response) if after.search(response.url) else None)
            # An answer on the start position may still come: only those after the move count.
            with page.expect_response(
                lambda response: bool(after.search(response.url)) and "nodes=8000&lines=3" in response.url
            ):
                type_move(page, "b1b3")
            reads(page, "#ply", "1")
            reads(page, "#evaluation small", re.compile(r", depth \d+:$"))
            page.locator("#evaluation li:nth-child(3) button").wait_for()
            assert [re.findall(r"nodes=(\d+)", response.url)[0] for response in answers] == ["2000", "8000"]
            firsts = page.locator("#evaluation li button").all_inner_texts()
            assert len(set(firsts)) == 3, "three moves"
            page.locator("#evaluation li:nth-child(2) button").click()
            reads(page, "#ply", "2")
        over = "position=b6w/8/8/8/3w4/8/8/b7%20b%20-%201"
        assert len(server.get(f"/loa/board/evaluation.json?{over}").json["lines"]) == 1
        assert server.get("/loa/board/evaluation.json?position=8/8/8/3b4/3wb3/8/8/8%20b%20-%201").json == {}
        assert server.get("/loa/board/evaluation.json?nodes=20001").status == 422
    finally:
        server.close()


def test_a_finger_moves_a_piece_at_320_pixels(site: Site, browser: Any, witness: Witness) -> None:
    with window(browser, 320, 640, has_touch=True) as page:
        witness.watch(page)
        chart = _open(page, site, "/loa/board")
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        for cell in ("b1", "b3"):
            page.touchscreen.tap(*place_of(page, chart, cell))
        reads(page, "#standing", "White to move")
        assert page.url.endswith("/loa/board?moves=b1b3")


def test_a_position_is_set_up_by_finger_mouse_and_keys(site: Site, browser: Any, witness: Witness) -> None:
    with window(browser, 320, 640, has_touch=True) as page:
        witness.watch(page)
        chart = _open(page, site, "/loa/board?moves=b1b3")
        page.click("#arrange")
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        assert violations(page) == []
        assert page.is_checked("#palette [name=to-move][value=second]")
        assert page.evaluate("document.activeElement.name") == "piece"
        page.click("[data-set=clear]")
        reads(page, "#checked", "Black has no piece; each side needs at least one piece")
        assert page.is_hidden("#use")
        page.locator("#frame").scroll_into_view_if_needed()
        page.touchscreen.tap(*place_of(page, chart, "a1"))
        reads(page, "#spoken", "a1 black stone")
        page.click("#palette label:has-text('white stone')")
        page.mouse.click(*place_of(page, chart, "c3"))
        reads(page, "#checked", "Game over, drawn: a move connected both sides at once")
        page.focus("#frame")
        for key in ("ArrowUp", "ArrowRight", "Enter"):
            page.keyboard.press(key)
        page.mouse.click(*place_of(page, chart, "c3"))  # where it stood alone, the cell is empty again
        reads(page, "#spoken", "c3 empty")
        page.mouse.click(*place_of(page, chart, "h8"))
        page.check("#palette [name=to-move][value=first]")
        reads(page, "#checked", "Game over, Black won: all pieces of one side are connected")
        page.click("#palette label:has-text('black stone')")
        page.mouse.click(*place_of(page, chart, "a8"))
        reads(page, "#checked", "Black to move")
        page.click("#use")
        page.wait_for_selector("#free[data-ready=yes]")
        reads(page, "#position", "b6w/8/8/8/3w4/8/8/b7 b - 1")


def test_a_position_by_hand_of_every_family_is_read_back(site: Site) -> None:
    for family in families():
        rules = load(family)
        board = Position.start(rules.settle()).board
        pieces = ",".join(f"{cell}={held}" for cell, held in board.pieces.items())
        query = f"variant={quote(rules.variants[0].name)}&pieces={quote(pieces)}&side=first"
        data = _scenes(site, f"/{family}/board/position.json?{query}")
        assert dict(Position.start(rules.settle(), data["position"]).board.pieces) == dict(board.pieces)
        assert 'id="palette"' in site.server.get(f"/{family}/board").body.decode()
    for pieces, problem in (("z9=b", "unknown cell"), ("a1=b", "White has no piece"), ("a1=bb", "2 pieces on a1")):
        assert problem in _scenes(site, f"/loa/board/position.json?pieces={pieces}")["message"]
