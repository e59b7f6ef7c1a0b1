"""Every page, in Chromium: nothing on the console, nobody else is asked, axe finds nothing serious, it fits 320 px."""

from __future__ import annotations

import gzip
import html
import html.parser
import re
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from referee.games import families
from tests.web.conftest import Site
from tests.web.stage import HOSTILE, PASSWORD

AXE = Path(__file__).parents[1] / "data" / "axe" / "axe.min.js"
PAGES = (
    "/",
    "/tournaments",
    "/tournaments/1",
    "/tournaments/2?sort=-score&games=-plies&state=finished",
    "/games",
    "/games?kind=forfeit",
    "/bots",
    "/bots/ada",
    "/bots/dan?by=game",
    "/bots/ada/v/1",
    "/bots/ada/vs/bob",
    "/errors",
    "/referees",
    "/submit",
    "/login",
    "/help",
    "/help/first-bot",
    "/help/protocol",
    "/help/limits",
    "/help/terminations",
    "/help/ratings",
    "/api/v1/docs",
)
OF_FAMILY = ("/{family}", "/{family}/leaderboard", "/help/rules-{family}", "/help/dialect-{family}")


def addresses(site: Site) -> list[str]:
    """All pages with something on them."""
    found = [*PAGES, f"/submissions/{site.stage.submission}", f"/games/{site.stage.forfeit}", "/lao"]
    for family in families():
        found += [one.format(family=family) for one in OF_FAMILY]
        found += [f"/games/{site.stage.finished[family]}", f"/games/{site.stage.running[family].id}"]
        found += [f"/tournaments/{site.stage.tournaments[family]}"]
    return list(dict.fromkeys(found))


def visit(page: Any, site: Site, path: str) -> Any:
    """Load a page and wait until its script has done its first work."""
    response = page.goto(site.url + path, wait_until="load")
    if page.locator("#viewer").count() and "/games/" in path:
        page.wait_for_selector("#viewer[data-ready=yes]", state="attached")
    return response


def violations(page: Any, *rules: str) -> list[str]:
    """What axe calls serious or critical, by all rules or these.

    It is put in by the tests' driver, which the page's policy does not bind.
    """
    page.evaluate(AXE.read_text())
    chosen = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
    found = page.evaluate("(chosen) => axe.run(document, chosen)", chosen)
    return [
        f"{one['id']} ({one['impact']}): {node['target']} {node['failureSummary'][:300]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"][:3]
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_any_page(site: Site, page: Any, witness: Any, theme: str) -> None:
    page.emulate_media(color_scheme=theme)
    rules = () if theme == "light" else ("color-contrast",)
    problems = []
    for path in addresses(site):
        status = visit(page, site, path).status
        assert status == (404 if path == "/lao" else 200), path
        problems += [f"{path}: {one}" for one in violations(page, *rules)]
        witness.faults = [one for one in witness.faults if not (path == "/lao" and "404" in one)]
    assert not problems, "\n".join(problems)


def test_every_page_fits_a_narrow_screen(site: Site, page: Any, witness: Any) -> None:
    page.set_viewport_size({"width": 320, "height": 640})
    wide = {}
    for path in addresses(site):
        visit(page, site, path)
        if (width := page.evaluate("document.documentElement.scrollWidth")) > 320:
            wide[path] = width
    assert not wide
    witness.faults = [one for one in witness.faults if "404" not in one]


def test_pages_of_somebody_logged_in(site: Site, page: Any) -> None:
    page.goto(f"{site.url}/login?next=/account")
    page.fill("#user", "zoe")
    page.fill("#password", PASSWORD)
    page.click("main button")
    page.wait_for_url("**/account")
    assert not violations(page)
    page.fill("#token-name", "<b>laptop</b>")
    page.click("text=Make token")
    secret = page.inner_text(".note.good pre")
    assert re.fullmatch(r"arena_[A-Za-z0-9_-]{43}", secret)
    assert "<b>laptop</b>" in page.inner_text("#tokens ~ .wide")
    assert not violations(page)
    page.goto(f"{site.url}/account")
    assert secret not in page.content()
    page.click("button[aria-label^=Revoke]")
    page.wait_for_url("**/account#tokens")
    assert "revoked" in page.inner_text("#tokens ~ .wide")
    page.goto(f"{site.url}/submit")
    assert not violations(page)
    page.fill("#name", "newbot")
    page.set_input_files("#file", {"name": "bot.zip", "mimeType": "application/zip", "buffer": b"no archive"})
    with page.expect_navigation() as navigation:
        page.click("text=Upload and check")
    assert navigation.value.status == 422
    assert page.locator("[role=alert]").inner_text()
    page.context.clear_cookies()


@pytest.fixture(autouse=True)
def _refused_upload_is_no_fault(request: pytest.FixtureRequest, witness: Any) -> Any:
    """The browser notes the refused form on its console; that refusal is what the test is about."""
    yield
    if request.node.name == "test_pages_of_somebody_logged_in":
        witness.faults = [one for one in witness.faults if "422" not in one]


