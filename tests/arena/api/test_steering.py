"""Buttons on a tournament's page: shown only to organisers, and only if the state permits the action."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from arena import tournaments
from arena.clock import now
from arena.credentials import hash_password
from tests.arena.api.filled import Arena
from tests.arena.api.test_session import PASSWORD, Browser


class Person(Browser):
    """A browser with a logged-in user."""

    def __init__(self, arena: Arena, name: str, role: str) -> None:
        super().__init__(arena)
        arena.store.users.add(name, role, hash_password(PASSWORD))
        self.get("/login")
        assert self.send("/login", {"user": name, "password": PASSWORD}).status == 303

    def buttons(self, number: int) -> list[str]:
        """Return the buttons on the page of a tournament."""
        reply = self.get(f"/tournaments/{number}")
        assert reply.status == 200
        return re.findall(r'<button name="verb" value="(\w+)"', reply.body.decode())

    def press(self, number: int, verb: str) -> int:
        """Press a button and return the status of the response."""
        self.get("/submit")  # any page with a form of ours
        return self.send(f"/tournaments/{number}/steer", {"verb": verb}).status


@pytest.fixture(scope="module")
def eve(arena: Arena) -> Person:
    return Person(arena, "eve", "organiser")


@pytest.fixture
def number(arena: Arena) -> int:
    """A running tournament."""
    by = arena.store.users.find("organiser").id or 0
    document = {"name": "Steered", "family": "loa", "entries": {"bots": ["greedy", "random"]}}
    row = tournaments.create(arena.store, document, by, now())
    tournaments.plan(arena.store, row.id or 0)
    return row.id or 0


def test_from_pause_to_the_end(arena: Arena, eve: Person, number: int) -> None:
    def state() -> str:
        return arena.store.tournaments.get(number).state

    assert eve.buttons(number) == ["drain", "pause", "cancel"]
    assert (eve.press(number, "pause"), state()) == (303, "paused")
    assert eve.buttons(number) == ["resume", "cancel"]
    assert (eve.press(number, "pause"), state()) == (409, "paused")
    assert (eve.press(number, "resume"), state()) == (303, "running")
    assert (eve.press(number, "explode"), state()) == (422, "running")
    assert (eve.press(number, "cancel"), state()) == (303, "cancelled")
    assert eve.buttons(number) == []


def test_before_it_begins(arena: Arena, eve: Person) -> None:
    by = arena.store.users.find("organiser").id or 0
    document = {"name": "Later", "family": "loa", "entries": {"bots": ["greedy", "random"]}}
    later = tournaments.create(
        arena.store, {**document, "start_time": "2027-01-01T00:00:00Z"}, by, datetime(2026, 12, 1, tzinfo=UTC)
    )
    number = later.id or 0
    assert eve.buttons(number) == ["start", "pause", "cancel"]
    assert eve.press(number, "pause") == 303
    assert eve.buttons(number) == ["resume", "cancel"]
    assert eve.press(number, "resume") == 303
    assert arena.store.tournaments.get(number).state == "scheduled"


def test_for_organisers_only(arena: Arena, number: int) -> None:
    author = Person(arena, "mallory", "author")
    assert author.buttons(number) == []
    assert author.press(number, "cancel") == 403
    stranger = Browser(arena)
    assert stranger.send(f"/tournaments/{number}/steer", {"verb": "cancel"}).status == 401
    assert arena.store.tournaments.get(number).state == "running"


def test_form_with_wrong_csrf_token_is_refused(arena: Arena, eve: Person, number: int) -> None:
    eve.get("/submit")
    assert eve.send(f"/tournaments/{number}/steer", {"verb": "cancel", "csrf": "wrong"}).status == 403
    assert arena.store.tournaments.get(number).state == "running"
    assert eve.press(10**6, "cancel") == 404
