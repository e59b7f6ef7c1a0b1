"""Problems on pages: without scripts, and solved in Chromium by mouse, touch and keyboard; set up and proved."""

from __future__ import annotations

import re
import threading
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from arena.credentials import hash_password
from arena.features.problems import service as problems
from arena.features.problems.documents import WinProblemRequest
from arena.features.problems.pages.board import MAX_TRIED, source_of
from arena.features.problems.prover import ProblemProver
from arena.features.problems.store import Problems, Proof
from arena.features.problems.tables import StoredProblem
from arena.pages import language
from arena.store import Store
from referee.rules import load
from referee.rules.position import Position
from tests.arena.api.server import Server
from tests.arena.pages.conftest import Site, window
from tests.arena.pages.stage import PASSWORD
from tests.arena.pages.test_documentation import check_links
from tests.arena.pages.test_free_board import place_of, type_move
from tests.arena.pages.test_pages import violations
from tests.arena.pages.test_play import COVERED
from tests.arena.pages.test_viewer import reads

POSITION = "8/4bwb1/1b1bb3/2bwbw2/1wwwb3/2ww4/3b4/2w5 b - 17"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def prove_all(store: Store) -> None:
    prover = ProblemProver(store)
    try:
        while prover.work(threading.Event()):
            pass
    finally:
        prover.process.close()


@pytest.fixture(scope="module")
def number(server: Server) -> int:
    request = WinProblemRequest(family="loa", position=POSITION, title="Three <b>moves</b>", text="Take care.")
    found = problems.add(server.context.arena, request, None).id
    prove_all(server.store)
    Problems(server.store.sessions).choose_any(problems.this_month())
    return found


def send(server: Server, path: str, **fields: str) -> Any:
    return server.ask("POST", path, data=urlencode(fields).encode(), headers={**FORM, "Origin": server.url})


def solving(server: Server, number: int) -> list[str]:
    """Return the moves that solve the problem, the person's and the replies."""
    return list(problems.solution_of(problems.read(server.context.arena, number)).line)


def test_lists_show_the_problem_with_its_question(server: Server, number: int) -> None:
    for path in ("/problems", "/loa/problems", "/loa/problems?level=medium&moves=3&unique=yes"):
        text = server.get(path).body.decode()
        assert f'href="/problems/{number}"' in text
        assert "Black to move wins in 3" in text
        assert "Three &lt;b&gt;moves&lt;/b&gt;" in text
    assert "Problem of the month" in server.get("/problems").body.decode()
    assert "No problems." in server.get("/loa/problems?level=hard").body.decode()
    assert f'href="/problems/{number}"><svg' in server.get("/").body.decode()
    assert 'class="piece' in server.get("/").body.decode()
    for path in ("/", "/problems"):
        assert "Problems of the day" in server.get(path).body.decode()
    assert "Problem of the day" in server.get("/loa/problems").body.decode()
    assert "Problem of the day" not in server.get("/tablut/problems").body.decode()
    assert server.get("/loa/problems/daily").headers["Location"] == f"/problems/{number}"
    assert server.get("/tablut/problems/daily").headers["Location"] == "/tablut/problems"
    assert "Problem of the day." in server.get(f"/problems/{number}").body.decode()
    feed = server.get("/problems/feed.atom").body.decode()
    assert "Lines of Action, Black to move wins in 3" in feed
    assert server.get("/loa/problems/next").headers["Location"] == f"/problems/{number}"
    assert server.get("/tablut/problems/next").headers["Location"] == "/tablut/problems?tried=all"
    assert b"You have tried all" not in server.get("/tablut/problems?tried=all").body
    assert server.get(f"/problems/{number}.json").json["moves"] == 3


def test_a_problem_is_solved_without_scripts(server: Server, number: int) -> None:
    line = solving(server, number)
    path = f"/problems/{number}"
    reply = send(server, path, line="", move=line[0], do="move")
    assert (reply.status, reply.headers["Location"]) == (303, f"{path}?line={'+'.join(line[:2])}")
    reply = send(server, path, line=" ".join(line[:2]), move=line[2])
    reply = send(server, path, line=" ".join(line[:4]), move=line[4])
    text = server.get(reply.headers["Location"]).body.decode()
    assert 'id="message" role="status">Solved.' in text
    assert '<p class="links" id="onward"><a' in text
    assert 'id="onward" hidden' in server.get(path).body.decode()


