"""The OpenAPI document and its page: complete, consistent with the table, with runnable examples."""

from __future__ import annotations

import re
import shlex

import pytest

from arena.api import connection
from arena.api.openapi import curl, document
from arena.api.registry import Route
from arena.api.routes import table
from arena.http.problem import PREFIX
from referee.errors import KINDS
from tests.arena.api.filled import Arena
from tests.with_features import DISABLED

ROUTES = table(DISABLED)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_every_operation_has_a_curl_line_that_runs(arena: Arena, route: Route) -> None:
    """Parse the example as a shell would and send it: the server must not report an invalid request."""
    words = shlex.split(curl(route))
    assert words.pop(0) == "curl"
    method, headers, data = "GET", {}, None
    target = ""
    while words:
        word = words.pop(0)
        if word == "-X":
            method = words.pop(0)
        elif word == "-H":
            name, _, value = words.pop(0).partition(": ")
            headers[name] = value.replace("$ARENA_TOKEN", arena.tokens["admin"])
        elif word == "-o":
            words.pop(0)
        elif word in ("-d", "--data-binary"):
            given = words.pop(0)
            data = b"#!/bin/sh\n" if given.startswith("@") else given.encode()
        else:
            assert word.startswith("$ARENA_SERVER/"), word
            target = word.removeprefix("$ARENA_SERVER")
    assert "{" not in target or not route.example
    if target.endswith("/stream"):
        return  # see test_streams
    reply = arena.server.ask(method, target, headers=headers, data=data)
    assert reply.status < 500
    bad = (400, 405, 406, 415, 422) if route.name == "account.login" else (400, 401, 405, 406, 415, 422)
    assert reply.status not in bad, reply.body


def test_the_viewer_shows_every_operation_and_every_kind_of_error(arena: Arena) -> None:
    page = arena.server.get(f"{PREFIX}/docs")
    assert page.headers["Content-Type"].startswith("text/html")
    text = page.body.decode()
    for route in ROUTES:
        assert f'id="{route.name}"' in text
    for kind in KINDS:
        assert f'id="problem-{kind}"' in text
    for name in document(ROUTES)["components"]["schemas"]:
        assert f'id="schema-{name}"' in text
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', text), "no other host is asked"


def test_the_served_document_is_the_made_one(arena: Arena) -> None:
    assert arena.server.get(f"{PREFIX}/openapi.json").json == document(ROUTES)


def test_every_route_of_the_server_is_in_the_document(arena: Arena) -> None:
    known = set(document(ROUTES)["paths"]) | {f"{PREFIX}/openapi.json", f"{PREFIX}/docs"}
    known.add(connection.PATH)  # a WebSocket, which OpenAPI has no words for: protocol/SPEC.md has
    resources = arena.server.runner.app.router.resources()
    assert {one.canonical for one in resources if one.canonical.startswith("/api")} == known


def test_every_operation_says_what_it_does() -> None:
    names = [route.name for route in ROUTES]
    assert len(set(names)) == len(names)
    for route in ROUTES:
        assert route.handler.__doc__, route.name
        assert route.description.endswith((".", "alone.")), route.name


def test_the_page_names_every_topic_that_is_open(arena: Arena) -> None:
    from arena.events import messages

    text = arena.server.get("/api/v1/docs").body.decode()
    for kind in messages.KINDS:
        for topic in (*kind.COPIES, kind.TOPIC):
            assert (f"<code>{topic.filter}</code>" in text) == topic.is_public, topic


@pytest.mark.parametrize(
    "path",
    [
        "/bots",
        "/bots/greedy",
        "/bots/greedy/v/1",
        "/bots/greedy/vs/alphabeta",
        "/tournaments",
        "/tournaments/{finished}",
        "/games",
        "/games/{game}",
        "/workers",
        "/errors",
        "/dumps",
        "/loa",
        "/loa/leaderboard",
    ],
)
def test_pages_have_their_data_at_the_same_address(arena: Arena, path: str) -> None:
    path = path.format(finished=arena.finished, game=arena.games[0])
    assert arena.server.get(path).headers["Content-Type"].startswith("text/html")
    data = arena.server.get(f"{path}.json")
    assert (data.status, data.headers["Access-Control-Allow-Origin"]) == (200, "*")
    assert isinstance(data.json, dict)


def test_a_redirect_that_is_raised_is_an_answer_like_others(arena: Arena) -> None:
    reply = arena.server.get("/LOA")
    assert (reply.status, reply.headers["Location"]) == (308, "/loa")
    assert reply.headers["Server"] == "arena"
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert b"308" not in reply.body
