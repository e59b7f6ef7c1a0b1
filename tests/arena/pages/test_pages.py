"""Every page in Chromium: no console output, no other hosts, no serious axe violation, no overflow at 320 px."""

from __future__ import annotations

import gzip
import html
import html.parser
import re
import urllib.error
import urllib.request
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from arena.events.messages import CoordinatorWorkers, VersionChanged, VersionStep
from arena.events.payload import WorkerPayload
from referee.bot.file import BotFile
from referee.rules import families
from tests.arena.pages.addresses import MORE, examples, filled, kinds, pages, parameters, patterns, private
from tests.arena.pages.conftest import Site
from tests.arena.pages.stage import HOSTILE, NAMES, PASSWORD
from tests.conftest import EFFORT
from tests.with_features import is_on

AXE = Path(__file__).parents[2] / "data" / "axe" / "axe.min.js"
PARTS = 4
"""Number of parallel portions of the pages."""
CLASSES = "() => [...document.querySelectorAll('*')].map((one) => `${one.tagName} ${one.getAttribute('class') || ''}`)"
"""What style sheets know an element by: where nothing is new, no colour is."""
MORE_OF_THE_SAME = ("tr:nth-child(n+13)", "article:nth-of-type(n+4)", "[aria-labelledby=documents] > :nth-child(n+25)")
"""Elements after the first dozen of a loop, which axe skips: they take long and show nothing new."""


def visit(page: Any, site: Site, path: str) -> Any:
    """Load a page and wait until its scripts have initialised."""
    response = page.goto(site.url + path, wait_until="load")
    for board in ("#viewer", "#free"):
        if page.locator(board).count():
            page.wait_for_selector(f"{board}[data-ready=yes]", state="attached")
    return response


