"""Organisers' controls on the page of a tournament, which other users cannot use."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import urlencode

import pytest

from arena import tournaments
from arena.clock import now
from tests.arena.api.server import Reply, Server
from tests.arena.pages.test_organise import logged_in, opened

CUP = {"name": "Cup", "family": "loa", "entries": {"bots": ["ada", "bob"]}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with opened(tmp_path_factory.mktemp("steering")) as found:
        yield found


@pytest.fixture(scope="module")
def olga(server: Server) -> str:
    return logged_in(server, "olga")


@pytest.fixture
def cup(server: Server) -> int:
    """A tournament of two bots that has not started."""
    later = {**CUP, "start_time": (now() + timedelta(days=1)).isoformat()}
    return tournaments.create(server.store, later, server.store.users.find("zoe").id or 0, now()).id or 0


def shown(server: Server, cookie: str, number: int) -> str:
    return server.get(f"/tournaments/{number}", headers={"Cookie": cookie} if cookie else {}).body.decode()


def send(server: Server, cookie: str, number: int, verb: str, **fields: str) -> Reply:
    """Submit a form of the page, with its CSRF token."""
    token = re.search(r'name="csrf" value="([^"]+)"', shown(server, cookie, number))
    data = urlencode({"csrf": token[1] if token else "", **fields})
    headers = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}
    return server.post(f"/tournaments/{number}/{verb}", data=data.encode(), headers=headers)


def words(reply: Reply) -> str:
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", reply.body.decode())).split())


def playing(server: Server, number: int) -> list[str]:
    return [line.name for line in server.store.tournaments.entries(number) if not line.withdrawn]


def test_extend_form_makes_it_longer_and_says_how_long_it_is(server: Server, olga: str, cup: int) -> None:
    page = shown(server, olga, cup)
    assert re.search(r'name="to" required min="4"[^>]* step="2"\s+value="4"> games of each pairing', page)
    assert "<small>currently 2</small>" in page
    reply = send(server, olga, cup, "extend", to="8")
    assert (reply.status, reply.headers["Location"]) == (303, f"/tournaments/{cup}")
    assert server.store.tournaments.get(cup).settings["games"] == 8
    for wrong in ("8", "nonsense", "9", ""):
        assert send(server, olga, cup, "extend", to=wrong).status == 422
    assert "must be more than its 8 games of each pairing; write 10 or more" in words(
        send(server, olga, cup, "extend", to="2")
    )


def test_a_tournament_that_has_not_begun_shows_its_entries_first(server: Server, cup: int) -> None:
    text = shown(server, "", cup)
    first = re.search(r'<section id="(\w+)"', text.partition('class="panels"')[2])
    assert first
    assert (first[1], text.count('id="entries"'), 'id="live"' in text) == ("entries", 1, False)
    assert re.search(r'href="#(\w+)"', text.partition('class="tabs parts"')[2])[1] == "entries"


def test_enter_and_withdraw_forms_change_the_entries(server: Server, olga: str, cup: int) -> None:
    assert send(server, olga, cup, "enter", bot=" cleo ").headers["Location"] == f"/tournaments/{cup}#entries"
    assert send(server, olga, cup, "enter", bot="dan v1").status == 303
    assert playing(server, cup) == ["ada v1", "bob v1", "cleo v1", "dan v1"]
    unknown = send(server, olga, cup, "enter", bot="cloe")
    assert unknown.status == 404
    assert "Did you mean …? cleo" in words(unknown)
    assert 'href="/bots/cleo"' in unknown.body.decode()
    button = re.search(r'<button name="bot"\s+value="([^"]+)">Withdraw <bdi>bob v1', shown(server, olga, cup))
    assert button
    assert send(server, olga, cup, "withdraw", bot=button[1]).status == 303
    assert playing(server, cup) == ["ada v1", "cleo v1", "dan v1"]
    assert send(server, olga, cup, "withdraw", bot="bob v1").status == 404


def test_forms_are_those_that_the_state_allows(server: Server, olga: str, cup: int) -> None:
    def forms() -> set[str]:
        return set(re.findall(rf'action="/tournaments/{cup}/(\w+)"', shown(server, olga, cup)))

    assert forms() == {"steer", "extend", "enter", "withdraw"}
    tournaments.start(server.store, cup, now())
    tournaments.plan(server.store, cup)
    assert forms() == {"steer", "extend", "withdraw"}
    tournaments.cancel(server.store, cup, now())
    assert forms() == set()


@pytest.mark.parametrize(
    ("verb", "fields"), [("extend", {"to": "8"}), ("enter", {"bot": "dan"}), ("withdraw", {"bot": "ada"})]
)
def test_forms_of_others_or_without_the_token_change_nothing(
    server: Server, olga: str, cup: int, verb: str, fields: dict[str, str]
) -> None:
    otto = logged_in(server, "otto")
    for cookie in ("", otto):
        assert f"/tournaments/{cup}/{verb}" not in shown(server, cookie, cup)
    assert send(server, "", cup, verb, **fields).status == 401
    token = re.search(r'name="csrf" value="([^"]+)"', server.get("/account", headers={"Cookie": otto}).body.decode())
    assert token
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    for cookie, csrf in ((otto, token[1]), (olga, ""), (olga, token[1])):
        data = urlencode({"csrf": csrf, **fields}).encode()
        reply = server.post(f"/tournaments/{cup}/{verb}", data=data, headers={**headers, "Cookie": cookie})
        assert reply.status == 403
    assert playing(server, cup) == ["ada v1", "bob v1"]
    assert server.store.tournaments.get(cup).settings["games"] == 2
