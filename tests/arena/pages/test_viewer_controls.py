"""What the viewer offers beside stepping, in Chromium: motion, sounds, evaluation, drawings, settings."""

from __future__ import annotations

import re
from typing import Any

import pytest

from referee.rules import load
from tests.arena.pages.conftest import Site, Witness
from tests.arena.pages.stage import begin, random_moves, record_of
from tests.arena.pages.test_free_board import place_of
from tests.arena.pages.test_pages import visit
from tests.arena.pages.test_viewer import reads, shown


def board_box(page: Any) -> dict[str, float]:
    return page.locator("#frame svg.board").bounding_box()  # type: ignore[no-any-return]


@pytest.mark.parametrize("family", ["loa", "pijersi"])  # squares; hexagons, whose board is wider than it is high
def test_board_fills_the_window(site: Site, page: Any, family: str) -> None:
    visit(page, site, f"/games/{site.stage.finished[family]}")
    for width, height in ((1280, 720), (1920, 1080)):
        page.set_viewport_size({"width": width, "height": height})
        box = board_box(page)
        assert box["height"] > 0.7 * height or box["width"] > 0.52 * width, (width, box)
    for width, height in ((375, 667), (320, 568)):
        page.set_viewport_size({"width": width, "height": height})
        box = board_box(page)
        assert (box["x"], box["width"]) == (0, width)


MOVEMENTS = """async ([before, after]) => (await import("/static/motion.js")).movements(before, after)"""


def scene(ply: int, pieces: dict[str, str], **more: Any) -> dict[str, Any]:
    return {"ply": ply, "pieces": pieces, "trail": [], "line": [], **more}


@pytest.mark.parametrize(
    ("before", "after", "moved", "vanished"),
    [
        pytest.param(
            scene(0, {"a1": "S", "a2": "S", "a3": "s"}),
            scene(1, {"a2": "S", "a3": "S"}, line=["a1", "a2", "a3"], trail=[["a1", "a2", "a3"]]),
            [["a1", "a2"], ["a2", "a3"]],
            ["a3"],
            id="push over the edge",
        ),
        pytest.param(
            scene(1, {"a2": "S", "a3": "S", "a4": "s"}, line=["a1", "a2", "a3", "a4"]),
            scene(0, {"a1": "S", "a2": "S", "a3": "s"}),
            [["a4", "a3"], ["a3", "a2"], ["a2", "a1"]],
            [],
            id="push taken back",
        ),
        pytest.param(
            scene(0, {"a1": "SP", "b1": "r"}),
            scene(1, {"b1": "SP"}, trail=[["a1", "b1"]]),
            [["a1", "b1"], ["a1", "b1"]],
            ["b1"],
            id="stack that captures",
        ),
        pytest.param(
            scene(0, {"a1": "L", "c3": "p"}),
            scene(1, {"e5": "L"}, trail=[["a1", "c3", "e5"]]),
            [["a1", "c3", "e5"]],
            ["c3"],
            id="leap",
        ),
        pytest.param(
            scene(0, {"a1": "S", "b1": "S"}),
            scene(1, {"a2": "S", "b2": "S"}, trail=[["a1", "a2"], ["b1", "b2"]]),
            [["a1", "a2"], ["b1", "b2"]],
            [],
            id="broadside",
        ),
    ],
)
def test_movements_of_every_kind_are_found(
    site: Site, page: Any, before: Any, after: Any, moved: list[list[str]], vanished: list[str]
) -> None:
    visit(page, site, "/limits")
    found = page.evaluate(MOVEMENTS, [before, after])
    assert sorted(one["path"] for one in found["moved"]) == sorted(moved)
    assert [one["cell"] for one in found["vanished"]] == vanished


MOVING = "document.querySelector('#frame svg.board').getAnimations({subtree: true}).length"


def test_a_step_moves_pieces_unless_motion_is_reduced(site: Site, page: Any) -> None:
    visit(page, site, f"/games/{site.stage.finished['loa']}?ply=4")
    stepped = f"() => {{ document.querySelector('[data-go=right]').click(); return {MOVING}; }}"
    assert page.evaluate(stepped) == 0
    page.emulate_media(reduced_motion="no-preference")
    assert page.evaluate(stepped) > 0


SPEAKER = """
window.tones = 0;
window.AudioContext = class {
  constructor() { this.currentTime = 0; this.destination = {}; }
  resume() {}
  part() {
    const ramp = { setValueAtTime() {}, exponentialRampToValueAtTime() {} };
    return { frequency: ramp, gain: ramp, connect: (other) => other, start() { window.tones += 1; }, stop() {} };
  }
  createOscillator() { return this.part(); }
  createGain() { return this.part(); }
};
"""


def test_sounds_are_off_until_chosen_and_stay_chosen(site: Site, page: Any) -> None:
    page.add_init_script(SPEAKER)
    game = site.stage.finished["loa"]
    visit(page, site, f"/games/{game}?ply=1")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("tones") == 0
    page.click("[data-go=display]")
    page.check("[data-setting=sound]")
    page.keyboard.press("Escape")
    visit(page, site, f"/games/{game}?ply=1")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("tones") > 0


