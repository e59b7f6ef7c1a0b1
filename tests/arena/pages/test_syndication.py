"""Content for other sites: feeds, pictures, embedded games, canonical addresses, robots.txt."""

from __future__ import annotations

import html
import io
import json
import re
import struct
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops

from arena.http.kept_files import KeptFiles
from arena.pages.drawing import thumbnail
from arena.pages.drawing.scene import Scene, Scenes
from arena.store import Store
from referee.rules import load
from tests.arena.api.server import Server, settings_in
from tests.arena.field import Field
from tests.arena.pages.stage import random_moves

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("reach")
    store = Store.in_folder(folder)
    Field(store).play(6)
    opened = Server(store, settings_in(folder, public_url="http://arena.example/"))
    opened.unlimited()
    yield opened
    opened.close()
    store.close()


@pytest.mark.parametrize(("path", "count"), [("/bots/ada", 3), ("/tournaments/1", 6), ("/loa", 6), ("/abalone", 0)])
def test_feeds_name_games_and_how_they_ended(server: Server, path: str, count: int) -> None:
    reply = server.get(f"{path}/feed.atom")
    assert reply.headers["Content-Type"].startswith("application/atom+xml")
    feed = ET.fromstring(reply.body)
    assert feed.findtext(f"{ATOM}id") == f"http://arena.example{path}"
    entries = feed.findall(f"{ATOM}entry")
    assert len(entries) == count
    for entry in entries:
        link = entry.find(f"{ATOM}link")
        assert link is not None
        game = server.store.games.get(link.get("href", "").removeprefix("http://arena.example/games/"))
        assert game.first in (entry.findtext(f"{ATOM}title") or "")
        assert re.search(r"^.+ \(plies: 2\)$", entry.findtext(f"{ATOM}summary") or "")
        assert re.fullmatch(r"2026-01-01T00:01:00\+00:00", entry.findtext(f"{ATOM}updated") or "")
    assert f'type="application/atom+xml" title="Results" href="{path}/feed.atom"' in server.get(path).body.decode()


def test_a_feed_of_nobody_is_not_found(server: Server) -> None:
    for path in ("/bots/nobody", "/tournaments/99", "/chess"):
        assert server.get(f"{path}/feed.atom").status == 404


def test_a_game_is_served_as_an_animated_picture(server: Server) -> None:
    game = server.store.games.latest().items[0].id
    assert f'href="/games/{game}/game.gif"' in server.get(f"/games/{game}").body.decode()
    reply = server.get(f"/games/{game}/game.gif")
    assert reply.headers["Content-Type"] == "image/gif"
    picture = Image.open(io.BytesIO(reply.body))
    assert (picture.size, picture.n_frames) == ((400, 400), 3)  # the start and two plies
    assert len(reply.body) < 60_000
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thumbnail, "gif", None)  # not drawn again
        assert server.get(f"/games/{game}/game.gif").body == reply.body


@pytest.mark.parametrize("family", ["loa", "pijersi"])  # squares; hexagons with stacks
def test_the_changed_part_of_a_picture_makes_the_next_one(family: str) -> None:
    ruleset = load(family).settle()
    scenes = Scenes(ruleset)
    scenes.extend(random_moves(ruleset, 8, seed=2))
    caption = thumbnail.Caption("", (("ada v1", ""), ("bob v2", "")), "")

    def drawn(scene: Scene, window: thumbnail.Window | None = None) -> Image.Image:
        png = thumbnail.png(ruleset.rules, scene, thumbnail.SIZE, thumbnail.SIZE, caption, window=window)
        return Image.open(io.BytesIO(png)).convert("RGB")

    picture = drawn(scenes.items[0])
    for before, scene in pairwise(scenes.items):
        window = thumbnail.changed_window(before, scene)
        assert window is not None
        picture.paste(drawn(scene, window), window[:2])
    different = ImageChops.difference(picture, drawn(scenes.items[-1])).convert("L").point(lambda value: value > 30)
    assert different.histogram()[1] < 400, "less than a piece: only edges differ, by rounding"
    assert thumbnail.changed_window(scene, scene) is None


def test_a_position_of_a_game_has_a_picture(server: Server) -> None:
    game = server.store.games.latest().items[0].id
    start, end = (server.get(f"/games/{game}/board.png?ply={ply}").body for ply in (0, 2))
    assert start != end
    assert server.get(f"/games/{game}/board.png").body == end
    assert server.get(f"/games/{game}/board.png?ply=x").status == 400


def test_a_picture_names_players_ratings_and_result() -> None:
    rules = load("loa")
    scene = Scenes(rules.settle()).items[0]
    players = (("ada v1", "Black, rating 21.5"), ("bob <b> & v2", "White"))
    for width, height in ((thumbnail.WIDTH, thumbnail.HEIGHT), (400, 400)):
        caption = thumbnail.Caption("Lines of Action", players, "1–0")
        drawn = [
            Image.open(io.BytesIO(thumbnail.png(rules, scene, width, height, shown))).convert("L")
            for shown in (caption, replace(caption, result=""), replace(caption, players=(players[0], ("x" * 200, ""))))
        ]
        assert {picture.size for picture in drawn} == {(width, height)}
        assert len({picture.tobytes() for picture in drawn}) == 3
        dark = drawn[2].point(lambda value: 255 * (value < 100)).getbbox()
        assert dark is not None
        assert dark[2] < width, "a long name fits"