def violations(page: Any, *rules: str) -> list[str]:
    """Return axe's serious and critical violations, by all rules or the given ones.

    The test driver injects axe, which bypasses the page's content security policy.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text())
    chosen = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
    within = {"exclude": [[part] for part in MORE_OF_THE_SAME]}
    results = page.evaluate("([within, chosen]) => axe.run(within, chosen)", [within, chosen])
    return [
        f"{violation['id']} ({violation['impact']}): {node['target']} {node['failureSummary'][:300]}"
        for violation in results["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"][:3]
    ]


PHONE = {"width": 320, "height": 640}


def too_wide(page: Any, path: str) -> list[str]:
    """Return a problem if the page overflows horizontally on a phone."""
    width = page.evaluate("document.documentElement.scrollWidth")
    return [f"{path} is {width} px wide on a screen of {PHONE['width']}"] if width > PHONE["width"] else []


def shape(path: str) -> str:
    """Return an address without what distinguishes pages of one kind: family, number, game."""
    return re.sub(rf"\b({'|'.join(families())}|[0-9a-f]{{16}}|\d+)\b", "*", path)


@pytest.mark.parametrize("part", range(PARTS))
def test_every_page_in_a_browser(site: Site, page: Any, witness: Any, part: int) -> None:
    """Every page fits 320 px; the witness checks console and hosts.

    axe checks one page of each kind in the light theme, and its contrasts in the dark one. In everyday work it leaves
    out what filters leave of a page and the dark theme of a page whose elements were all seen in it, and of pages that
    differ by their family or number alone one is visited.
    """
    problems, classes = [], set[str]()
    looked_at = [path for path in (*kinds(site), "/lao") if EFFORT > 1 or path not in MORE]
    others = [path for path in pages(site) if path not in looked_at]
    if EFFORT == 1:
        known_shapes = set(map(shape, looked_at))
        others = list({shape(path): path for path in others if shape(path) not in known_shapes}.values())
    for path in looked_at[part::PARTS]:
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 1280, "height": 900})
        visit(page, site, path)
        problems += [f"{path}: {violation}" for violation in violations(page)]
        if EFFORT > 1 or not classes.issuperset(new := page.evaluate(CLASSES)):
            classes.update(new)
            page.emulate_media(color_scheme="dark")
            problems += [f"{path}, dark: {violation}" for violation in violations(page, "color-contrast")]
        page.set_viewport_size(PHONE)
        problems += too_wide(page, path)
    page.set_viewport_size(PHONE)
    for path in others[part::PARTS]:
        visit(page, site, path)
        problems += too_wide(page, path)
    absent = ("/lao", "/nothing.")
    witness.faults = [
        fault for fault in witness.faults if "404" not in fault or not any(path in fault for path in absent)
    ]
    assert not problems, "\n".join(problems)


def test_on_phones_what_is_found_comes_before_the_form(site: Site, page: Any) -> None:
    fields = page.locator("form.filters select")
    visit(page, site, "/games")
    assert fields.first.is_visible()
    page.set_viewport_size({"width": 320, "height": 568})
    assert not fields.first.is_visible()
    assert page.locator("main a[href^='/games/']").first.bounding_box()["y"] < 568
    page.locator(".search > summary").click()
    assert fields.first.is_visible()


def test_every_page_is_visited_for_every_family(site: Site) -> None:
    """The discovered addresses include all pages of the specification, for all families."""
    visited = set(pages(site))
    fixed = {
        "/",
        "/tournaments",
        "/games",
        "/bots",
        "/errors",
        "/workers",
        "/submit",
        "/login",
        "/limits",
        "/design",
        "/dumps",
    }
    of_family = {f"/{name}{rest}" for name in families() for rest in ("", "/leaderboard")}
    replays = {f"/games/{game}" for game in site.stage.finished.values()}
    assert fixed | of_family | replays | {"/bots/ada", "/bots/ada/v/1", "/bots/ada/vs/bob"} <= visited
    forms = {"/account", "/tournaments/new", "/tournaments/1/edit", "/schedules/1/edit"}
    forms |= {"/tests"} if is_on("versiontests") else set()
    forms |= {"/notices"} if is_on("notices") else set()
    forms |= {"/webhooks", "/webhooks/1"} if is_on("webhooks") else set()
    assert set(private(site)) == forms | {f"/{name}/board/questions/1" for name in families()}
    titles = {path: re.search("<title>(.*?)</title>", known(site, path)[1], re.DOTALL)[1] for path in visited}  # type: ignore[index]
    assert all(titles.values())


def test_pages_of_somebody_logged_in(site: Site, page: Any) -> None:
    page.goto(f"{site.url}/login?next=/account")
    page.fill("#user", "zoe")
    page.fill("#password", PASSWORD)
    page.click("main button")
    page.wait_for_url(f"{site.url}/account")
    mine = {shape(path): path for path in private(site) if path != "/tournaments/1/edit"}  # it has begun: no form
    for path in mine.values():
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(site.url + path)
        assert not violations(page), path
        page.set_viewport_size(PHONE)
        assert not too_wide(page, path)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(f"{site.url}/account")
    assert "new" in page.inner_text("#news .wide")
    assert int(page.inner_text("#menu .count").split()[-1]) > 0
    page.click("text=Mark all as read")
    page.wait_for_url("**/account#news")
    assert page.locator("#menu .count").count() == 0
    page.click(".tabs.parts a[href='#tokens']")
    page.fill("#token-name", "<b>laptop</b>")
    page.click("text=Create token")
    secret = page.inner_text(".note.good pre")
    assert re.fullmatch(r"arena_[A-Za-z0-9_-]{43}", secret)
    assert "<b>laptop</b>" in page.inner_text("#tokens .wide")
    assert not violations(page)
    page.goto(f"{site.url}/account")
    assert secret not in page.content()
    page.click(".tabs.parts a[href='#tokens']")
    page.click("button[aria-label^=Revoke]")
    page.wait_for_url("**/account#tokens")
    assert "revoked" in page.inner_text("#tokens .wide")
    page.goto(f"{site.url}/submit")
    assert not violations(page)
    uploaded = partial(site.server.context.metrics.registry.get_sample_value, "arena_upload_bytes_total")
    before = uploaded() or 0
    page.fill("#name", "newbot")
    page.set_input_files("#file", {"name": "bot.zip", "mimeType": "application/zip", "buffer": b"no archive"})
    with page.expect_navigation() as navigation:
        page.click("text=Upload and check")
    assert navigation.value.status == 422
    assert page.locator("[role=alert]").inner_text()
    assert uploaded() == before + len(b"no archive")
    page.context.clear_cookies()


@pytest.fixture(autouse=True)
def _refused_upload_is_no_fault(request: pytest.FixtureRequest, witness: Any) -> Any:
    """Ignore the browser's console message about the refused form, which the test provokes."""
    yield
    if request.node.name == "test_pages_of_somebody_logged_in":
        witness.faults = [one for one in witness.faults if "422" not in one]


