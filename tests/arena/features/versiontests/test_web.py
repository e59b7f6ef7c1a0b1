"""Tests of two versions by page, JSON interface and command line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from arena.cli.terminal.run import run
from arena.http.problem import PREFIX
from referee.bot.file import BotFile
from tests.arena.api.server import Server
from tests.arena.pages.conftest import window
from tests.arena.pages.test_organise import logged_in

LOGGED_IN: dict[str, str] = {}
"""The session cookie of the author."""


@pytest.fixture(scope="module", autouse=True)
def token(server: Server) -> str:
    """The token of an author with two versions of zeta."""
    token = server.person("ada", "author")
    LOGGED_IN["Cookie"] = logged_in(server, "ada")
    bot = server.store.bots.add("zeta", server.store.users.find("ada").id or 0)
    for _ in range(2):
        server.store.versions.add(
            bot.id or 0, BotFile(("./bot",), families=("loa",)), state="active", variants={"loa": ["standard"]}
        )
    return token


def _stop_all(server: Server, token: str) -> None:
    for test in server.get(f"{PREFIX}/bots/zeta/tests").json["items"]:
        if test["state"] not in ("finished", "cancelled"):
            assert server.ask("POST", f"{PREFIX}/tests/{test['id']}/stop", token=token).status == 200


def test_author_begins_and_stops_a_test_on_the_page_of_the_bot(server: Server, token: str, browser: Any) -> None:
    name, _, secret = LOGGED_IN["Cookie"].partition("=")
    with window(browser, 375, is_apart=True) as page:
        page.context.add_cookies([{"name": name, "value": secret, "url": server.url}])
        page.goto(f"{server.url}/bots/zeta")
        page.click("text=Test two versions")
        page.fill("[name=elo0]", "9")
        page.fill("[name=elo1]", "8")
        page.click("text=Begin the test")
        assert "elo0 must be less than elo1" in page.inner_text("[role=alert]")
        assert page.input_value("[name=elo0]") == "9"
        page.fill("[name=elo1]", "19")
        page.fill("[name=book]", "b1b3\nb1h1")
        page.click("text=Begin the test")
        page.wait_for_url("**/tournaments/*")
        page.goto(f"{server.url}/account#bots")
        page.click("text=Tests of my versions")
        row = page.inner_text("tbody")
        for words in ("zeta v2 – zeta v1", "scheduled", "undecided", "-2.94, 2.94", "9, 19", "0 0 0 0 0"):
            assert words in row
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        page.click("text=Stop the test of zeta v2 and zeta v1")
        page.get_by_text("cancelled").first.wait_for()
    _stop_all(server, token)


def test_page_of_another_bot_has_no_form_for_visitors(server: Server) -> None:
    text = server.get("/bots/zeta/tests").body.decode()
    assert "Begin the test" not in text
    assert "<h1>zeta: tests of versions</h1>" in text
    assert server.get("/tests").headers["Location"].startswith("/login")


def test_command_begins_lists_and_stops_a_test(server: Server, token: str, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--server", server.url, "--token", token]
    assert run(["test", "begin", "zeta v2", "zeta v1", "--family", "loa", "--elo1", "5", *where]) == 0
    out, err = capsys.readouterr()
    assert "zeta v2 – zeta v1  scheduled  undecided" in out
    assert run(["test", "list", "zeta", "--json", "--server", server.url]) == 0
    (latest, *_) = json.loads(capsys.readouterr().out)["items"]
    assert f"`arena test stop {latest['id']} --server {server.url}` ends it" in err
    assert (latest["elo0"], latest["elo1"], latest["pentanomial"]) == (0, 5, [0] * 5)
    assert run(["test", "stop", str(latest["id"]), *where]) == 0
    assert "cancelled" in capsys.readouterr().out
    assert run(["test", "stop", str(latest["id"]), *where]) != 0
    other = server.person("bob", "author")
    words = ["test", "begin", "zeta v2", "zeta v1", "--family", "loa", "--server", server.url]
    assert run([*words, "--token", other]) == 4
    assert "belongs to another user" in capsys.readouterr().err
