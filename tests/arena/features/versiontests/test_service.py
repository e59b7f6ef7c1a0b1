"""Tests of two versions as use cases: who may begin and stop them, within which limits, and what they show."""

from __future__ import annotations

from typing import Any

import pytest

from arena.documents.account import Identity
from arena.errors import BadValueError, ConflictError, ForbiddenError, NotFoundError, QuotaError
from arena.features.versiontests import service
from arena.features.versiontests.documents import VersionTestRequest
from arena.services import Arena, remote, tournament
from arena.services.remote import ChallengeError
from referee.bot.file import BotFile
from referee.tournament.part import SettingsError
from tests.arena.services.conftest import Person
from tests.arena.services.ear import Ear


@pytest.fixture
def ada(arena: Arena, person: Person) -> Identity:
    """The author of two versions of zeta."""
    author = person("ada")
    bot = arena.store.bots.add("zeta", author.user_id)
    for _ in range(2):
        arena.store.versions.add(
            bot.id, BotFile(("./bot",), families=("loa",)), state="active", variants={"loa": ["standard"]}
        )
    return author


def asked(**changes: Any) -> VersionTestRequest:
    return VersionTestRequest(**{"candidate": "zeta v2", "baseline": "zeta v1", "family": "loa", **changes})


def test_author_begins_a_test_of_two_versions(arena: Arena, ada: Identity, ear: Ear) -> None:
    test = service.begin(arena, asked(elo0=1.0, elo1=6.0, games=100, book="b1b3\n\nb1h1\n", time="3+0.05"), ada)
    assert (test.candidate, test.baseline, test.state, test.verdict) == ("zeta v2", "zeta v1", "scheduled", "undecided")
    assert (test.elo0, test.elo1, test.max_games, test.pentanomial) == (1.0, 6.0, 100, [0] * 5)
    assert (round(test.lower, 2), test.llr, round(test.upper, 2)) == (-2.94, 0.0, 2.94)
    row = tournament.show(arena, test.id)
    assert (row.format, row.is_rated, row.priority) == ("sprt", False, service.PRIORITY)
    assert row.settings["opening_lines"] == ["b1b3", "b1h1"]
    assert "CoordinatorWakeup" in ear.heard
    assert service.of_bot(arena, "zeta").items == service.of_author(arena, "ada").items == [test]
    assert service.of_author(arena, "ada").max_open == 2


def test_priority_of_a_test_is_below_those_of_ladders_and_challenges() -> None:
    assert min(remote.TEST_PRIORITY, -10) > service.PRIORITY


def test_games_are_those_that_the_server_allows(arena: Arena, ada: Identity) -> None:
    assert service.begin(arena, asked(), ada).max_games == 4000
    arena.settings = arena.settings.model_copy(update={"version_test_games": 11})
    assert service.begin(arena, asked(), ada).max_games == 10


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"baseline": "zeta v2"}, BadValueError, "against itself"),
        ({"baseline": "zeta v9"}, NotFoundError, "zeta v9"),
        ({"games": 4002}, BadValueError, "at most 4000"),
        ({"games": 3}, SettingsError, "even"),
        ({"elo0": 9.0, "elo1": 9.0}, SettingsError, "less than elo1"),
        ({"time": "60+0.6"}, ChallengeError, "games are short"),
        ({"openings": "nonsense"}, SettingsError, "openings"),
        ({"book": "z9z9"}, SettingsError, "z9z9"),
        ({"family": "tablut"}, SettingsError, "tablut"),
    ],
)
def test_what_cannot_be_tested_is_refused(
    arena: Arena, ada: Identity, changes: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        service.begin(arena, asked(**changes), ada)
    assert service.of_author(arena, "ada").items == []


def test_versions_of_others_and_remote_bots_are_refused(arena: Arena, ada: Identity, person: Person) -> None:
    bob = person("bob", "organiser")
    with pytest.raises(ForbiddenError, match="belongs to another user"):
        service.begin(arena, asked(), bob)
    arena.settings = arena.settings.model_copy(update={"quota_versions": 3})
    far = remote.admit(arena, "far", ["loa"], ada)
    with pytest.raises(BadValueError, match="does not run in the arena"):
        service.begin(arena, asked(baseline=far.name), ada)


def test_open_tests_are_limited_and_end_by_a_stop(arena: Arena, ada: Identity, person: Person) -> None:
    first, second = (service.begin(arena, asked(), ada) for _ in range(2))
    with pytest.raises(QuotaError, match="2 open tests"):
        service.begin(arena, asked(), ada)
    with pytest.raises(ForbiddenError, match="belongs to another user"):
        service.stop(arena, first.id, person("bob"))
    stopped = service.stop(arena, first.id, ada)
    assert (stopped.state, stopped.is_over) == ("cancelled", True)
    with pytest.raises(ConflictError):
        service.stop(arena, first.id, ada)
    assert service.begin(arena, asked(), ada).id > second.id
    assert service.stop(arena, second.id, person("olga", "organiser")).state == "cancelled"
    assert "test.stop" in {line.action for line in arena.store.audit.page().items}


def test_tournament_that_is_no_test_is_not_stopped(arena: Arena, ada: Identity, person: Person) -> None:
    document = {"name": "Open", "family": "loa", "entries": {"bots": ["zeta v1", "zeta v2"]}}
    row = tournament.create(arena, document, person("olga", "organiser"))
    with pytest.raises(BadValueError, match="is not a test"):
        service.stop(arena, row.id, ada)
    assert service.of_bot(arena, "zeta").items == []