def test_evaluation_bar_shows_the_chances_at_each_ply(site: Site, page: Any) -> None:
    game = site.stage.finished["abalone"]  # not analysed: the bar shows what the bots reported
    record = site.stage.store.games.record(game)
    value = "Number(document.getElementById('gauge').value)"
    visit(page, site, f"/games/{game}?ply=0")
    assert page.evaluate(value) == 50
    for ply in range(1, 5):
        page.keyboard.press("ArrowRight")
        score = record.plies[ply - 1].score * (1 if ply % 2 else -1)
        assert (page.evaluate(value) > 50) == (score > 0), ply


def test_result_stands_at_the_end_of_the_list(site: Site, page: Any) -> None:
    for game in (site.stage.finished["loa"], site.stage.forfeit):
        line = site.stage.store.games.get(game)
        visit(page, site, f"/games/{game}")
        result = {"first": "1-0", "second": "0-1", "draw": "½-½"}[line.winner]
        words = {"max-plies": "maximum length"}.get(line.termination, line.termination)
        assert page.inner_text("#moves > :last-child") == f"{result} {words}"


def test_captured_pieces_are_with_the_captor(site: Site, page: Any) -> None:
    game = site.stage.finished["loa"]
    data = site.server.get(f"/games/{game}/scenes.json").json
    gone = data["scenes"][-1]["gone"]
    visit(page, site, f"/games/{game}")
    for _ in range(2):  # drawn by the server, then by the script
        for side, symbol, other in (("first", "w", "b"), ("second", "b", "w")):
            text = page.inner_text(f"[data-taken={side}]")
            assert f"×{gone[symbol]}" in text
            lead = gone[symbol] - gone[other]
            assert (f"+{lead}" in text) == (lead > 0)
        page.keyboard.press("Home")
        assert page.inner_text("[data-taken=first]") == ""
        page.keyboard.press("End")


def test_marks_have_colours_on_list_and_board(site: Site, page: Any) -> None:
    game = site.stage.finished["loa"]
    visit(page, site, f"/games/{game}")
    marked = page.locator("#moves a:has(.nag)").first
    ply = int(marked.get_attribute("data-ply"))
    kind = marked.locator(".nag").get_attribute("class").split()[-1]
    marked.click()
    badge = page.locator("#frame [data-layer=badge] use")
    assert badge.get_attribute("href") == f"#badge-{kind}"
    text = site.server.get(f"/games/{game}?ply={ply}").body.decode()
    assert f'<g data-layer="badge"><use href="#badge-{kind}"' in text
    plain = page.evaluate("getComputedStyle(document.querySelector('#moves a')).color")
    coloured = page.evaluate("getComputedStyle(document.querySelector('#moves a:not([aria-current]) .nag')).color")
    assert coloured != plain


def test_wheel_steps_and_leaves_the_page_where_it_is(site: Site, page: Any) -> None:
    visit(page, site, f"/games/{site.stage.finished['tablut']}?ply=5")
    box = board_box(page)
    page.mouse.move(box["x"] + 100, box["y"] + 100)
    page.mouse.wheel(0, 100)
    reads(page, "#ply", "6")
    page.mouse.wheel(0, -100)
    reads(page, "#ply", "5")
    assert page.evaluate("scrollY") == 0


def test_playback_has_speeds_of_its_own_and_of_the_game(site: Site, page: Any) -> None:
    game = site.stage.finished["loa"]
    visit(page, site, f"/games/{game}?ply=1")
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now()") + 1000)
    page.select_option("#speed", "2000")
    page.click('[data-go="play"]')
    page.clock.run_for(1990)
    assert shown(page) == 1
    page.clock.run_for(20)
    assert shown(page) == 2
    page.select_option("#speed", "game")
    page.clock.run_for(2000)
    last = site.stage.store.games.record(game)
    times = [max(200, ply.ms) for ply in last.plies[3:]]
    at = shown(page)
    page.clock.run_for(times[at - 3] + 20)
    assert shown(page) == at + 1
    assert page.evaluate("localStorage.getItem('arena-speed')") == "game"
    page.clock.resume()  # other tests share the browser context


def test_arrows_are_drawn_with_the_right_button_and_cleared(site: Site, page: Any) -> None:
    game = site.stage.finished["loa"]
    visit(page, site, f"/games/{game}?ply=3")
    chart = site.server.get(f"/games/{game}/scenes.json").json["chart"]
    drawn = page.locator("#frame .sketch > *")

    def draw(start: str, end: str) -> None:
        page.mouse.move(*place_of(page, chart, start))
        page.mouse.down(button="right")
        page.mouse.move(*place_of(page, chart, end))
        page.mouse.up(button="right")

    draw("a1", "d4")
    draw("c3", "c3")
    assert drawn.evaluate_all("(all) => all.map((one) => one.tagName)") == ["path", "circle"]
    draw("c3", "c3")
    assert drawn.count() == 1
    page.keyboard.press("ArrowRight")
    assert drawn.count() == 0


