"""Access control: every route for every role, from the table of routes."""

from __future__ import annotations

import http.client
from datetime import datetime, timedelta

import pytest

from arena.api.registry import Route
from arena.api.routes import table
from arena.clock import now
from arena.credentials import scopes_of
from arena.http.problem import PREFIX
from tests.arena.api.filled import Arena
from tests.with_features import DISABLED

PEOPLE = ("nobody", "reader", "author", "organiser", "admin", "worker")
SCOPES = {"nobody": frozenset[str](), "reader": frozenset({"read"}), "worker": frozenset({"worker"})}
HARMLESS = {
    "bot": "nobodys",
    "tournament": "999999",
    "game": "f" * 16,
    "user": "nobodys",
    "token": "999999",
    "sha256": "f" * 64,
}
"""Names of missing objects: permitted requests end in 404 and change nothing."""


def address(route: Route) -> str:
    """Return the path of the route for a missing object."""
    path = PREFIX + route.path
    for name in route.path_types:
        path = path.replace("{" + name + "}", HARMLESS.get(name, "side" if name == "side" else "999999"))
    return path.replace("/logs/side", "/logs/first")


@pytest.mark.parametrize("person", PEOPLE)
def test_every_route_admits_exactly_the_permitted_roles(arena: Arena, person: str) -> None:
    scopes = SCOPES.get(person) if person in SCOPES else scopes_of(person)
    assert scopes is not None
    token = arena.tokens.get(person)
    routes = [route for route in table(DISABLED) if not route.path.endswith("stream")]
    assert len(routes) > 80
    for route in routes:
        # An empty body is refused as such only after the question who asks.
        headers = {"Content-Type": "application/json"} if route.body else {}
        reply = arena.server.ask(route.method, address(route), token=token, headers=headers)
        if route.scope is None or route.scope in scopes:
            assert reply.status not in (401, 403), (route.name, reply.body)
            assert reply.status < 500, (route.name, reply.body)
        else:
            assert reply.status == (401 if person == "nobody" else 403), (route.name, reply.body)
            assert reply.json["docs"], route.name
            assert "WWW-Authenticate" in reply.headers, route.name


def test_every_write_needs_a_scope() -> None:
    assert [route.name for route in table() if route.method != "GET" and route.scope is None] == ["account.login"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PATCH", "/bots/zeta", {"description": "mine"}),
        ("POST", "/bots/zeta/retire", None),
        ("POST", "/bots/zeta/versions/1/retire", None),
        ("POST", "/bots/zeta/versions?family=loa", None),
    ],
)
def test_authors_cannot_change_bots_of_others(arena: Arena, method: str, path: str, body: object) -> None:
    data = None if body is not None else b"#!/bin/sh\n"
    reply = arena.server.ask(method, PREFIX + path, token=arena.tokens["other"], body=body, data=data)
    assert reply.status == 403
    assert arena.server.get(f"{PREFIX}/bots/zeta").json["is_retired"] is False


def test_logs_are_for_owners(arena: Arena) -> None:
    path = f"{PREFIX}/games/{arena.games[0]}/logs/first"
    assert arena.server.get(path, token=arena.tokens["author"]).status == 403
    reply = arena.server.get(path, token=arena.tokens["organiser"])
    assert reply.status == 200
    assert reply.json["log"] == "hello from first"
    assert reply.headers["Cache-Control"] == "no-store"


def test_the_log_of_a_check_is_for_its_owner(arena: Arena) -> None:
    path = f"{PREFIX}/bots/zeta/versions/1"
    assert arena.server.get(path).json["log"] is None
    assert arena.server.get(path, token=arena.tokens["other"]).json["log"] is None
    mine = arena.server.get(path, token=arena.tokens["author"])
    assert mine.json["log"] == ""
    assert "private" in mine.headers["Cache-Control"]


def test_records_hide_standard_error(arena: Arena) -> None:
    game = arena.games[0]
    for path in (f"/games/{game}", f"/games/{game}/record", f"/games/{game}/stream"):
        assert b"hello from" not in arena.server.get(PREFIX + path).body
    for form in ("application/x-ndjson", "text/plain"):
        assert b"hello from" not in arena.server.get(f"{PREFIX}/games", headers={"Accept": form}).body


def test_specs_hide_commands(arena: Arena) -> None:
    spec = arena.server.get(f"{PREFIX}/games/{arena.games[0]}").json["spec"]
    assert set(spec["first"]) == {"name", "version", "options"}


# -- tokens ------------------------------------------------------------------------------------------------------------


