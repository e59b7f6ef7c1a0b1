"""The page of a bot by family, and rating plots of several bots."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from arena.store import Store
from arena.store.bots.bots import ConnectedBot
from referee.bot.file import BotFile
from tests.arena.api.server import Reply, Server, settings_in
from tests.arena.field import Field
from tests.arena.pages.test_organise import logged_in


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("bot")
    store = Store.in_folder(folder)
    field = Field(store)
    field.play(24)
    field.version("ada", "abalone")
    opened = Server(store, settings_in(folder))
    opened.unlimited()
    yield opened
    opened.close()
    store.close()


def body(server: Server, path: str) -> str:
    """Return the HTML of a page."""
    reply = server.get(path)
    assert reply.status == 200, (path, reply.body)
    return html.unescape(reply.body.decode())


def test_a_bot_of_several_families_has_a_tab_for_each(server: Server) -> None:
    whole = body(server, "/bots/ada")
    assert re.findall(r'<a class="chip" href="\?family=(\w+)#ratings"', whole) == ["abalone", "loa"]
    assert "Results by opponent" in body(server, "/bots/ada?family=loa")
    empty = body(server, "/bots/ada?family=abalone")
    assert "Results by opponent" not in empty
    assert "No rated games yet" in empty
    assert 'href="?family=' not in body(server, "/bots/bob")


def test_the_list_of_bots_is_filtered_by_family_and_owner(server: Server) -> None:
    assert re.findall(r'<th [^>]*>\s*<a href="/bots/(\w+)">', body(server, "/bots?owner=zoe&family=abalone")) == ["ada"]
    assert "No bots yet" in body(server, "/bots?family=baroque&retired=1")
    assert server.get("/bots?owner=nobody").status == 404
    assert server.get("/bots?retired=yes").status == 400


def test_filters_of_a_leaderboard_are_the_same_for_page_and_interface(server: Server) -> None:
    for query, count in (("", 4), ("variant=standard", 4), ("pace=blitz", 0), ("owner=zoe", 4), ("at=2000-01-01", 0)):
        assert len(server.get(f"/loa/leaderboard.json?{query}").json["items"]) == count, query
        page = body(server, f"/loa/leaderboard?{query}")
        assert ("No bots match these filters" in page) == (not count), query
    assert server.get("/loa/leaderboard.json?variant=standard&limit=1").json["items"][0]["elo"] is not None
    for path, status in (("/loa/leaderboard", 400), ("/loa/leaderboard.json", 422)):
        assert server.get(f"{path}?variant=huge").status == status
        assert server.get(f"{path}?at=yesterday").status == status
        assert server.get(f"{path}?state=lost").status == status


def test_curves_of_bots_are_compared_at_an_address(server: Server) -> None:
    shown = body(server, "/loa/compare?bot=ada&bot=cleo&by=game")
    assert len(re.findall(r'<polyline class="line s\d"', shown)) == 2
    assert set(re.findall(r'name="bot"\s+value="(\w+)" checked', shown)) == {"ada", "cleo"}
    assert len(re.findall(r'<polyline class="line s\d"', body(server, "/loa/compare"))) == 3
    assert "No rated games to compare" in body(server, "/abalone/compare")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("bot=adda", 'href="/loa/compare?bot=ada">ada<'),
        ("pool=chess", "choose from "),
        ("by=weight", "choose from date, game"),
        ("bots=ada", 'href="/loa/compare?bot=ada">'),
    ],
)
def test_what_cannot_be_compared_is_named(server: Server, query: str, words: str) -> None:
    reply = server.get(f"/loa/compare?{query}")
    assert reply.status == 400
    assert words in html.unescape(reply.body.decode())


def test_a_remote_bot_says_whether_it_is_there_and_its_author_challenges(server: Server) -> None:
    store = server.store
    store.samples.ensure({"random": "bots.samples.random_mover"}, {"loa": ["standard"]})
    author = store.users.add("far-author")
    bot = store.bots.add("homer", author.id or 0)
    version = store.versions.add(bot.id or 0, BotFile(("remote",), families=("loa",)), state="active", place="remote")
    assert "remote" not in body(server, "/bots/ada")
    store.presences.report({version.id or 0: ConnectedBot(version.id or 0, 1, 4, 83.4, is_open=True)})
    assert "running games: 1 of at most 4; round-trip time: 83 ms; open to challenges" in plain(server)
    assert "Challenge" not in plain(server)
    assert server.get("/bots/homer.json").json["presence"]["latency_ms"] == 83.4
    cookie = logged_in(server, "far-author")
    reply = send(server, cookie, "/bots/homer", "/bots/homer/challenge", opponent="random", family="loa", games="2")
    assert reply.status == 303, reply.body
    assert store.tournaments.get(int(reply.headers["Location"].rsplit("/", 1)[1])).pool == "loa/remote"
    store.presences.report({})
    assert "not connected, last seen" in plain(server)


def test_a_bot_is_followed_on_its_page_and_listed_in_the_account(server: Server) -> None:
    server.store.users.add("fay")
    cookie = logged_in(server, "fay")
    for path, kind, key in (("/bots/ada", "bot", "ada"), ("/tournaments/1", "tournament", "1")):
        stranger = body(server, path)
        assert f'class="button" href="{path}/feed.atom"' in stranger
        assert "/account/follow" not in stranger
        reply = send(server, cookie, path, "/account/follow", kind=kind, key=key, follow="yes")
        assert (reply.status, reply.headers["Location"]) == (303, path)
        shown = server.get(path, headers={"Cookie": cookie}).body.decode()
        assert "Stop following" in shown
    account = server.get("/account", headers={"Cookie": cookie}).body.decode()
    assert re.search(r'id="following".*?href="/bots/ada".*?href="/tournaments/1"', account, re.DOTALL)
    fields = {"kind": "bot", "key": "ada", "follow": "no", "from": "account"}
    reply = send(server, cookie, "/account", "/account/follow", **fields)
    assert reply.headers["Location"] == "/account#following"
    assert "Stop following" not in server.get("/bots/ada", headers={"Cookie": cookie}).body.decode()
    assert send(server, cookie, "/account", "/account/follow", kind="bot", key="x", follow="yes").status == 404


def test_a_bot_is_played_and_challenged_from_its_page(server: Server) -> None:
    store = server.store
    store.samples.ensure({"random": "bots.samples.random_mover"}, {"loa": ["standard"]})
    assert '<form action="/play"><input type="hidden" name="bot" value="random">' in body(server, "/bots/random")
    assert 'action="/play"' not in body(server, "/bots/bob")
    author = store.users.add("gil")
    bot = store.bots.add("gilbot", author.id or 0)
    store.versions.add(
        bot.id or 0,
        BotFile(("./bot",), families=("loa",), remarks={"license": "MIT"}),
        bundle="ab" * 32,
        state="active",
        variants={"loa": ["standard"]},
    )
    assert '<dt class="mono">license</dt><dd>MIT</dd>' in body(server, "/bots/gilbot/v/1")
    assert server.get("/bots/gilbot.json").json["versions"][0]["remarks"] == {"license": "MIT"}
    cookie = logged_in(server, "gil")
    assert 'name="challenger"' not in server.get("/bots/bob", headers={"Cookie": cookie}).body.decode()
    assert 'name="challenger"' in server.get("/bots/random", headers={"Cookie": cookie}).body.decode()
    fields = {"challenger": "gilbot", "family": "loa", "games": "2", "time": "1+0.1"}
    reply = send(server, cookie, "/bots/random", "/bots/random/challenge", **fields)
    assert reply.status == 303, reply.body
    row = store.tournaments.get(int(reply.headers["Location"].rsplit("/", 1)[1]))
    assert row.name == "gilbot v1 challenges random v1"


def test_the_head_of_a_bot_has_ratings_and_latest_results(server: Server) -> None:
    shown = server.get("/bots/ada").body.decode()
    tiles = re.search(r'<ul class="tiles ratings".*?</ul>', shown, re.DOTALL)
    assert tiles
    assert tiles[0].count("<li>") == 1
    assert 'class="spark"' in tiles[0]
    timeline = re.search(r'<p class="timeline">.*?</p>', shown, re.DOTALL)
    assert timeline
    assert len(re.findall(r'<a href="/games/[0-9a-f]+" title="[^"]+"><b class="[WDL]">', timeline[0])) == 10
    assert shown.index('class="tiles ratings"') < shown.index('id="ratings"') < shown.index('id="versions"')


def plain(server: Server, path: str = "/bots/homer") -> str:
    """Return the visible text of a page."""
    return " ".join(re.sub("<[^>]+>", " ", body(server, path)).split()).replace(" ,", ",")


def send(server: Server, cookie: str, shown: str, path: str, **fields: str) -> Reply:
    """Submit a form of a page."""
    token = re.search(r'name="csrf" value="([^"]+)"', server.get(shown, headers={"Cookie": cookie}).body.decode())
    assert token
    headers = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}
    return server.post(path, data=urlencode({"csrf": token[1], "time": "10+0.1", **fields}).encode(), headers=headers)
