"""Layout in Chromium: tables with long names, their lines, empty cells on phones, and parts that are replaced."""

from __future__ import annotations

from typing import Any

import pytest

from arena.events.messages import TournamentChanged
from referee.rules import load
from tests.arena.pages.conftest import Site, Witness
from tests.arena.pages.stage import begin, random_moves, record_of
from tests.arena.pages.test_pages import visit
from tests.arena.pages.test_viewer import reads

LONG_NAME = "a-name-of-forty-letters-as-long-as-may-be"


def test_a_table_with_long_names_fits_a_window(site: Site, page: Any) -> None:
    page.set_viewport_size({"width": 1280, "height": 900})
    for path in ("/archive", "/loa/leaderboard", "/games"):
        visit(page, site, path)
        page.evaluate(
            "(name) => document.querySelectorAll('.name').forEach((one) => { one.textContent = name; })", LONG_NAME
        )
        cut = "[...document.querySelectorAll('.wide')].filter((one) => one.scrollWidth > one.clientWidth + 1).length"
        assert page.evaluate(cut) == 0, path


def test_the_cells_of_a_row_have_one_line_below(site: Site, page: Any) -> None:
    uneven = """() => [...document.querySelectorAll('.stick tbody tr')].filter((row) => {
        const cells = [...row.cells];
        const lines = cells.map((one) => `${one.getBoundingClientRect().bottom} ${getComputedStyle(one).borderBottom}`);
        return new Set(lines).size > 1 || cells.some((one) => getComputedStyle(one).boxShadow !== 'none');
    }).length"""
    for path in ("/loa/leaderboard", "/tournaments/2#crosstable"):
        visit(page, site, path)
        assert page.locator(".stick tbody tr").count()
        assert page.evaluate(uneven) == 0, path