def test_theme_is_remembered(site: Site, page: Any) -> None:
    page.goto(f"{site.url}/")
    page.click("#theme")
    page.click("#theme")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.goto(f"{site.url}/limits")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 27)"


# -- without a browser -------------------------------------------------------------------------------------------------


def fetch(site: Site, path: str) -> tuple[int, str, int]:
    """Return status, text and bytes transferred."""
    request = urllib.request.Request(site.url + path, headers={"Accept-Encoding": "gzip"})
    try:
        with urllib.request.urlopen(request) as response:
            status, body, packed = response.status, response.read(), response.headers.get("Content-Encoding")
    except urllib.error.HTTPError as error:
        status, body, packed = error.code, error.read(), error.headers.get("Content-Encoding")
    return status, (gzip.decompress(body) if packed == "gzip" else body).decode(), len(body)


def known(site: Site, path: str) -> tuple[int, str, int]:
    """Return the same for a page that several tests read and none changes; fetched once."""
    if path not in site.fetched:
        site.fetched[path] = fetch(site, path)
    return site.fetched[path]


class Strict(html.parser.HTMLParser):
    """Collects violations of the content security policy and the resources of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.forbidden: list[str] = []
        self.files: list[str] = []
        self.tables: list[bool] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        bare = re.sub(r'"[^"]*"', '""', self.get_starttag_text() or "")
        if re.search(r'"[a-z]', bare):
            self.forbidden.append(f"nothing between the attributes of {bare}")
        if "style" in given or tag == "style" or any(name.startswith("on") for name in given):
            self.forbidden.append(f"<{tag} {given}>")
        if tag == "script" and not given.get("src"):
            self.forbidden.append("an inline script")
        for name in ("src", "href"):
            value = given.get(name) or ""
            if (tag in ("script", "img") or given.get("rel") in ("stylesheet", "icon", "preload")) and value:
                self.files.append(value)
            if tag == "use" and value and not value.startswith("#"):
                self.files.append(value)
            if value.startswith(("http:", "https:", "//", "javascript:")) and tag != "a":
                self.forbidden.append(value)


MAX_PAGE_BYTES = 100_000
"""Maximum of bytes transferred for a page with all its files."""


def test_first_view_is_light_and_keeps_the_policy(site: Site) -> None:
    read: dict[str, tuple[int, set[str]]] = {}
    for path in pages(site):
        _, text, size = known(site, path)
        parser = Strict()
        parser.feed(text)
        assert not parser.forbidden, path
        loaded, wanted = set[str](), {file.partition("#")[0] for file in parser.files}
        while wanted - loaded:
            reference = (wanted - loaded).pop()
            loaded.add(reference)
            read[reference] = read.get(reference) or _file(site, reference)
            wanted |= read[reference][1]
        names = {address.partition("?")[0] for address in loaded}
        assert {"/static/figtree.woff2", "/static/icons.svg"} <= names or path.startswith("/embed/"), path
        assert ("/static/viewer.js" in names) <= ("/static/motion.js" in names), path
        total = size + sum(read[address][0] for address in loaded)
        assert total < MAX_PAGE_BYTES, (path, total)


def _file(site: Site, address: str) -> tuple[int, set[str]]:
    """Return the bytes transferred for a file, and the addresses of the modules that it imports."""
    reply = site.server.get(address, headers={"Accept-Encoding": "gzip"})
    assert reply.status == 200, address
    is_packed = reply.headers.get("Content-Encoding") == "gzip"
    body = gzip.decompress(reply.body) if is_packed else reply.body
    is_script = address.partition("?")[0].endswith(".js")
    modules = re.findall(r'^import .* from "\./([\w.]+)"', body.decode(), re.MULTILINE) if is_script else ()
    return len(reply.body), {f"/static/{name}" for name in modules}


def test_boards_in_words_have_rows_of_one_width(site: Site) -> None:
    for family in families():
        text = known(site, f"/games/{site.stage.finished[family]}")[1]
        rows = text.partition('id="grid">')[2].partition("</table>")[0].split("<tr>")[1:]
        widths = {row.count("<td") + sum(int(more) - 1 for more in re.findall(r'colspan="(\d+)"', row)) for row in rows}
        assert len(rows) > 5, family
        assert len(widths) == 1, (family, widths)


def test_links_to_pages_say_what_is_on_them(site: Site) -> None:
    for path in pages(site):
        if path.startswith("/embed/"):  # read in frames of others, and by no crawler
            continue
        _, text, _ = known(site, path)
        for name in ("og:title", "og:description"):
            assert re.search(f'<meta property="{name}" content="[^"]+">', text), (path, name)
    game, tournament = next(iter(site.stage.finished.values())), next(iter(site.stage.tournaments.values()))
    record = site.stage.store.games.record(game)
    words = {"first": " beat ", "second": " beat ", "draw": " drew "}[record.winner or ""]
    assert words in _described(site, f"/games/{game}")
    assert "is playing" in _described(site, f"/games/{site.stage.running['loa'].id}")
    assert re.search(r"12 of 13 games played: 1\. \w+ v1 \d", _described(site, f"/tournaments/{tournament}"))


def test_a_tournament_says_who_plays_with_a_handicap(site: Site) -> None:
    text = html.unescape(fetch(site, f"/tournaments/{next(iter(site.stage.tournaments.values()))}")[1])
    one, two = NAMES[:2]
    assert re.search(rf"<dt>Handicaps</dt><dd>\s*{one} against {two}: 5\+0\s+Book = ", text)


def _described(site: Site, path: str) -> str:
    found = re.search('og:description" content="([^"]+)"', fetch(site, path)[1])
    assert found
    return html.unescape(found[1])


def test_what_others_wrote_shows_as_text_on_every_page(site: Site) -> None:
    seen = 0
    for path in pages(site):
        _, text, _ = known(site, path)
        parser = Strict()
        parser.feed(text)
        assert not parser.forbidden, path
        assert not re.search("<(?:b>bold|i>odd|img src=x)", text), path
        assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", text), path
        assert "z" * 3000 not in text, path
        assert "y" * 3000 not in text, path
        seen += "&lt;" in text
    assert seen > 20


def test_the_pace_a_version_is_fit_from_stands_beside_the_family(site: Site) -> None:
    for path in ("/bots/ada", "/bots/ada/v/1"):
        assert "minimum time per move: 5 s" in fetch(site, path)[1]
    assert "fit from" not in fetch(site, "/bots/bob")[1]


def test_no_page_shows_marks_of_its_source(site: Site) -> None:
    """Pages show neither backticks nor comments of Markdown sources, except inside code."""
    found = []
    for path in pages(site):
        text = re.sub(r"<(pre|code|script|textarea)\b.*?</\1>|<[^>]*>", " ", known(site, path)[1], flags=re.DOTALL)
        found += [(path, text[max(0, text.index(mark) - 60) :][:120]) for mark in ("`", "&lt;!--") if mark in text]
    assert not found


BAD = (
    ("/loa/leaderboard?sort=nonsense", 400, "invalid sort key"),
    ("/tournaments/1?sort=%3Cscript%3E", 400, "invalid sort key"),
    ("/tournaments/1?page=99999999999999999999", 400, "not a number"),
    ("/tournaments/1?page=-1", 400, "not a number"),
    ("/tournaments/1?games=x", 400, "invalid sort key"),
    ("/tournaments/1?state=asleep", 400, "invalid state"),
    ("/games?after=%00%00", 400, "first page"),
    ("/games?family=chess", 400, "invalid family"),
    ("/games?since=2026-13-01", 400, "expected YYYY-MM-DD"),
    ("/games?until=9999-12-31", 400, "expected YYYY-MM-DD"),
    ("/games?variant=chess", 400, "invalid variant"),
    ("/games?bot=adaa", 400, "ada"),
    ("/bots/ada?by=weight", 400, "invalid by"),
    ("/bots/adaa", 404, "ada"),
    ("/bots/ada/v/7", 404, "no version"),
    ("/bots/ada/v/x%3Cb%3E", 404, "no version"),
    ("/bots/ada/vs/nobody", 404, "no bot"),
    ("/lao", 404, "loa"),
    ("/tornaments", 404, "tournaments"),
    ("/loa/leaderboard?pool=loa/zzz", 404, "no pool"),
    ("/games/0123456789abcdef", 404, "no game"),
    ("/games/nonsense", 404, "no game"),
    ("/tournaments/999999", 404, "no tournament"),
    ("/tournaments/99999999999999999999", 404, "no tournament"),
    ("/submissions/424242", 404, "no submission"),
    ("/docs/no-such-page", 404, "no page of the documentation"),
    ("/%3Cscript%3Ealert(1)%3C/script%3E", 404, "no"),
)


@pytest.mark.parametrize(("path", "status", "words"), BAD)
def test_bad_addresses_are_answered_with_a_hint(site: Site, path: str, status: int, words: str) -> None:
    found, text, _ = fetch(site, path)
    assert found == status
    assert words.casefold() in text.casefold()
    assert "<script>alert" not in text
    parser = Strict()
    parser.feed(text)
    assert not parser.forbidden


def test_every_table_sorts_by_its_links(site: Site) -> None:
    count = 0
    plain = (
        "/about",
        "/docs",
        "/dumps",
        "/api/",
        "/users/",  # the latest ten games
        *(f"/{name}/{page}" for name in families() for page in ("rules", "protocol")),
    )
    for path in {shape(path): path for path in pages(site)}.values():
        _, text, _ = known(site, path)
        text = re.sub(r'<table class="cross.*?</table>|<div class="moves".*?</table>', "", text, flags=re.DOTALL)
        for head in re.findall(r"<thead>.*?</thead>", text, re.DOTALL):
            assert "<a href=" in head or path.startswith(plain), (path, head)
            links = re.findall(r'<th[^>]*><a href="([^"]+)"', head)
            for link in (links[:1] + links[-1:]) if links else ():
                address = html.unescape(link)
                status, sorted_text, _ = fetch(site, address)
                assert status == 200, (path, address)
                # by what an analysis says only games that have one are sorted: there may be none
                assert "aria-sort=" in sorted_text or "<thead>" not in sorted_text, (path, address)
                count += 1
    assert count > 50


def test_no_parameter_of_any_page_takes_nonsense(site: Site) -> None:
    """Invalid values of every parameter that a page's links and forms use are refused with a hint, never with status
    500.
    """
    nonsense = (f"%3Cscript%3Ealert(1)%3C/script%3E%E2%80%AE{'a' * 3000}", "-99999999999999999999")
    refused, asked = set(), set()
    for path in [*(filled(site, pattern)[0] for pattern in patterns(site)), *MORE]:
        _, text, _ = fetch(site, path)
        page = path.partition("?")[0]
        for name in sorted(parameters(text, path) - {"at", "pool"}):
            if (shape(page), name) in asked:
                continue
            asked.add((shape(page), name))
            for value in nonsense:
                status, answer, _ = fetch(site, f"{page}?{name}={value}")
                assert status in (200, 400, 404, 409), (path, name, value, status)
                assert "<script>alert" not in answer, (path, name)
                if name not in FREE:
                    assert status == 400, (path, name, value, status)
                    assert 'class="note"' in answer, (path, name, value)
                    refused.add(name)
    assert {"sort", "games", "state", "family", "after", "ply", "flip", "by"} <= refused


def test_what_was_probably_meant_is_said_once(site: Site) -> None:
    _, answer, _ = fetch(site, "/lao")
    assert '<a class="chip" href="/loa">Lines of Action</a>' in answer
    assert len(re.findall("did you mean", answer, re.IGNORECASE)) == 1


def test_nothing_is_suggested_for_a_word_that_no_page_resembles(site: Site) -> None:
    assert 'class="chip"' not in fetch(site, "/nothing")[1]


def test_a_user_has_the_best_ratings_of_their_bots_and_their_tournaments_by_name(site: Site) -> None:
    text = fetch(site, "/users/zoe?tournaments=name")[1]
    best = re.findall(r'class="tile" href="/bots/[^"]+">.*?<strong>([\d.−]+)', text, re.DOTALL)
    assert best
    names = re.findall(r'<bdi class="name long" title="([^"]+)"', text.partition("Organised tournaments")[2])
    assert names == sorted(names)
    assert len(names) > 1


def test_a_user_has_the_latest_games_of_their_bots_with_both_names(site: Site) -> None:
    games = fetch(site, "/users/zoe")[1].partition('id="games"')[2].partition("</section>")[0]
    assert re.findall(r'class="one">.*?href="/bots/[^"]+.*?class="two">.*?href="/bots/[^"]+', games, re.DOTALL)


def test_a_parameter_that_a_page_does_not_have_is_named(site: Site) -> None:
    for path in [filled(site, one)[0] for one in patterns(site)]:
        if path not in NO_PAGES and not path.endswith("/"):
            status, answer, _ = fetch(site, f"{path}?stat=running")
            assert (status, "This page has no parameter “stat”" in answer) == (400, True), path
    answer = fetch(site, "/tournaments?stat=running")[1]
    assert '<a class="chip" href="/tournaments?state=running">state=running</a>' in answer
    assert "did you mean" not in answer


@pytest.mark.parametrize(
    ("path", "address", "words"),
    [
        ("/lao/leaderboard", "/loa/leaderboard", "Lines of Action"),
        ("/ranking", "/rankings", "Rankings"),
        ("/adda", "/bots/ada", "ada"),
        ("/bots/adda", "/bots/ada", "ada"),
        ("/tournaments/cup", "/tournaments", "Show all"),
        ("/games?family=lao&bot=ada", "/games?family=loa&amp;bot=ada", "Lines of Action"),
        ("/loa/leaderboard?sort=-ratin", "/loa/leaderboard?sort=rating", "rating"),
        ("/loa/compare?bot=ada&bot=bop", "/loa/compare?bot=ada&amp;bot=bob", "bob"),
        ("/loa/compare?bots=ada", "/loa/compare?bot=ada", "bot=ada"),
        ("/bots/ada/vs/bob?colour=red", "/bots/ada/vs/bob", "This page without the parameter"),
    ],
)
def test_a_wrong_address_links_to_the_right_one(site: Site, path: str, address: str, words: str) -> None:
    status, answer, _ = fetch(site, path)
    assert status in (400, 404)
    assert f'<a class="chip" href="{address}">{words}</a>' in answer
    assert fetch(site, address.replace("&amp;", "&"))[0] == 200
    assert "allowed: " in fetch(site, "/loa/leaderboard?xyzzy=1")[1]


NO_PAGES = ("/account", "/tests", "/dumps/nothing.sha256")
"""Addresses that require a log-in, and files."""
PRIVATE = ("/tournaments/{tournament}/edit", "/schedules/{schedule}/edit", "/webhooks/{number}")
"""Addresses that require a log-in before they reveal whether the subject exists."""
FREE = {"next", "lang", "retired", "number", "player", "variant", "ending", "source", "mine", "theirs"}
"""Parameters with arbitrary values: the address after log-in, and search terms."""


def test_no_part_of_any_address_takes_nonsense(site: Site) -> None:
    nonsense = ("nosuchthing", "9" * 30, "%3Cscript%3Ealert(1)%3C%2Fscript%3E", "%E2%80%AE%07", "x" * 2000, "%00")
    for pattern in patterns(site):
        for name in re.findall(r"\{(\w+)\}", pattern):
            if name == "path":
                continue
            known = {key: str(values[0]) for key, values in examples(site).items()}
            for value in nonsense:
                path = pattern.format(**(known | {name: value}))
                status, text, _ = fetch(site, path)
                is_door = pattern in PRIVATE and status == 200 and 'name="password"' in text
                assert status == 404 or is_door, (path[:100], status)
                assert "<script>alert" not in text, path
                assert not re.search("[\x00-\x08\u202a-\u202e]", text), path
                parser = Strict()
                parser.feed(text)
                assert not parser.forbidden, path
                assert len(text) < 15_000, path


MOVED = (
    ("/loa/", "/loa"),
    ("/LOA", "/loa"),
    ("/Loa/leaderboard?sort=mu", "/loa/leaderboard?sort=mu"),
    ("/bots/ADA", "/bots/ada"),
    ("/bots/ada@1", "/bots/ada/v/1"),
    ("/bots/ada%20v1?by=game", "/bots/ada/v/1?by=game"),
    ("//example.org/", "/example.org"),
)


@pytest.mark.parametrize(("old", "new"), MOVED)
def test_other_spellings_of_addresses_lead_on(site: Site, old: str, new: str) -> None:
    reply = site.server.get(old)
    assert (reply.status, reply.headers["Location"]) == (308, new)


def test_short_and_capital_ids_of_games_lead_on(site: Site) -> None:
    game = site.stage.forfeit
    for old in (game[:8], game.upper(), game[:12].upper()):
        reply = site.server.get(f"/games/{old}?ply=3")
        assert (reply.status, reply.headers["Location"]) == (308, f"/games/{game}?ply=3")


def test_leaderboards_of_a_day_and_of_a_class(site: Site) -> None:
    def names(path: str) -> list[str]:
        return re.findall(
            r'<th [^>]*data-label="Bot"[^>]*>\s*<a href="/bots/(\w+)/v/1">', fetch(site, path)[1].split("<h2>")[0]
        )

    everybody = names("/loa/leaderboard?at=2999-01-01")
    assert sorted(everybody) == ["ada", "bob", "cleo", "dan"]
    # Another test may have committed a result: the first readers still get the page from before.
    assert any(names("/loa/leaderboard") == everybody for _ in range(100))
    assert names("/loa/leaderboard?at=2000-01-01") == []
    assert sorted(names("/loa/leaderboard?pace=blitz")) == sorted(everybody)
    assert names("/loa/leaderboard?pace=lightning") == []
    assert names("/loa/leaderboard?state=retired") == []
    assert names("/loa/leaderboard?mine=1") == []
    status, text, _ = fetch(site, "/loa/leaderboard?at=yesterday")
    assert status == 400
    assert "2026-11-30" in text


def test_games_of_one_opening_lead_to_each_other(site: Site) -> None:
    game = site.stage.forfeit
    other = re.search(r'href="/games/([0-9a-f]+)">Same opening', fetch(site, f"/games/{game}")[1])
    assert other
    assert re.search(rf'href="/games/{game}">Same opening', fetch(site, f"/games/{other[1]}")[1])


def test_resignations_are_no_errors(site: Site) -> None:
    text = fetch(site, "/errors")[1]
    assert "resigned" not in text
    assert "stalled" in text
    assert "resigned" in fetch(site, "/games?termination_class=forfeit")[1]


def test_the_list_of_games_is_narrowed(site: Site) -> None:
    ids = re.compile(r'href="/games/([0-9a-f]+)"')
    everything = set(ids.findall(fetch(site, "/games?bot=ada")[1]))
    pages = {winner: fetch(site, f"/games?bot=ada&winner={winner}")[1] for winner in ("first", "second", "draw")}
    parts = [set(ids.findall(text)) for text in pages.values()]
    assert all(set(re.findall('class="won-([a-z]+)"', text)) <= {winner} for winner, text in pages.items())
    assert 'class="won-first"' in pages["first"]  # its winner is bold
    running = set.intersection(*parts)  # what is running now stands above every list
    assert set.union(*parts) == everything
    assert sum(len(part - running) for part in parts) == len(everything - running) > 0
    assert "No games match these filters" in fetch(site, "/games?bot=ada&since=2001-01-01&until=2001-01-02")[1]


def test_a_game_says_that_its_clocks_were_scaled(site: Site) -> None:
    text = " ".join(fetch(site, f"/games/{site.stage.forfeit}")[1].split())
    assert "(<code>60+0.5</code>), scaled to 75+0.625 by the speed of the machine (factor 1.25)" in text
    assert "scaled to" not in fetch(site, f"/games/{site.stage.finished['loa']}")[1]


def test_workers_and_their_load(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    live, arena = site.server.context.live, site.server.context.arena
    monkeypatch.setattr(arena, "settings", arena.settings.model_copy(update={"public_hosts": True}))
    workers = (
        WorkerPayload(HOSTILE, slots=4, busy=3, sandbox="bwrap", version="1"),
        WorkerPayload("idler", slots=2, busy=0, sandbox="bwrap", version="1", speed=123_456_789),
        WorkerPayload("stranger", slots=8, busy=0, sandbox="none", version="0", is_fit=False),
    )
    assert "idler" not in fetch(site, "/workers")[1]
    site.server.context.arena.bus.publish(CoordinatorWorkers(workers=workers, load=1.5, cores=4))
    deadline = time.monotonic() + 60
    while live.workers is None:
        assert time.monotonic() < deadline
    text = fetch(site, "/workers")[1]
    assert "3 of 6" in text
    numbers = "".join(rf'<td data-label="\w+" class="n">{number}</td>' for number in (2, 0, 2))
    assert re.search(rf"idler</bdi><br><small>1</small></th>\s*{numbers}", text)
    assert "refused" in text
    assert '<td data-label="Speed" class="n">123.5</td>' in text
    assert "<script>alert" not in text


def test_a_check_is_followed_step_by_step(site: Site, page: Any) -> None:
    store = site.stage.store
    bot = store.bots.add("slow", store.users.find("zoe").id or 0)
    version = store.versions.add(bot.id or 0, BotFile(("./bot",), families=("loa",)), bundle="ef" * 32, size_bytes=9)
    page.goto(f"{site.url}/submissions/{version.id}")
    assert "queued" in page.inner_text("#check")
    assert store.checks.claim() is not None
    bus = site.server.context.arena.bus
    bus.publish(VersionChanged(version=version.id or 0, state="checking"))
    bus.publish(VersionStep(version=version.id or 0, line="loa: handshake: ok"))
    bus.publish(VersionStep(version=version.id or 0, line=f"loa: {HOSTILE}: no"))
    page.get_by_text("<script>alert(1)</script>").wait_for()
    assert "loa: handshake" in page.inner_text("#check")
    store.checks.conclude(
        version.id or 0,
        report={
            "families": {"loa": {"problem": "", "steps": [{"name": "plays itself", "needed": True, "passed": True}]}}
        },
        variants={"loa": ["standard"]},
        capabilities={},
    )
    bus.publish(VersionChanged(version=version.id or 0, state="active"))
    page.get_by_text("plays itself").wait_for()
    assert "active" in page.inner_text("#check")
    assert not violations(page)


def test_bad_last_event_id(site: Site) -> None:
    game = site.stage.running["loa"].id
    reply = site.server.get(
        f"/api/v1/games/{game}/stream", headers={"Last-Event-ID": "x'", "Accept": "text/event-stream"}
    )
    assert 400 <= reply.status < 500


def test_ply_and_flip_by_address(site: Site) -> None:
    for family, game in site.stage.finished.items():
        at = re.compile(r'data-ply="(\d+)" aria-current')
        for ply in (1, 7):
            _, text, _ = fetch(site, f"/games/{game}?ply={ply}&flip=1")
            assert at.search(text), family
            assert at.search(text)[1] == str(ply)  # type: ignore[index]
        status, text, _ = fetch(site, f"/games/{game}?ply=99999")
        assert status == 200
        assert fetch(site, f"/games/{game}?ply=minus")[0] == 400
        assert at.search(fetch(site, f"/games/{game}?ply=2x")[1])[1] == "3"  # type: ignore[index]
        assert at.search(fetch(site, f"/games/{game}?ply=2...")[1])[1] == "4"  # type: ignore[index]
        assert fetch(site, f"/games/{game}?ply=2z")[0] == 400


def test_a_game_says_what_its_bots_used_out_of_turn(site: Site) -> None:
    _, text, _ = fetch(site, f"/games/{next(iter(site.stage.finished.values()))}")
    assert "0.0 s and 12 s of processor time on the opponent’s turns" in " ".join(text.split())


def test_a_game_says_how_a_remote_bot_was_connected(site: Site) -> None:
    _, text, _ = fetch(site, f"/games/{site.stage.forfeit}")
    words = "ready after 1.5 s; connection lost: 2, back: 1; clock stopped for 30 s"
    assert words in " ".join(text.split())


def test_crosstable_standings_and_files_agree(site: Site) -> None:
    import csv
    import io
    import json

    for number in site.stage.tournaments.values():
        data = json.loads(fetch(site, f"/tournaments/{number}/crosstable.json")[1])["items"]
        standings = json.loads(fetch(site, f"/api/v1/tournaments/{number}/standings")[1])["items"]
        rows = list(csv.DictReader(io.StringIO(fetch(site, f"/tournaments/{number}/crosstable.csv")[1])))
        assert [row["name"] for row in data] == [row["name"] for row in standings] == [row["bot"] for row in rows]
        for row, standing, line in zip(data, standings, rows, strict=True):
            points = sum(cell["points"] for cell in row["cells"] if cell)
            assert points == row["points"] == standing["points"] == float(line["points"])
            letters = "".join("".join(cell["pairs"]) for cell in row["cells"] if cell)
            assert letters.count("W") == row["wins"]
            assert letters.count("L") == row["losses"]
            assert all(len(pair) == 2 for cell in row["cells"] if cell for pair in cell["pairs"])