def test_settings_of_the_board_are_remembered(site: Site, page: Any) -> None:
    visit(page, site, f"/games/{site.stage.finished['loa']}")
    stray = page.locator("#frame .mark-stray").first
    cell = "getComputedStyle(document.querySelector('#frame .cell-odd')).fill"
    wood = page.evaluate(cell)
    assert not stray.is_visible()
    page.click("[data-go=display]")
    page.select_option("[data-setting=board]", "green")
    page.select_option("[data-setting=pieces]", "flat")
    page.check("[data-setting=hints]")
    page.keyboard.press("Escape")
    for path in ("", "/loa/board"):
        if path:
            visit(page, site, path)
        assert page.evaluate(cell) not in (wood, "")
        assert page.evaluate("document.documentElement.dataset.pieces") == "flat"
        page.click("[data-go=display]")
        assert page.is_checked("[data-setting=hints]")
        assert page.input_value("[data-setting=board]") == "green"
        page.keyboard.press("Escape")
    assert page.locator("#frame .mark-stray").first.is_visible()


def test_boards_are_light_in_the_dark_theme(site: Site, page: Any) -> None:
    page.emulate_media(color_scheme="dark")
    visit(page, site, f"/games/{site.stage.finished['loa']}")
    fill = page.evaluate("getComputedStyle(document.querySelector('#frame .cell')).fill")
    assert min(map(int, re.findall(r"\d+", fill))) > 150


def test_full_screen_and_zen_show_less(site: Site, page: Any) -> None:
    page.add_init_script("Element.prototype.requestFullscreen = function () { window.full = this.id; };")
    visit(page, site, f"/games/{site.stage.finished['loa']}")
    page.click("[data-go=full]")
    assert page.evaluate("full") == "viewer"
    page.keyboard.press("z")
    assert not page.locator(".top").is_visible()
    assert page.locator("#moves").is_visible()
    page.keyboard.press("z")
    assert page.locator(".top").is_visible()


def test_an_embedded_game_offers_nothing_that_its_scripts_do_not_do(site: Site) -> None:
    game = site.stage.finished["loa"]
    assert 'id="learn"' in site.server.get(f"/games/{game}").body.decode()
    assert 'id="learn"' not in site.server.get(f"/embed/games/{game}").body.decode()


def test_one_mistake_after_the_other_is_learned_from(site: Site, page: Any) -> None:
    game = site.stage.finished["loa"]
    visit(page, site, f"/games/{game}")
    page.click("#begin")
    reads(page, "#task", re.compile(r"^1 of \d+: \w+ played .*\. Find a better move\.$"))
    ply = shown(page)
    page.wait_for_selector("#frame .hit", state="attached")
    data = site.server.get(f"/loa/board/scenes.json?game={game}&ply={ply}").json
    played = site.server.get(f"/games/{game}/scenes.json").json["scenes"][ply + 1]
    move = site.stage.store.games.record(game).moves[ply]
    way = next(legal["ways"][0] for legal in data["legal"] if legal["move"] == move)
    for cell in way:
        page.mouse.click(*place_of(page, data["chart"], cell))
    reads(page, "#task", f"{played['move'].rstrip('?!')} is the move that was played. Find a better one.")
    page.click("#solve")
    reads(page, "#task", re.compile("^The engine prefers "))
    page.click("#next")
    reads(page, "#task", re.compile(r"^2 of "))


def test_the_next_game_follows_where_that_is_wanted(site: Site, page: Any) -> None:
    first = site.stage.finished["tablut"]
    visit(page, site, f"/games/{first}")
    following = page.get_attribute('#about a[rel="next"]', "href")
    page.click("[data-go=display]")
    page.check("[data-setting=onward]")
    page.click("#display form button")
    page.select_option("#speed", "150")
    page.evaluate(f"location.hash = '#{len(site.stage.store.games.record(first).moves) - 1}'")
    page.click('[data-go="play"]')
    reads(page, "#about dd.mono", following.rsplit("/", 1)[1])
    page.wait_for_selector("#viewer[data-ready=yes]", state="attached")


def test_the_code_of_a_frame_has_a_whole_address(site: Site, page: Any) -> None:
    visit(page, site, f"/games/{site.stage.finished['loa']}")
    assert f'src="{site.url}/embed/games/' in page.inner_text("code:has([data-site])")


def test_a_live_part_follows_where_somebody_clicked_in_it(site: Site, page: Any, witness: Witness) -> None:
    game = begin(site.stage, "pijersi", "clicked")
    store = site.stage.store
    tournament = store.games.get(game.id).tournament_id
    visit(page, site, f"/tournaments/{tournament}")
    region = page.locator("[data-live-part] .wide").first
    region.focus()
    with page.expect_response(f"**/tournaments/{tournament}"):
        record = record_of(game, random_moves(load("pijersi").settle(), 3, seed=1))
        assert store.results.commit(record) is not None
        site.server.call(_publish(site, tournament))
    reads(page, "#progress strong", "1 of 1")
    assert page.evaluate("document.activeElement.className") == "wide"


async def _publish(site: Site, tournament: int) -> None:
    from arena.events.messages import TournamentChanged

    site.server.context.arena.bus.publish(TournamentChanged(tournament=tournament, state="running"))