def test_a_wrong_move_a_hint_and_the_solution_without_scripts(server: Server, number: int) -> None:
    path = f"/problems/{number}"
    text = send(server, path, line="", move="d2c2").body.decode()
    assert "d2-c2 does not win in 3. Try again." in text
    assert "Start from d2." in send(server, path, line="", do="hint").body.decode()
    text = send(server, path, line="", do="solution").body.decode()
    assert "1. d2-f4 " in text
    assert f'href="{path}?line=d2f4&amp;show=solution"' in text
    assert send(server, path, line="", move="z9").status == 422
    assert server.get(f"{path}?line=a1a2").status == 200
    reply = server.ask("POST", path, data=b"move=d2c2", headers={**FORM, "Origin": "http://elsewhere.example"})
    assert reply.status == 403


def test_the_next_problem_without_an_account_is_none_that_this_browser_has_tried(server: Server, number: int) -> None:
    cookie = send(server, f"/problems/{number}", line="", move="d2c2").headers["Set-Cookie"].partition(";")[0]
    assert cookie == f"arena-problems={number}"
    hint = server.ask(
        "POST", f"/problems/{number}", data=b"do=hint", headers={**FORM, "Origin": server.url, "Cookie": cookie}
    )
    assert "Set-Cookie" not in hint.headers
    for path, sent in (("/loa/problems/next", cookie), (f"/loa/problems/next?after={number}", "")):
        reply = server.get(path, headers={"Cookie": sent})
        assert reply.headers["Location"] == "/loa/problems?tried=all"
    assert b"You have tried all problems of this game." in server.get("/loa/problems?tried=all").body
    for sent in ("arena-problems=nonsense", "arena-problems=" + "9-" * 500, f"arena-problems={number + 1}"):
        reply = server.get("/loa/problems/next", headers={"Cookie": sent})
        assert reply.headers["Location"] == f"/problems/{number}"


def test_a_browser_remembers_a_bounded_number_of_problems(server: Server, number: int) -> None:
    many = "-".join(str(one) for one in range(number + 1, number + 1 + MAX_TRIED))
    headers = {**FORM, "Origin": server.url, "Cookie": f"arena-problems={many}"}
    reply = server.ask("POST", f"/problems/{number}/move.json", data=b"move=d2c2", headers=headers)
    kept = reply.headers["Set-Cookie"].partition(";")[0].partition("=")[2].split("-")
    assert (len(kept), kept[0], kept[-1]) == (MAX_TRIED, str(number + 2), str(number))


def test_a_solution_is_shown_in_french(server: Server, number: int) -> None:
    text = server.get(f"/problems/{number}?show=solution&lang=fr").body.decode()
    assert '<span class="quiet">gagne</span>' in text
    text = send(server, f"/problems/{number}?lang=fr", line="", move="d2c2").body.decode()
    assert "d2-c2 ne gagne pas en 3 coups." in text


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("champion - champion-2, ply 40", "champion - champion-2, demi-coup 40"),
        ("ply 7", "demi-coup 7"),
        ("a column, ply of May", "a column, ply of May"),
    ],
)
def test_the_source_of_a_mined_problem_is_in_the_language_of_the_page(server: Server, source: str, shown: str) -> None:
    found = problems.read(server.context.arena, _stored(server.store, digest=source, source=source))
    with language.using("fr"):
        assert source_of(found) == shown


def test_a_problem_is_solved_on_the_board(server: Server, number: int, browser: Any) -> None:
    line = solving(server, number)
    with window(browser, 320, 640, has_touch=True) as page:
        page.goto(f"{server.url}/problems/{number}")
        page.wait_for_selector("#solve[data-ready]")
        page.evaluate("document.getElementById('frame').scrollIntoView()")
        chart = server.get(f"/problems/{number}/scenes.json").json["chart"]
        for cell in ("d2", "c2"):
            page.touchscreen.tap(*place_of(page, chart, cell))
        reads(page, "#message", "d2-c2 does not win in 3. Try again.")
        for ply in (0, 2, 4):
            page.wait_for_selector(".hit", state="attached")
            for cell in re.findall("[a-h][1-8]", line[ply]):
                page.touchscreen.tap(*place_of(page, chart, cell))
            reads(page, "#message", "Solved." if ply == 4 else f"Right. Moves left: {2 - ply // 2}.")
            assert page.is_visible("#onward") == (ply == 4)
        assert page.inner_text("#left") == "0"
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        assert violations(page) == []