def test_theme_is_remembered(site: Site, page: Any) -> None:
    page.goto(f"{site.url}/")
    page.click("#theme")
    page.click("#theme")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.goto(f"{site.url}/help")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 27)"


# -- without a browser -------------------------------------------------------------------------------------------------


def fetch(site: Site, path: str) -> tuple[int, str, int]:
    """Status, text, and bytes on the way."""
    request = urllib.request.Request(site.url + path, headers={"Accept-Encoding": "gzip"})
    try:
        with urllib.request.urlopen(request) as response:
            status, body, packed = response.status, response.read(), response.headers.get("Content-Encoding")
    except urllib.error.HTTPError as error:
        status, body, packed = error.code, error.read(), error.headers.get("Content-Encoding")
    return status, (gzip.decompress(body) if packed == "gzip" else body).decode(), len(body)


class Strict(html.parser.HTMLParser):
    """Collects what the policy forbids and what a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.forbidden: list[str] = []
        self.files: list[str] = []
        self.tables: list[bool] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if "style" in given or tag == "style" or any(name.startswith("on") for name in given):
            self.forbidden.append(f"<{tag} {given}>")
        if tag == "script" and not given.get("src"):
            self.forbidden.append("an inline script")
        for name in ("src", "href"):
            value = given.get(name) or ""
            if tag in ("script", "link", "img") and value:
                self.files.append(value)
            if value.startswith(("http:", "https:", "//", "javascript:")) and tag != "a":
                self.forbidden.append(value)


def test_first_view_is_light_and_keeps_the_policy(site: Site) -> None:
    for path in addresses(site):
        _, text, size = fetch(site, path)
        parser = Strict()
        parser.feed(text)
        assert not parser.forbidden, path
        scripts = {"board.js"} if any("viewer.js" in one for one in parser.files) else set()
        files = set(parser.files) | {f"/static/{one}" for one in scripts}
        total = size + sum(fetch(site, one)[2] for one in files)
        assert total < 100_000, (path, total)


BAD = (
    ("/loa/leaderboard?sort=nonsense", 400, "sort by"),
    ("/tournaments/1?sort=%3Cscript%3E", 400, "sort by"),
    ("/tournaments/1?page=99999999999999999999", 400, "not a number"),
    ("/tournaments/1?page=-1", 400, "not a number"),
    ("/tournaments/1?games=x", 400, "sort by"),
    ("/tournaments/1?state=asleep", 400, "state is one of"),
    ("/games?after=%00%00", 400, "first page"),
    ("/games?family=chess", 400, "family is one of"),
    ("/bots/ada?by=weight", 400, "by is one of"),
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
    ("/help/protocl", 404, "protocol"),
    ("/%3Cscript%3Ealert(1)%3C/script%3E", 404, "no"),
)


@pytest.mark.parametrize(("path", "status", "words"), BAD)
def test_bad_addresses_are_answered_with_a_hint(site: Site, path: str, status: int, words: str) -> None:
    found, text, _ = fetch(site, path)
    assert found == status
    assert words in text
    assert "<script>alert" not in text
    parser = Strict()
    parser.feed(text)
    assert not parser.forbidden


def test_every_table_sorts_by_its_links(site: Site) -> None:
    count = 0
    for path in addresses(site):
        _, text, _ = fetch(site, path)
        for head in re.findall(r"<thead>.*?</thead>", text, re.DOTALL):
            links = re.findall(r'<th[^>]*><a href="([^"]+)"', head)
            for link in (links[:1] + links[-1:]) if links else ():
                address = html.unescape(link)
                status, sorted_text, _ = fetch(site, address)
                assert status == 200, (path, address)
                assert "aria-sort=" in sorted_text, (path, address)
                count += 1
    assert count > 50


def test_a_check_is_followed_step_by_step(site: Site, page: Any) -> None:
    store = site.stage.store
    bot = store.bots.add("slow", store.users.find("zoe").id or 0)
    version = store.bots.add_version(bot.id or 0, command=["./bot"], families=["loa"], bundle="ef" * 32, size_bytes=9)
    page.goto(f"{site.url}/submissions/{version.id}")
    assert "waits" in page.inner_text("#check")
    assert store.bots.claim_upload() is not None
    bus = site.server.services.bus
    bus.publish(f"version/{version.id}/state", {"state": "checking"})
    bus.publish(f"version/{version.id}/step", {"line": "loa: handshake: ok"})
    bus.publish(f"version/{version.id}/step", {"line": f"loa: {HOSTILE}: no"})
    page.get_by_text("loa: handshake").wait_for()
    assert "<script>alert(1)</script>" in page.inner_text("#check")
    store.bots.conclude_check(
        version.id or 0,
        report={
            "families": {"loa": {"problem": "", "steps": [{"name": "plays itself", "needed": True, "passed": True}]}}
        },
        variants={"loa": ["standard"]},
        capabilities={},
    )
    bus.publish(f"version/{version.id}/state", {"state": "active"})
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