def test_a_token_is_made_shown_once_used_and_revoked(arena: Arena) -> None:
    server, author = arena.server, arena.tokens["author"]
    wish = {"name": "laptop", "scopes": ["read"], "days": 3}
    made = server.post(f"{PREFIX}/account/tokens", token=author, body=wish)
    assert made.status == 201
    assert made.headers["Cache-Control"] == "no-store"
    secret, number = made.json["token"], made.json["id"]
    assert server.get(f"{PREFIX}/account", token=secret).json["scopes"] == ["read"]
    listed = server.get(f"{PREFIX}/account/tokens", token=secret)
    assert secret.encode() not in listed.body
    assert server.post(f"{PREFIX}/bots/zeta/retire", token=secret).status == 403
    assert server.ask("DELETE", f"{PREFIX}/account/tokens/{number}", token=arena.tokens["other"]).status == 404
    assert server.ask("DELETE", f"{PREFIX}/account/tokens/{number}", token=author).status == 204
    assert server.get(f"{PREFIX}/account", token=secret).status == 401


@pytest.mark.parametrize(("given", "days"), [({}, 90), ({"days": 3}, 3), ({"days": 0}, None)])
def test_make_token_ends_after_the_days_given_or_ninety(arena: Arena, given: dict[str, int], days: int | None) -> None:
    wish = {"name": "laptop", "scopes": ["read"], **given}
    made = arena.server.post(f"{PREFIX}/account/tokens", token=arena.tokens["author"], body=wish).json
    if days is None:
        assert made["expires"] is None
    else:
        ends = datetime.fromisoformat(made["expires"])
        assert abs(ends - now() - timedelta(days=days)) < timedelta(hours=1)


def test_an_expired_token_and_a_disabled_user(arena: Arena) -> None:
    from arena.credentials import digest_of, new_token

    server, store = arena.server, arena.store
    user = store.users.add("gone")
    old, fresh = new_token(), new_token()
    store.users.add_token(user.id or 0, "old", digest_of(old), "read", now())
    store.users.add_token(user.id or 0, "fresh", digest_of(fresh), "read")
    refused = server.get(f"{PREFIX}/account", token=old)
    assert refused.status == 401
    assert "the token expired on 20" in refused.json["detail"]
    assert server.get(f"{PREFIX}/account", token=fresh).status == 200
    reply = server.ask("PATCH", f"{PREFIX}/users/gone", token=arena.tokens["admin"], body={"is_active": False})
    assert reply.status == 200
    assert server.get(f"{PREFIX}/account", token=fresh).status == 401


@pytest.mark.parametrize(
    "value",
    [
        "",
        "Bearer",
        "Bearer x",
        "Basic YTpi",
        "Bearer arena_" + "A" * 43,
        "Bearer arena_" + "A" * 42 + "\xe9",
        "arena_x",
    ],
)
def test_invalid_token_is_refused_on_public_routes(arena: Arena, value: str) -> None:
    reply = arena.server.get(f"{PREFIX}/families", headers={"Authorization": value})
    assert reply.status == 401
    assert reply.headers["WWW-Authenticate"].startswith("Bearer")


def test_two_authorization_headers_are_refused(arena: Arena) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", arena.server.port, timeout=60)
    connection.putrequest("GET", f"{PREFIX}/account")
    for person in ("author", "admin"):
        connection.putheader("Authorization", f"Bearer {arena.tokens[person]}")
    connection.endheaders()
    assert connection.getresponse().status in (400, 401)
    connection.close()


# -- users -------------------------------------------------------------------------------------------------------------


def test_admins_make_and_change_users(arena: Arena) -> None:
    server, admin = arena.server, arena.tokens["admin"]
    made = server.post(f"{PREFIX}/users", token=admin, body={"name": "newcomer", "role": "organiser"})
    assert made.status == 201
    assert made.headers["Location"] == f"{PREFIX}/users/newcomer"
    assert server.get(made.headers["Location"], token=admin).json["role"] == "organiser"
    again = server.post(f"{PREFIX}/users", token=admin, body={"name": "newcomer"})
    assert again.status == 409
    changed = server.ask("PATCH", f"{PREFIX}/users/newcomer", token=admin, body={"role": "author"})
    assert changed.json["role"] == "author"
    own = server.ask("PATCH", f"{PREFIX}/users/admin", token=admin, body={"role": "author"})
    assert own.status == 403
    names = [item["name"] for item in server.get(f"{PREFIX}/users", token=admin).json["items"]]
    assert names == sorted(names)
    assert {"admin", "newcomer"} <= set(names)
    actions = [item["action"] for item in server.get(f"{PREFIX}/audit", token=admin).json["items"]]
    assert {"user.make", "user.change"} <= set(actions)
