"""The game viewer in Chromium: replays by keyboard in every family, and a live game across a lost connection."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any

import pytest

from arena.events.messages import GameAborted, GameMoved, GameStarted
from referee.game.record import Ply
from referee.rules import load
from referee.rules.position import Position
from tests.arena.pages.conftest import Site, Witness, window
from tests.arena.pages.stage import begin, random_moves, record_of
from tests.arena.pages.test_pages import visit


def shown(page: Any) -> int:
    return int(page.inner_text("#ply"))


def reads(page: Any, selector: str, text: Any) -> None:
    """Wait until an element has this text. (`wait_for_function` needs `eval`, which the page's policy forbids.)"""
    from playwright.sync_api import expect

    expect(page.locator(selector)).to_have_text(text)


@pytest.mark.parametrize("family", ["loa", "pijersi"])  # squares; hexagons with stacks
def test_a_replay_by_keyboard(site: Site, page: Any, family: str) -> None:
    game = site.stage.finished[family]
    record = site.stage.store.games.record(game)
    positions = [str(position) for position in _positions(record)]
    last = len(record.moves)
    visit(page, site, f"/games/{game}")
    assert shown(page) == last

    def press(key: str, expected: int) -> None:
        page.keyboard.press(key)
        assert shown(page) == expected, key
        assert page.inner_text("#position") == positions[expected]
        current = page.locator("#moves a[aria-current]")
        assert current.count() == (1 if expected else 0)
        if expected:
            assert current.get_attribute("data-ply") == str(expected)

    press("Home", 0)
    press("ArrowLeft", 0)
    press("ArrowRight", 1)
    assert page.inner_text("#status").split() == f"Ply 1 of {last}: {page.inner_text('#spoken')}".split()
    press("ArrowDown", 11)
    press("ArrowUp", 1)
    press("End", last)
    press("ArrowRight", last)
    press("ArrowUp", max(0, last - 10))
    assert page.url.endswith(f"#{max(0, last - 10)}")

    # Letters work wherever the focus is.
    straight = _layers(page)
    page.keyboard.press("f")
    assert not same(_layers(page), straight)
    page.keyboard.press("f")
    assert same(_layers(page), straight)

    # The script draws what the server draws, at every ply and turned round.
    visit(page, site, f"/games/{game}?ply={last // 2}")
    page.focus("#frame")
    for key, ply in (("", last // 2), ("End", last), ("Home", 0), ("ArrowRight", 1)):
        if key:
            press(key, ply)
        scripted = _layers(page)
        page.keyboard.press("f")
        turned = _layers(page)
        page.keyboard.press("f")
        assert same(scripted, _layers_written(site, page, f"/games/{game}?ply={ply}")), ply
        assert same(turned, _layers_written(site, page, f"/games/{game}?ply={ply}&flip=1")), ply

    page.goto(f"{site.url}/games/{game}#3")
    page.wait_for_selector("#viewer[data-ready=yes]", state="attached")
    assert shown(page) == 3
    page.focus("#frame")
    page.keyboard.press(" ")
    assert page.get_attribute('[data-go="play"]', "aria-pressed") == "true"
    reads(page, "#ply", re.compile(r"^(?!3$)\d+$"))  # it may be further on before anybody looks
    page.keyboard.press(" ")
    assert shown(page) > 3
    assert page.get_attribute('[data-go="play"]', "aria-pressed") == "false"
    assert page.get_attribute("#permalink", "href") == f"?ply={shown(page)}"
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    reads(page, "#copied", re.compile("copied|selected"))


def _positions(record: Any) -> list[Position]:
    from referee.game.record import positions

    return positions(record)


_READ = """(svg) => {
  const number = /-?[0-9]+(?:[.][0-9]+)?(?:e-?[0-9]+)?/g;
  const told = (one) => [...one.attributes].map((a) => [
    a.name,
    a.name === 'href' ? a.value : a.value.replace(number, '#').replace(/[ ,]/g, ''),
    a.name === 'href' ? [] : (a.value.match(number) || []).map(Number),
  ]).sort((a, b) => (a[0] < b[0] ? -1 : 1));
  return [...svg.querySelectorAll('[data-layer]')]
    .filter((layer) => !['cells', 'labels'].includes(layer.dataset.layer))
    .map((layer) => [layer.dataset.layer, [...layer.children].map(told)]);
}"""


def _layers(page: Any) -> Any:
    """Return the board's layers with their elements, and their attributes split into words and numbers."""
    return page.eval_on_selector("svg.board", _READ)


def _layers_written(site: Site, page: Any, address: str) -> Any:
    """Return the same for a page as the server rendered it."""
    text = site.server.get(address).body.decode()
    return page.evaluate(
        f"(text) => ({_READ})(new DOMParser().parseFromString(text, 'text/html').querySelector('svg.board'))", text
    )


def same(one: Any, two: Any) -> bool:
    """Return whether two drawings agree to half a unit, an eightieth of a cell."""
    if isinstance(one, int | float) and isinstance(two, int | float):
        return abs(one - two) < 0.5
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(same, one, two))
    return bool(one == two)


SCREENS = [(1280, 720), (1366, 768), (1440, 900), (375, 667), (320, 568)]


def test_the_viewer_fits_one_screen(site: Site, page: Any) -> None:
    visit(page, site, f"/games/{site.stage.finished['baroque']}")
    parts = [
        "#frame svg",
        "[data-clock=first]",
        "[data-clock=second]",
        "#said",
        *[f"[data-go={goal}]" for goal in GOES],
    ]
    for width, height in SCREENS:
        page.set_viewport_size({"width": width, "height": height})
        boxes = {part: page.locator(part).bounding_box() for part in parts}
        for part, box in boxes.items():
            assert box["y"] >= 0, (part, width)
            assert box["y"] + box["height"] <= height, (part, width)
        if width < 960:
            bar = page.locator(".bar").bounding_box()
            players = [page.locator(f"[data-player={side}]").bounding_box() for side in ("first", "second")]
            assert max(player["y"] + player["height"] for player in players) <= bar["y"] + 1, width
        if width >= 1280:
            chart = page.locator("#charts svg").first.bounding_box()
            assert chart["y"] + chart["height"] <= height, width


GOES = ("home", "left", "play", "right", "end", "flip")


def test_the_list_is_one_stop_and_letters_can_be_switched_off(site: Site, page: Any) -> None:
    visit(page, site, f"/games/{site.stage.finished['loa']}?ply=5")
    assert page.locator('#moves [tabindex="0"]').count() == 1
    page.focus('#moves [tabindex="0"]')
    for key, ply in (("ArrowDown", 7), ("ArrowRight", 8), ("ArrowUp", 6), ("Home", 0), ("ArrowRight", 1)):
        page.keyboard.press(key)
        assert shown(page) == ply
        focused = page.evaluate("document.activeElement.dataset.ply")
        assert focused == str(max(1, ply))
    page.keyboard.press("?")
    page.uncheck("#letters")
    page.keyboard.press("Escape")
    page.focus("#frame")
    before = _layers(page)
    page.keyboard.press("f")
    assert same(_layers(page), before)
    page.reload()
    page.wait_for_selector("#viewer[data-ready=yes]", state="attached")
    assert not page.is_checked("#letters")


def test_a_chart_has_the_key_of_its_own_colours(site: Site) -> None:
    page = site.server.get(f"/games/{site.stage.finished['loa']}").body.decode()
    figures = re.findall(r'<figure aria-label="([^"]+)">(.*?)</figure>', page, re.DOTALL)
    keys = {
        title.partition(" (")[0]: re.findall(r'<span class="key\d">([^<]+)</span>', inner) for title, inner in figures
    }
    sides = list(load("loa").sides)
    assert keys["Winning chances"] == []
    assert keys["Evaluation"] == [*sides, "engines disagree"]
    assert keys["Time per move"] == keys["Time left"] == sides


def test_a_click_in_the_chart_is_a_ply_and_a_swipe_is_one(site: Site, page: Any) -> None:
    visit(page, site, f"/games/{site.stage.finished['loa']}")
    at = shown(page)
    page.focus("#chart-1")  # the charts are behind tabs, with arrow keys of their own
    for key, chart in (("ArrowRight", 1), ("ArrowLeft", 0)):
        page.keyboard.press(key)
        assert [figure.is_visible() for figure in page.locator("#charts figure").all()].index(True) == chart
        assert page.locator("#charts figure:visible").count() == 1
        assert shown(page) == at
    box = page.locator("#charts svg").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    middle = shown(page)
    assert 20 < middle < 40
    page.mouse.move(box["x"] + box["width"] / 4, box["y"] + box["height"] / 2)
    page.mouse.up()
    assert shown(page) < middle
    at = shown(page)
    for x, ply in ((-80, at + 1), (80, at)):
        page.evaluate(
            """(x) => {
              const frame = document.getElementById("frame");
              const touch = (at) => [new Touch({ identifier: 1, target: frame, clientX: at, clientY: 300 })];
              frame.dispatchEvent(new TouchEvent("touchstart", { touches: touch(200), changedTouches: touch(200) }));
              frame.dispatchEvent(new TouchEvent("touchend", { touches: [], changedTouches: touch(200 + x) }));
            }""",
            x,
        )
        assert shown(page) == ply


def test_what_a_bot_expected_is_played_out(site: Site, page: Any) -> None:
    game = site.stage.finished["loa"]
    record = site.stage.store.games.record(game)
    visit(page, site, f"/games/{game}?ply=4")
    steps = page.locator('[data-thought="second"] button.step')
    steps.nth(3).wait_for()
    assert steps.count() == 4  # ply 4 expected the three behind it
    assert steps.nth(3).get_attribute("aria-current") == "true"
    steps.nth(0).click()
    assert steps.nth(0).get_attribute("aria-current") == "true"
    small = page.eval_on_selector('[data-thought="second"] svg', _READ)
    assert [layer for layer in small if layer[0] == "pieces"] == [
        layer for layer in _layers(page) if layer[0] == "pieces"
    ]
    text = page.inner_text('[data-thought="second"] .figures')
    assert f"depth {record.plies[3].depth}" in text
    scored = page.locator('#moves a[data-ply="4"]').locator("xpath=../following-sibling::td[2]").inner_text()
    assert text.startswith(scored)
    assert scored.startswith("+" if record.plies[3].score < 0 else "−")  # it is the second side's: seen from the first


def test_moves_are_copied_as_text(site: Site, page: Any) -> None:
    game = site.stage.finished["loa"]
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit(page, site, f"/games/{game}")
    page.click('[data-go="moves"]')
    reads(page, "#copied", "copied")
    text = page.evaluate("navigator.clipboard.readText()")
    shown_moves = page.eval_on_selector_all("#moves a[data-ply]", "(links) => links.map((one) => one.textContent)")
    assert re.sub(r"\d+\.+ ", "", text).split() == [re.sub(r"[?!]+$", "", move) for move in shown_moves]
    assert text.startswith("1. ")


def test_buttons_do_what_keys_do(site: Site, page: Any) -> None:
    visit(page, site, f"/games/{site.stage.finished['loa']}?ply=5")
    page.click('[data-go="right"]')
    assert shown(page) == 6
    page.click('[data-go="home"]')
    assert shown(page) == 0
    page.click('#moves a[data-ply="4"]')
    assert shown(page) == 4
    for button in page.locator(".controls > :visible").all():
        box = button.bounding_box()
        assert box["width"] >= 44
        assert box["height"] >= 44


def charts_grow(page: Any, count: int) -> None:
    """Wait until the time chart has this many bars per side."""
    from playwright.sync_api import expect

    for side in ("bar1", "bar2"):
        bars = page.locator(f"#charts .{side}")
        expect(bars).to_have_attribute("d", re.compile(rf"^(M[^M]*){{{count}}}$"))


def test_a_live_game_is_followed_across_a_cut(site: Site, page: Any, witness: Witness) -> None:
    game = begin(site.stage, "pijersi")
    bus = site.server.context.arena.bus
    moves = random_moves(load("pijersi").settle(game.spec.variant), 14, seed=5)

    def publish(first: int, last: int) -> None:
        for number in range(first, last + 1):
            ply = Ply(10.0 + number, score=number, move=moves[number - 1])
            bus.publish(GameMoved(game=game.id, first=number, plies=(ply,)))

    bus.publish(GameStarted(game=game.id, tournament=1))
    publish(1, 4)
    site.server.call(_think(site, game.id, 4, 20))
    visit(page, site, f"/games/{game.id}")
    reads(page, "#connection", "Live")
    reads(page, "[data-clock=first]", re.compile(r"^[1-4]?\d\.\d s$"))  # of 60+0.5, goes on since the last ply
    assert "change when the game ends" in page.inner_text("#about")
    reads(page, "#ply", "4")
    publish(5, 6)
    reads(page, "#ply", "6")
    reads(page, "#spectators", "Spectators: 1")
    charts_grow(page, 3)
    assert page.locator("#charts figure").count() == 3

    # Looking back is left alone; the list grows all the same.
    page.keyboard.press("Home")
    publish(7, 7)
    reads(page, "#last", "7")
    assert shown(page) == 0
    page.keyboard.press("End")

    # Whoever looks at the page again, or is on the network again, joins the stream anew.
    for event in ("document.dispatchEvent(new Event('visibilitychange'))", "dispatchEvent(new Event('online'))"):
        with page.expect_response("**/stream"):
            page.evaluate(event)

    # The network goes; plies are played meanwhile; it comes back.
    page.context.set_offline(True)
    site.server.call(_cut(site))
    reads(page, "#connection", "Connection lost. Reconnecting…")
    publish(8, 11)
    page.context.set_offline(False)
    reads(page, "#ply", "11")

    record = record_of(game, moves)
    assert site.stage.store.results.commit(record) is not None
    publish(12, 14)
    bus.publish(GameAborted(game=game.id))
    reads(page, "#ply", "14")
    reads(page, "#connection", "Game over.")
    reads(page, "[data-clock=second]", re.compile(r"^(1:0\d|5\d\.\d s)$"))
    reads(page, "#about .tag", "finished")
    charts_grow(page, 7)
    plies = page.eval_on_selector_all("#moves a[data-ply]", "(links) => links.map((one) => Number(one.dataset.ply))")
    assert plies == list(range(1, 15))
    positions = [str(position) for position in _positions(record)]
    assert page.inner_text("#position") == positions[-1]
    assert "at ply 14" in page.inner_text("#sentence")
    forget_cuts(witness)


def test_a_live_game_shows_the_clocks_that_its_record_will_have(site: Site, page: Any) -> None:
    game = begin(site.stage, "loa", event="under load")
    bus = site.server.context.arena.bus
    moves = random_moves(load("loa").settle(game.spec.variant), 2, seed=7)
    bus.publish(GameStarted(game=game.id, tournament=1))
    for number, move in enumerate(moves, 1):
        bus.publish(GameMoved(game=game.id, first=number, plies=(Ply(59_000.0, lag_ms=49_000.0, move=move),)))
    site.server.call(_think(site, game.id, 2, 0))
    visit(page, site, f"/games/{game.id}")
    reads(page, "#ply", "2")
    assert page.inner_text("[data-clock=second]") == "50.5 s"  # of 60+0.5
    time = page.locator('#moves td:has(a[data-ply="2"]) + td')
    assert time.inner_text() == "10.0 s"
    record = record_of(game, moves)
    plies = (record.plies[0], replace(record.plies[1], ms=20_000.0, charged_ms=20_000.0))
    assert site.stage.store.results.commit(replace(record, plies=plies)) is not None
    bus.publish(GameAborted(game=game.id))
    reads(page, "#connection", "Game over.")
    reads(page, "[data-clock=second]", "40.5 s")
    reads(page, '#moves td:has(a[data-ply="2"]) + td', "20.0 s")


def forget_cuts(witness: Witness) -> None:
    """Drop the browser's messages about network errors, which the test provokes.

    Which message it logs (`net::ERR_FAILED`, `ERR_EMPTY_RESPONSE`, `ERR_CONNECTION_RESET` …) depends on where in a
    request the connection was cut.
    """
    witness.faults = [one for one in witness.faults if "net::ERR_" not in one]


STREAM = """
window.EventSource = class extends EventTarget {
  constructor() {
    super();
    this.readyState = 1;
    window.stream = this;
  }
  close() { this.readyState = 2; }
  tell(name) {
    if (this.readyState !== 1) return;
    this[`on${name}`]?.();
    this.dispatchEvent(new Event(name));
  }
};
Object.assign(window.EventSource, { CONNECTING: 0, OPEN: 1, CLOSED: 2 });
"""
"""A stream whose events the test sends, until it is closed."""


def test_the_end_is_the_last_word_whatever_is_answered_late(site: Site, page: Any) -> None:
    game = begin(site.stage, "loa", "the end")
    page.add_init_script(STREAM)
    visit(page, site, f"/games/{game.id}")
    record = record_of(game, random_moves(load("loa").settle(), 3, seed=1))

    def end(route: Any) -> None:
        """End the game while the viewer requests the moves after the start; later requests get no response."""
        if route.request.url.endswith("=0"):
            assert site.stage.store.results.commit(record) is not None
            route.continue_()

    page.route("**/scenes.json?after=*", end)
    with page.expect_request("**/scenes.json?after=3"):
        page.evaluate("stream.tell('open'), stream.tell('final')")
    reads(page, "#connection", "Game over.")
    for name in ("error", "open"):  # the server ends the stream, and the browser opens another
        page.evaluate("(name) => stream.tell(name)", name)
        assert page.inner_text("#connection") == "Game over."


def test_what_was_not_answered_is_asked_again_without_news(site: Site, browser: Any, witness: Witness) -> None:
    game = begin(site.stage, "loa", "no news")
    with window(browser, is_apart=True) as page:  # with a clock that stays
        witness.watch(page)
        page.clock.install()
        page.route("**/scenes.json*", lambda route: route.abort(), times=1)
        with page.expect_event("requestfailed"):
            page.goto(f"{site.url}/games/{game.id}")
        reads(page, "#connection", "The moves could not be loaded. Retrying… The links below the board still work.")
        page.clock.fast_forward(3000)
        reads(page, "#connection", "Live")
        page.route("**/scenes.json*", lambda route: route.abort(), times=1)
        record = record_of(game, random_moves(load("loa").settle(), 3, seed=1))
        assert site.stage.store.results.commit(record) is not None
        with page.expect_event("requestfailed"):
            site.server.context.arena.bus.publish(GameAborted(game=game.id))
        page.clock.fast_forward(3000)
        reads(page, "#last", "3")
        reads(page, "#connection", "Game over.")
        forget_cuts(witness)


def test_the_front_page_shows_one_game_large_and_follows_it(site: Site, page: Any) -> None:
    bus = site.server.context.arena.bus
    visit(page, site, "/")
    shown_large = page.get_attribute("#featured", "data-game")
    (game,) = [running for running in site.stage.running.values() if running.id == shown_large]
    assert page.locator("#now .board").count() == 5
    moves = random_moves(load(game.spec.family).settle(game.spec.variant), 2, seed=5)
    bus.publish(GameStarted(game=game.id, tournament=1))
    bus.publish(GameMoved(game=game.id, first=1, plies=(Ply(10.0, move=moves[0]),)))
    reads(page, "#featured .at", "1")
    reads(page, "#featured .player[data-turn=yes] .clock", re.compile(r"^\d\d\.\d s$"))  # 60 s without an increment yet
    bus.publish(GameAborted(game=game.id))


def test_a_result_between_a_tournaments_page_and_its_stream_is_seen(site: Site, page: Any) -> None:
    game = begin(site.stage, "loa", "between")
    store = site.stage.store
    tournament = store.games.get(game.id).tournament_id

    def late(route: Any) -> None:
        assert store.results.commit(record_of(game, random_moves(load("loa").settle(), 3, seed=1))) is not None
        route.continue_()

    page.route("**/stream", late)
    visit(page, site, f"/tournaments/{tournament}")
    reads(page, "#progress strong", "1 of 1")


async def _think(site: Site, game: str, plies: int, seconds: float) -> None:
    """Advance the clock by some seconds once this many plies are known."""
    games = site.server.context.live.games
    while game not in games or len(games[game].plies) < plies:
        await asyncio.sleep(0)
    games[game].moved_at -= seconds


async def _cut(site: Site) -> None:
    """Close every open connection of the server, like a network failure."""
    for connection in list(site.server.runner.server.connections):  # type: ignore[union-attr]
        if connection.transport is not None:
            connection.transport.abort()


def test_hostile_words_show_as_text(site: Site, page: Any) -> None:
    for path in (f"/games/{site.stage.forfeit}", "/errors", "/tournaments/1", f"/submissions/{site.stage.submission}"):
        visit(page, site, path)
        assert page.locator("main script").count() == 0
        assert page.locator("main b:text('bold')").count() == 0
        assert "<script>alert(1)</script>" in page.inner_text("main")
        text = page.inner_text("main")
        assert "\u202e" not in text
        assert "\x07" not in text
