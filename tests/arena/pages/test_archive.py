"""The archive's pages: search, show, import."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest

from arena.clock import now
from arena.documents.archive import ArchiveQuery
from arena.store.archive.search import ArchiveSearch
from referee.rules import load
from tests.arena.api.server import Reply
from tests.arena.field import read_imports
from tests.arena.pages.conftest import Site
from tests.arena.pages.test_organise import logged_in
from tests.arena.pages.test_pages import visit
from tests.arena.pages.test_viewer import reads

GAME = "1.a1b2 i5h5 2.a2b3 i6h6"


def shown(site: Site, address: str, status: int = 200) -> str:
    reply = site.server.get(address)
    assert reply.status == status, (address, reply.status)
    return str(reply.body.decode())


def numbers(page: str) -> list[int]:
    return [int(found) for found in re.findall(r'<a href="/archive/(\d+)">\1</a>', page)]


def cells(page: str) -> list[str]:
    """Return the text of all table cells."""
    bodies = "".join(re.findall(r"<tbody>(.*?)</tbody>", page, re.DOTALL))
    return [re.sub("<[^>]+>", "", one) for one in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", bodies, re.DOTALL)]


def test_games_of_all_times_are_found_together(site: Site) -> None:
    total = site.stage.store.archive.count(ArchiveSearch())
    assert f"Games found: <strong>{total:,}</strong>" in shown(site, "/archive")
    assert numbers(shown(site, "/archive?number=427")) == [1]
    assert numbers(shown(site, "/archive?player=tour&since=2003&until=2003-07")) == [1]
    assert numbers(shown(site, "/archive?since=2003-08&until=2003&player=tour")) == []
    page = shown(site, "/archive?source=arena&sort=number")
    assert numbers(page)[:3] == [2, 3, 4]
    more = re.search(r'href="(/archive\?[^"]*after=\w+)"', page)
    assert more
    assert numbers(shown(site, more[1].replace("&amp;", "&")))[0] == numbers(page)[-1] + 1
    assert 'role="alert"' in shown(site, "/archive?after=nonsense", 400)


def test_a_month_has_no_link_to_one_to_come(site: Site) -> None:
    this = f"{now():%Y-%m}"
    page = shown(site, f"/archive/month?month={this}")
    assert 'rel="prev"' in page
    assert 'rel="next"' not in page
    assert f'href="?month={this}&amp;by=turning_points" rel="next"' in shown(
        site, f"/archive/month?month={_before(this)}"
    )


def test_without_a_month_the_latest_with_a_game_is_shown(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    later = now() + timedelta(days=400)
    monkeypatch.setattr("arena.pages.routes.archive.now", lambda: later)
    page = shown(site, "/archive/month?by=blunders&family=loa")
    (newest,) = site.stage.store.archive.search(
        ArchiveSearch(query=ArchiveQuery(family="loa", sort="date", limit=1))
    ).items
    assert f'name="month" value="{newest.date[:7]}"' in page
    assert f'value="{later:%Y-%m}"' not in page


def _before(month: str) -> str:
    year, number_of = map(int, month.split("-"))
    return f"{year - (number_of == 1):04}-{(number_of - 2) % 12 + 1:02}"


def test_a_position_is_found_however_the_board_is_turned(site: Site) -> None:
    rules = load("abalone").settle()
    start = quote(rules.write(rules.read()))
    everywhere = re.search(r"<strong>([\d,]+)</strong>", shown(site, f"/archive?family=abalone&position={start}"))
    assert everywhere
    assert int(everywhere[1]) == site.stage.store.archive.count(
        ArchiveSearch(query=ArchiveQuery(family="abalone", variant=rules.variant.name))
    )


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("moves=a1b2", "Searching for moves requires a family"),
        ("family=loa&position=nonsense", "column"),
        ("family=loa&variant=nonsense", "unknown variant"),
        ("since=yesterday", "invalid day"),
        ("since=2026-99", "invalid day"),
        ("since=2026-07-32", "invalid day"),
    ],
)
def test_what_cannot_be_searched_for_is_said_above_the_form(site: Site, query: str, problem: str) -> None:
    page = shown(site, f"/archive?{query}", 400)
    assert problem.lower() in page.lower()
    assert 'role="alert"' in page
    assert "<form" in page


def test_the_page_of_a_game_and_of_a_player(site: Site) -> None:
    page = shown(site, "/archive/1")
    assert "Tour / Lutu" in page
    assert "427 in its collection" in page
    for form in load("abalone").formats:
        assert f"/api/v1/archive/1/text?notation={form.name}" in page
    assert len(site.server.get("/archive/1/scenes.json").json["scenes"]) == 15
    (link,) = set(re.findall(r'href="(/archive/players/Tour[^"]*)"', page))
    player = shown(site, link)
    assert numbers(player) == [1]
    assert cells(player)[:6] == ["Abalone", "1", "1", "0", "0", "0"], "one game, won"
    reply = site.server.get("/archive/2")
    assert (reply.status, reply.headers["Location"][:7]) == (303, "/games/")
    shown(site, "/archive/999999", 404)
    shown(site, "/archive/players/nobody", 404)


def send(site: Site, cookie: str, **fields: str) -> Reply:
    """Submit the import form as a browser does: every field, in the order of the page."""
    page = site.server.get("/archive/import", headers={"Cookie": cookie}).body.decode()
    token = re.search(r'name="csrf" value="([^"]+)"', page)
    assert token, page[:500]
    names = re.findall(r'<(?:input|select|textarea)[^>]* name="(\w+)"', page)
    assert names.index("file") < names.index("text") < names.index("source")
    parts = dict.fromkeys(names, "") | {"csrf": token[1], "family": "abalone"} | fields
    heads = {name: f'name="{name}"{FILE if name == "file" and text else ""}' for name, text in parts.items()}
    body = "".join(
        f"--x\r\nContent-Disposition: form-data; {heads[name]}\r\n\r\n{text}\r\n" for name, text in parts.items()
    )
    headers = {"Cookie": cookie, "Content-Type": "multipart/form-data; boundary=x"}
    return site.server.post("/archive/import", data=f"{body}--x--\r\n".encode(), headers=headers)


def imported(site: Site, address: str, cookie: str) -> str:
    """Return the page of an import."""
    return str(site.server.get(address, headers={"Cookie": cookie}).body.decode())


FILE = '; filename="old games.txt"'


def test_organisers_import_and_bad_games_are_placed(site: Site) -> None:
    cookie = logged_in(site.server, "zoe")
    before = site.stage.store.archive.count(ArchiveSearch())
    reply = send(site, cookie, file=f"{GAME}\n\n1.a1b2 a1b2\n")
    assert reply.status == 303
    where = reply.headers["Location"]
    assert "data-live-every" in imported(site, where, cookie)
    assert 'href="/login' in shown(site, where), "others see nothing of it"
    read_imports(site.stage.store)
    page = imported(site, where, cookie)
    assert "data-live-every" not in page
    assert "The import is complete." in page
    assert "<dt>New games</dt><dd>1</dd>" in page
    assert cells(page)[:3] == ["3", "2", "illegal move a1b2"]
    assert site.stage.store.archive.count(ArchiveSearch()) == before + 1
    assert site.stage.store.archive.count(ArchiveSearch(query=ArchiveQuery(source="old games.txt"))) == 1
    again = send(site, cookie, text=GAME, source="again").headers["Location"]
    read_imports(site.stage.store)
    assert "<dt>Already stored</dt><dd>1</dd>" in imported(site, again, cookie)
    assert again in imported(site, "/archive/import", cookie), "the latest imports are listed"
    assert send(site, cookie, text=GAME).status == 422, "a text without a file needs a name"
    nothing = send(site, cookie, text=" ", source="x")
    assert nothing.status == 422
    assert "expected games of" in nothing.body.decode()


def test_nobody_else_imports(site: Site) -> None:
    page = shown(site, "/archive/import")
    assert "send the file to an organiser" in page
    assert 'formaction="/loa/board"' in page, "others can look at a game"
    body = b'--x\r\nContent-Disposition: form-data; name="text"\r\n\r\n1.a1b2\r\n--x--\r\n'
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    assert site.server.post("/archive/import", data=body, headers=headers).status == 401
    headers["Cookie"] = logged_in(site.server, "zoe")
    assert site.server.post("/archive/import", data=body, headers=headers).status == 403, "not from our own page"


def test_the_viewer_steps_through_a_game_of_people(site: Site, page: Any, witness: Any) -> None:
    visit(page, site, "/archive/1")
    page.click("[data-go=home]")
    page.click("[data-go=right]")
    assert page.inner_text("#status").startswith("Ply 1 of 14")
    assert page.locator("#thoughts").count() == 0


def test_the_explorer_leads_from_position_to_position(site: Site) -> None:
    page = shown(site, "/abalone/explorer?source=arena")
    (link,) = re.findall(r'<th [^>]*data-label="Move"[^>]*>\s*<a href="([^"]+)"', page)[:1]
    assert "source=arena" in link
    next_page = shown(site, link.replace("&amp;", "&"))
    counts = [int(re.findall(r"<strong>([\d,]+)</strong>", text)[0].replace(",", "")) for text in (page, next_page)]
    assert 0 < counts[1] <= counts[0]
    assert "Position" in shown(site, "/abalone/explorer?position=none", 400)
    assert "much" in shown(site, "/abalone/explorer?rating=much", 400)


def test_the_explorer_shows_the_arrow_of_the_move_under_the_pointer_or_in_focus(site: Site, page: Any) -> None:
    visit(page, site, "/abalone/explorer?source=arena")
    arrows, row = page.locator('.explorer [data-layer="trail"] polyline'), page.locator(".explorer tbody tr").first
    points = row.locator("a").first.get_attribute("data-arrow").split("|")
    assert arrows.count() == 0
    row.locator("td").first.hover()
    assert [arrow.get_attribute("points") for arrow in arrows.all()] == points
    page.mouse.move(0, 0)
    assert arrows.count() == 0
    row.locator("a").first.focus()
    assert arrows.count() == len(points)


def test_what_was_played_before_stands_beside_boards(site: Site, page: Any) -> None:
    visit(page, site, "/abalone/board")
    moves = page.locator('[data-panel="explorer"] tbody a')
    moves.first.click()
    reads(page, "#ply", "1")
    reads(page, '[data-panel="explorer"] p', re.compile(r"^Archived games with this position: \d+\."))
    visit(page, site, f"/games/{site.stage.finished['abalone']}?ply=0")
    page.click('[data-panel="explorer"] summary')
    reads(page, '[data-panel="explorer"] p', re.compile(r"^Archived games with this position: 1\d\."))
    moves.first.click()
    page.wait_for_url("**/abalone/explorer?*")