def test_the_line_below_the_board_shows_the_whole_text_of_a_move(site: Site, page: Any) -> None:
    visit(page, site, f"/games/{site.stage.finished['loa']}?ply=9")
    short = page.inner_text("#said")
    said = "Black e1-g3, captures a piece, connected – a comment that is longer than two lines of this column may be"
    say = "(said) => { document.getElementById('said').textContent = said; }"
    hidden = "((line) => line.scrollHeight - line.clientHeight)(document.getElementById('status'))"
    for width in (320, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate(say, short)
        button = page.locator("[data-go=end]").bounding_box()
        page.evaluate(say, said)
        assert page.evaluate(hidden) <= 0, width
        assert page.evaluate("getComputedStyle(document.getElementById('said')).webkitLineClamp") == "none"
        assert page.locator("[data-go=end]").bounding_box() == button, width


def test_result_letters_on_tinted_cells_are_as_clear_as_other_text(site: Site, page: Any) -> None:
    visit(page, site, "/tournaments/2#crosstable")
    letters = page.locator("td[class^=h] .pairs a")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        colours = letters.evaluate_all("(all) => all.map((a) => getComputedStyle(a).color)")
        assert set(colours) == {page.evaluate("getComputedStyle(document.body).color")}, scheme


def test_empty_cells_are_not_shown_on_phones(site: Site, page: Any) -> None:
    page.set_viewport_size({"width": 375, "height": 667})
    visit(page, site, "/archive")
    cells = page.locator(".wide tbody td:visible")
    assert cells.count()
    assert all(text.strip() for text in cells.all_inner_texts())


def test_the_word_live_stays_when_parts_are_replaced(site: Site, page: Any, witness: Witness) -> None:
    game = begin(site.stage, "tablut", "layout")
    store = site.stage.store
    tournament = store.games.get(game.id).tournament_id
    visit(page, site, f"/tournaments/{tournament}")
    reads(page, "#live", "Live")
    record = record_of(game, random_moves(load("tablut").settle(), 3, seed=1))
    assert store.results.commit(record) is not None
    with page.expect_response(f"**/tournaments/{tournament}"):
        site.server.call(_publish(site, tournament))
    reads(page, "#progress strong", "1 of 1")
    assert page.inner_text("#live") == "Live"


async def _publish(site: Site, tournament: int) -> None:
    site.server.context.arena.bus.publish(TournamentChanged(tournament=tournament, state="running"))


SHIFT = """() => new Promise((done) => {
    let sum = 0;
    new PerformanceObserver((list) => { for (const one of list.getEntries()) sum += one.value; })
        .observe({ type: "layout-shift", buffered: true });
    setTimeout(() => done(sum), 100);
})"""
MAX_SHIFT = 0.01


@pytest.mark.parametrize("width", [375, 1280])
def test_pages_stay_where_they_are_when_scripts_start(site: Site, page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    shifts = {}
    for path in (
        f"/tournaments/{site.stage.tournaments['tablut']}",
        f"/games/{site.stage.finished['loa']}",
        "/loa/board",
    ):
        visit(page, site, path)
        if path.startswith("/tournaments/"):
            reads(page, "#live", "Live")
        shifts[path] = page.evaluate(SHIFT)
    assert {path: shift for path, shift in shifts.items() if shift >= MAX_SHIFT} == {}


def test_all_tabs_of_a_page_are_seen(site: Site, page: Any) -> None:
    visit(page, site, f"/tournaments/{site.stage.tournaments['tablut']}")
    tabs = page.locator(".tabs.parts a")
    for width in (320, 375, 1280):
        page.set_viewport_size({"width": width, "height": 740})
        ends = tabs.evaluate_all("(all) => all.map((tab) => tab.getBoundingClientRect().right)")
        assert len(ends) > 4
        assert max(ends) <= width


def test_content_ends_where_the_header_does_on_a_wide_screen(site: Site, page: Any) -> None:
    page.set_viewport_size({"width": 1920, "height": 1080})
    edges = """(place) => {
        const box = document.querySelector(place).getBoundingClientRect();
        const style = getComputedStyle(document.querySelector(place));
        return [box.left + parseFloat(style.paddingLeft), box.right - parseFloat(style.paddingRight)];
    }"""
    for path in ("/", "/loa/board", "/tournaments", f"/games/{site.stage.finished['abalone']}"):
        visit(page, site, path)
        assert page.evaluate(edges, "main") == page.evaluate(edges, ".top > nav"), path
        if page.locator(".viewer > .side").count():
            assert page.evaluate(edges, ".viewer > .side")[1] == pytest.approx(page.evaluate(edges, "main")[1], abs=1)


def test_the_list_of_moves_is_high_and_has_whole_rows_below_its_head(site: Site, page: Any) -> None:
    visit(page, site, f"/games/{site.stage.finished['loa']}?ply=9")
    for window, least in ((920, 17 * 16), (800, 10 * 16)):  # the chart is seen below the list
        page.set_viewport_size({"width": 1280, "height": window})
        assert page.evaluate("document.getElementById('moves').clientHeight") >= least
        chart, bar = page.locator("#charts svg").first.bounding_box(), page.locator("#status").bounding_box()
        assert chart["y"] + chart["height"] <= bar["y"]
    whole = """[...document.querySelectorAll('#moves tbody tr')].some((row) =>
        Math.abs(row.getBoundingClientRect().top - row.closest('table').tHead.getBoundingClientRect().bottom) < 1)"""
    for key in ("End", "ArrowLeft", "Home"):
        page.keyboard.press(key)
        assert page.evaluate(whole), key
    assert page.locator("#thoughts").is_visible()
    page.evaluate("document.getElementById('viewer').dataset.scores = 'no'")  # as the server writes it without scores
    assert not page.locator("#thoughts").is_visible()


FOCUSABLE = "a, button, input, select, summary, .frame"
CUT_RINGS = """(kinds) => [...document.querySelectorAll(kinds)].filter((one) => {
    one.focus({ preventScroll: true, focusVisible: true });
    if (document.activeElement !== one || !one.checkVisibility()) return false;
    one.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    const style = getComputedStyle(one);
    if (style.outlineStyle === 'none') return false;
    const reach = parseFloat(style.outlineWidth) + parseFloat(style.outlineOffset) - 1;
    const box = one.getBoundingClientRect();
    for (let around = one.parentElement; around; around = around.parentElement) {
        const { overflowX, overflowY } = getComputedStyle(around);
        const edge = around.getBoundingClientRect();
        if (around === document.body || overflowX === 'visible' && overflowY === 'visible') continue;
        if (box.left - reach < edge.left || box.right + reach > edge.right) return true;
        if (box.top - reach < edge.top || box.bottom + reach > edge.bottom) return true;
    }
    return false;
}).map((one) => `${one.tagName} ${one.id || one.className || one.textContent.trim()}`)"""


def test_no_edge_cuts_the_ring_around_what_has_the_focus(site: Site, page: Any) -> None:
    game = site.stage.finished["loa"]
    for path in (f"/games/{game}", f"/embed/games/{game}", "/loa/board", "/tournaments/2#crosstable", "/archive"):
        visit(page, site, path)
        for width in (375, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate(CUT_RINGS, FOCUSABLE) == [], (path, width)