def test_a_picture_of_the_end_has_the_result(server: Server) -> None:
    game = server.store.games.latest().items[1].id  # the pictures of the first one are cached
    texts: list[thumbnail.Caption] = []

    async def get(_files: KeptFiles, _key: str, _client: str, _draw: object, *args: Any) -> bytes:
        texts.append(args[-1])
        return b""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KeptFiles, "get", get)
        for ply in (1, 2):
            server.get(f"/games/{game}/board.png?ply={ply}")
    line = server.store.games.get(game)
    assert [caption.result for caption in texts] == [
        "",
        {"first": "1–0", "second": "0–1", "draw": "½–½"}[line.winner or ""],
    ]
    assert [name for name, _ in texts[0].players] == [line.first, line.second]
    assert all("rating" in about for _, about in texts[0].players)


def test_a_page_without_a_public_address_names_no_picture(server: Server, tmp_path: Path) -> None:
    game = server.store.games.latest().items[0].id
    own = Server(server.store, settings_in(tmp_path))
    try:
        assert "og:image" not in own.get(f"/games/{game}").body.decode()
        assert "og:image" not in own.get("/tournaments/1").body.decode()
    finally:
        own.close()


def test_a_link_to_a_game_has_a_picture_of_its_board(server: Server) -> None:
    game = server.store.games.latest().items[0].id
    page = server.get(f"/games/{game}").body.decode()
    link = re.search('og:image" content="http://arena.example([^"]+)"', page)
    assert link
    reply = server.get(link[1])
    assert reply.headers["Content-Type"] == "image/png"
    assert struct.unpack(">II", reply.body[16:24]) == (thumbnail.WIDTH, thumbnail.HEIGHT)
    assert len(reply.body) < 100_000
    assert server.get("/games/0123456789abcdef/board.png").status == 404


def test_a_picture_has_the_colours_of_the_page_by_light() -> None:
    style = thumbnail.style()
    assert "var(" not in style
    assert re.search(r"\.cell \{[^}]*fill: #ecdcbc", style)


def test_a_game_may_be_framed_and_nothing_else(server: Server) -> None:
    game = server.store.games.latest().items[0].id
    reply = server.get(f"/embed/games/{game}?ply=1")
    assert "frame-ancestors *;" in reply.headers["Content-Security-Policy"]
    body = reply.body.decode()
    assert 'id="viewer"' in body
    assert 'method="post"' not in body
    assert f'<link rel="canonical" href="http://arena.example/games/{game}">' in body
    page = server.get(f"/games/{game}")
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    shown = re.sub("</?span[^>]*>", "", page.body.decode())
    assert f'src="http://arena.example/embed/games/{game}"' in html.unescape(shown)


def test_one_address_is_the_page_s_own(server: Server) -> None:
    def canonical(path: str) -> str:
        link = re.search('rel="canonical" href="([^"]+)"', server.get(path).body.decode())
        return html.unescape(link[1]) if link else ""

    assert canonical("/loa/leaderboard?sort=-games") == "http://arena.example/loa/leaderboard"
    assert canonical("/loa/leaderboard?pool=loa&sort=name") == "http://arena.example/loa/leaderboard?pool=loa"
    assert canonical("/nosuchpage") == ""
    robots = server.get("/robots.txt").body
    assert b"Disallow: /api/" in robots
    assert b"\nSitemap: http://arena.example/sitemap.xml\n" in robots


def test_the_site_map_has_absolute_addresses_of_pages_that_exist(server: Server) -> None:
    reply = server.get("/sitemap.xml")
    assert reply.headers["Content-Type"].startswith("application/xml")
    addresses = [place.text or "" for place in ET.fromstring(reply.body).iter() if place.tag.endswith("loc")]
    assert len(set(addresses)) == len(addresses)
    assert {f"http://arena.example{path}" for path in ("/", "/loa", "/loa/board", "/bots/ada", "/tournaments/1")} <= {
        *addresses
    }
    for address in addresses:
        path = address.removeprefix("http://arena.example")
        assert path == "/docs/" or server.get(path).status == 200, path


def test_there_is_no_site_map_without_a_public_address(sqlite_store: Store, tmp_path: Path) -> None:
    opened = Server(sqlite_store, settings_in(tmp_path))
    try:
        reply = opened.get("/sitemap.xml")
        assert reply.status == 404
        assert b"set public_url" in reply.body
        assert b"Sitemap" not in opened.get("/robots.txt").body
    finally:
        opened.close()


def test_the_site_can_be_installed(server: Server) -> None:
    assert b'<link rel="manifest" href="/manifest.webmanifest">' in server.get("/").body
    reply = server.get("/manifest.webmanifest")
    assert reply.headers["Content-Type"].startswith("application/manifest+json")
    content = json.loads(reply.body)
    assert (content["name"], content["start_url"], content["display"]) == ("Bot arena", "/", "standalone")
    assert server.get(content["start_url"]).status == 200
    for icon in content["icons"]:
        picture = server.get(icon["src"])
        assert picture.headers["Content-Type"].partition(";")[0] == icon["type"]
        if icon["type"] == "image/png":
            size = Image.open(io.BytesIO(picture.body)).size
            assert icon["sizes"] == f"{size[0]}x{size[1]}"
    assert server.get("/icon-180.png").status == 200
    assert server.get("/icon-181.png").status == 404
