"""The page of a bot by family, and the curves of several bots in one plot."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import pytest

from arena.store import Store
from tests.arena.api.server import Server, settings_in
from tests.arena.field import Field


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("bot")
    store = Store.in_folder(folder)
    field = Field(store)
    field.play(24)
    field.version("ada", "abalone")
    found = Server(store, settings_in(folder))
    found.unlimited()
    yield found
    found.close()
    store.close()


def body(server: Server, path: str) -> str:
    """A page as it came."""
    reply = server.get(path)
    assert reply.status == 200, (path, reply.body)
    return html.unescape(reply.body.decode())


def test_a_bot_of_several_families_has_a_tab_for_each(server: Server) -> None:
    whole = body(server, "/bots/ada")
    assert re.findall(r'<a href="\?family=(\w+)#ratings"', whole) == ["abalone", "loa"]
    assert "Results by opponent" in body(server, "/bots/ada?family=loa")
    empty = body(server, "/bots/ada?family=abalone")
    assert "Results by opponent" not in empty
    assert "No rated games yet" in empty
    assert '<a href="?family=' not in body(server, "/bots/bob")


def test_curves_of_bots_are_compared_at_an_address(server: Server) -> None:
    shown = body(server, "/loa/compare?bot=ada&bot=cleo&by=game")
    assert len(re.findall(r'<polyline class="line s\d"', shown)) == 2
    assert set(re.findall(r'name="bot"\s+value="(\w+)" checked', shown)) == {"ada", "cleo"}
    assert len(re.findall(r'<polyline class="line s\d"', body(server, "/loa/compare"))) == 3
    assert "No rated games to compare" in body(server, "/abalone/compare")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("bot=adda", "did you mean ada"),
        ("pool=chess", "pool is one of"),
        ("by=weight", "by is one of"),
        ("bots=ada", "did you mean bot?"),
    ],
)
def test_what_cannot_be_compared_is_named(server: Server, query: str, words: str) -> None:
    reply = server.get(f"/loa/compare?{query}")
    assert reply.status == 400
    assert words in html.unescape(reply.body.decode())
