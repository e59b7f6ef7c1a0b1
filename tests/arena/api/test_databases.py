"""Every route on SQLite and PostgreSQL: the same responses, and common writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.api.registry import Route
from arena.api.routes import table
from arena.http.problem import PREFIX
from arena.store import Store
from tests.arena.api.filled import Arena, fill
from tests.arena.api.server import Server, settings_in
from tests.arena.field import read_imports
from tests.with_features import DISABLED

QUERIES = {
    "/problems/solvers": "?family=loa",
    "/bots/{bot}/versions/{number}/changes": "?pool=loa",
    "/opponents": "?family=loa",
    "/games": "?bot=greedy&family=loa&termination_class=rules&since=2026-01-01&until=2999-01-01&limit=3",
    "/bots": "?family=loa&owner=arena&limit=2",
    "/tournaments": "?state=finished&family=loa&limit=1",
}


@pytest.fixture
def filled(store: Store, tmp_path: Path) -> Iterator[Arena]:
    """A server with either database."""
    server = Server(store, settings_in(tmp_path))
    server.unlimited()
    yield fill(server)
    server.close()


def address(route: Route, arena: Arena) -> str:
    """Return the path of the route for an existing object."""
    version = arena.store.versions.find("greedy")
    things = {
        "bot": "greedy",
        "other": "alphabeta",
        "number": "1",
        "tournament": str(arena.finished),
        "game": arena.games[0],
        "side": "first",
        "family": "loa",
        "user": "author",
        "submission_id": str(version.id),
    }
    path = route.path
    for name in route.path_types:
        path = path.replace("{" + name + "}", things.get(name, "1"))
    return PREFIX + path + QUERIES.get(route.path, "")


def test_every_route_that_reads_and_the_usual_writes(filled: Arena) -> None:
    server, tokens = filled.server, filled.tokens
    document = {"name": "Weekly", "family": "loa", "entries": {"all": True}, "schedule": {"cron": "0 20 * * 5"}}
    assert server.post(f"{PREFIX}/schedules", token=tokens["organiser"], body=document).status == 201
    old_game = f"{PREFIX}/archive?family=abalone&source=old"
    assert server.post(old_game, token=tokens["organiser"], data=b"1.a1b2 i5h5 2.a2b3 i6h6\n").status == 202
    read_imports(server.store)
    question = {"family": "loa", "moves": "b1b3"}
    assert server.post(f"{PREFIX}/analysis/positions", token=tokens["admin"], body=question).status == 201
    wish = {"family": "loa", "bot": "greedy", "side": "first"}
    begun = server.post(f"{PREFIX}/play", token=tokens["admin"], body=wish)
    assert begun.status == 201, begun.body
    problems = []
    for route in table(DISABLED):
        # No bundle is stored here, and no problem is set.
        if route.method != "GET" or route.path.startswith(("/bundles/", "/problems/next/", "/problems/{number}")):
            continue
        for form in ("application/json", *route.forms):
            if form == "application/json" and route.path.endswith(("stream", "/text")):
                continue
            path = begun.headers["Location"] if route.path == "/play/{game}" else address(route, filled)
            if form != "application/json":
                path = path.replace("&limit=3", "")
            reply = server.get(path, token=tokens["admin"], headers={"Accept": form})
            if reply.status != 200:
                problems.append((path, form, reply.status, reply.body[:200]))
    assert problems == []

    organiser, author = tokens["organiser"], tokens["author"]
    wish = {"name": "Cup", "family": "loa", "games": 2, "entries": {"bots": ["greedy", "random"]}}
    keys = {"Idempotency-Key": "k"}
    made = server.post(f"{PREFIX}/tournaments", token=organiser, body=wish, headers=keys)
    assert made.status == 201
    assert server.post(f"{PREFIX}/tournaments", token=organiser, body=wish, headers=keys).json == made.json
    path = f"{PREFIX}/tournaments/{made.json['id']}"
    for verb in ("start", "pause", "resume", "drain", "cancel"):
        assert server.post(f"{path}/{verb}", token=organiser).status in (200, 409), verb
    upload = f"{PREFIX}/bots/fresh/versions?family=loa"
    assert server.post(upload, token=author, data=b"#!/bin/sh\nexit 0\n").status == 202
    assert server.ask("PATCH", f"{PREFIX}/bots/fresh", token=author, body={"description": "é"}).status == 200
    assert server.post(f"{PREFIX}/bots/fresh/retire", token=author).status == 200
    user = {"name": "newcomer", "role": "author"}
    assert server.post(f"{PREFIX}/users", token=tokens["admin"], body=user).status == 201
    token = server.post(f"{PREFIX}/account/tokens", token=author, body={"name": "x", "scopes": ["read"]})
    assert server.get(f"{PREFIX}/account", token=token.json["token"]).status == 200
    assert server.ask("DELETE", f"{PREFIX}/account/tokens/{token.json['id']}", token=author).status == 204
    # The moves of these records are made up, so no game can be shown.
    pages = ("/", "/tournaments", f"/tournaments/{filled.finished}", "/games", "/bots")
    for page in (*pages, "/bots/greedy", "/bots/greedy/v/1", "/bots/greedy/vs/alphabeta", "/loa", "/loa/leaderboard"):
        assert server.get(page).status == 200, page
    for page in ("/errors", "/workers", "/dumps", "/limits", "/submit", "/login", "/readyz", "/healthz"):
        assert server.get(page).status == 200, page
    assert server.get("/metrics", token=tokens["admin"]).status == 200