def test_a_problem_fits_a_small_window_and_tells_its_end(server: Server, number: int, browser: Any) -> None:
    line = solving(server, number)
    server.store.users.add("rex", "author", hash_password(PASSWORD, "rex"))
    with window(browser, 1280, 800, is_apart=True) as page:
        _log_in(page, server, "rex", f"/problems/{number}")
        page.wait_for_selector("#solve[data-ready]")
        assert "no rated attempt yet" in page.inner_text("#strength")
        for ply in (0, 2, 4):
            page.wait_for_selector(".hit", state="attached")
            bar = page.locator(".bar").bounding_box()
            assert bar["y"] + bar["height"] <= 800
            type_move(page, line[ply])
            reads(page, "#left", str(2 - ply // 2))
        reads(page, "#rated", re.compile("^Your first attempt solved it"))
        assert "solved in 1 of 1 first attempts" in page.inner_text("#strength")
        bar = page.locator(".bar").bounding_box()
        assert bar["y"] + bar["height"] <= 800


def test_a_problem_is_set_up_proved_and_solved_by_another(server: Server, browser: Any, number: int) -> None:
    store = server.store
    for name in ("setter", "solver"):
        store.users.add(name, "author", hash_password(PASSWORD, name))
    with window(browser, height=1800, is_apart=True) as page:
        _log_in(page, server, "setter", "/loa/problems/new")
        page.wait_for_selector("#setup[data-ready]")
        page.click("#arrange")
        page.click("[data-set=clear]")
        chart = server.get("/loa/board/scenes.json").json["chart"]
        for piece, cells in (("b", "c4 d5 e5 d2"), ("w", "c7 f7 e4")):
            page.check(f"[name=piece][value={piece}]", force=True)
            for cell in cells.split():
                page.mouse.click(*place_of(page, chart, cell))
        page.check("[name=to-move][value=first]")
        page.wait_for_selector("#use:not([hidden])")
        page.click("#use")
        page.wait_for_selector("#set")
        assert "position=8" in page.url
        assert violations(page) == []
        page.fill("#set [name=title]", "Close up")
        page.fill("#set [name=max_moves]", "2")
        page.click("#set button")
        page.wait_for_url(re.compile(r"/problems/\d+$"))
        assert "The solver is checking" in page.inner_text("main")
        path = page.url.removeprefix(server.url)
        prove_all(store)
        page.goto(server.url + path)
        reads(page, "#question", "Black to move wins in 1")
    with window(browser, is_apart=True) as page:
        _log_in(page, server, "solver", path)
        page.wait_for_selector("#solve[data-ready]")
        for cell in ("d2", "c3"):
            page.mouse.click(*place_of(page, chart, cell))
        page.wait_for_selector("#solve[data-state=solved]")
        assert page.inner_text("#message").startswith("Solved. Your strength: 25.0 → ")
        page.goto(f"{server.url}/loa/problems")
        assert "solver" in page.inner_text("table")
        assert "Your strength: " in page.inner_text("main")
        assert page.inner_text("section:has(#all-title) .tag.good") == "✓ solved"


def _log_in(page: Any, server: Server, name: str, target: str) -> None:
    page.goto(f"{server.url}/login?next={quote(target, safe='')}")
    page.fill("[name=user]", name)
    page.fill("[name=password]", PASSWORD)
    page.click("main button")
    page.wait_for_url(server.url + target)


def test_a_wrong_problem_is_explained_above_its_form(server: Server) -> None:
    text = server.get("/abalone/problems/new?position=nonsense").body.decode()
    assert 'role="alert">' in text
    assert "Log in</a> to set a" in text
    assert server.get("/problems/999").status == 404
    assert server.get("/nonsuch/problems").status == 404


def test_a_streak_is_told_as_soon_as_the_problem_of_the_day_is_solved(
    server: Server, browser: Any, number: int
) -> None:
    server.store.users.add("daily", "author", hash_password(PASSWORD, "daily"))
    chosen = problems.of_day(server.context.arena, "loa")  # perhaps that of another test, with the same position
    assert chosen
    moves = solving(server, chosen.id)
    with window(browser, is_apart=True) as page:
        _log_in(page, server, "daily", f"/problems/{chosen.id}")
        assert "Solve it every day for a streak." in page.inner_text("#daily")
        page.wait_for_selector("#solve[data-ready]")
        page.click("summary:text-is('Type a move')")
        for move in moves[::2]:
            type_move(page, move)
        page.wait_for_selector("#solve[data-state=solved]")
        reads(page, "#daily", "Problem of the day. Solved on 1 day in a row.")
        page.goto(f"{server.url}/problems")
        assert "Solved on 1 day in a row." in page.inner_text("main")


def test_an_author_removes_a_problem_after_a_confirmation(server: Server, browser: Any) -> None:
    store = server.store
    owner = store.users.add("owner", "author", hash_password(PASSWORD, "owner")).id
    number = _stored(store, digest="mine", created_by=owner)
    assert b"Remove this problem" not in server.get(f"/problems/{number}").body
    assert send(server, f"/problems/{number}/remove").status == 401
    with window(browser, is_apart=True) as page:
        _log_in(page, server, "owner", f"/problems/{number}")
        assert not page.is_visible("text=the problem disappears from all lists")
        page.click("text=Remove this problem…")
        page.click("main details button:text-is('Remove')")
        page.wait_for_url(f"{server.url}/loa/problems")
    assert server.get(f"/problems/{number}").status == 404


def _stored(store: Store, **given: Any) -> int:
    """Store a problem that waits for its proof; return its number."""
    known = {"family": "loa", "variant": "standard", "position": POSITION, "side": "first", "max_moves": 3}
    return Problems(store.sessions).add(StoredProblem(**known, mu=25.0, sigma=8.0, **given))


def test_an_organiser_chooses_the_problem_of_the_month_by_page(server: Server, browser: Any, number: int) -> None:
    store = server.store
    store.users.add("chooser", "organiser", hash_password(PASSWORD, "chooser"))
    chosen = _stored(store, digest="chosen", title="Chosen by hand")
    Problems(store.sessions).accept(chosen, Proof(1, True, True, 0, "easy", {"d2f4": {}}, 20.0))
    assert b"Make it the problem of the month" not in server.get(f"/problems/{chosen}").body
    assert send(server, f"/problems/{chosen}/month").status == 401
    with window(browser, is_apart=True) as page:
        _log_in(page, server, "chooser", f"/problems/{chosen}")
        page.click("text=Make it the problem of the month")
        month = language.month_name(problems.this_month())
        reads(page, ".crumbs", re.compile(f"problem of the month, {month}$"))
    try:
        assert f'href="/problems/{chosen}"' in server.get("/").body.decode()
        assert f"Problem of the month ({month})" in server.get("/problems").body.decode()
        assert "Chosen by hand" in server.get("/problems/feed.atom").body.decode()
    finally:
        Problems(store.sessions).choose(number, problems.this_month())
        Problems(store.sessions).remove(chosen)


def test_problems_can_be_downloaded_as_a_booklet(site: Site) -> None:
    page = site.server.get("/loa/problems").body.decode().replace("\n", " ")
    assert 'href="/loa/problems/booklet.pdf?language=en"' in page
    reply = site.server.get("/loa/problems/booklet.pdf?language=fr&layout=presentation")
    assert (reply.status, reply.headers["Content-Type"]) == (200, "application/pdf")
    assert reply.body.startswith(b"%PDF")
    assert site.server.get("/tablut/problems/booklet.pdf").status == 422


def test_an_unknown_problem_is_named_in_french(server: Server) -> None:
    said = "Pas de problème «\u202fnothing\u202f»."
    assert said in server.get("/problems/nothing?lang=fr").body.decode()


@pytest.mark.parametrize(("language", "start"), [("en", "/docs/"), ("fr", "/docs/fr/")])
def test_the_board_leads_to_the_site_in_its_language(site: Site, language: str, start: str) -> None:
    check_links(site, "/problems/1", language, start)


def test_the_bar_of_a_board_covers_no_control_on_a_phone(browser: Any, server: Server) -> None:
    with window(browser, 320, 568, has_touch=True) as page:
        page.goto(f"{server.url}/pijersi/problems/new")
        assert page.evaluate(COVERED) == []


def test_the_analysis_board_sets_its_position_as_a_problem(site: Site, browser: Any) -> None:
    with window(browser) as page:
        page.goto(f"{site.url}/loa/board?moves=b1b3")
        page.click('[data-go="home"]')
        reads(page, "#ply", "0")
        page.click("[data-of-position]")
        page.wait_for_selector("h1:text-is('Set a problem')")
        assert page.input_value("textarea[name=position]") == str(Position.start(load("loa").settle()))
