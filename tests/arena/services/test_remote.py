"""Remote bots: admitted by a connection, challenged, separate from uploaded ones."""

from __future__ import annotations

import io

import pytest

from arena.documents.account import Identity
from arena.documents.bot import VersionItem
from arena.errors import ConflictError, ForbiddenError, NotFoundError, QuotaError
from arena.services import Arena, remote, submission
from arena.services.remote import ChallengeError
from arena.store.bots.bots import ConnectedBot
from arena.submission.receive import NotYoursError
from arena.tournaments.entry import resolve
from referee.bot.file import BotFile
from referee.tournament.document import read
from tests.arena.field import Field
from tests.arena.services.conftest import Person
from tests.arena.services.ear import Ear
from tests.arena.submission.packing import SCRIPT


def connected(arena: Arena, by: Identity, name: str, *, is_open: bool = False) -> VersionItem:
    version = remote.admit(arena, name, ["loa"], by)
    arena.store.presences.report({version.id: ConnectedBot(version.id, 1, 4, 80.5, is_open)})
    return version


@pytest.fixture
def samples(arena: Arena) -> None:
    arena.store.samples.ensure({"random": "bots.samples.random_mover"}, {"loa": ["standard"]})


def test_admit_creates_a_bot_and_reuses_it(arena: Arena, person: Person) -> None:
    ada = person("ada")
    version = remote.admit(arena, "far", ["loa"], ada)
    assert (version.name, version.state, version.place, version.sha256) == ("far v1", "active", "remote", "")
    assert remote.admit(arena, "far", ["loa"], ada).id == version.id
    assert arena.store.versions.remote() == {"far v1"}
    other = remote.admit(arena, "far", ["tablut", "loa"], ada)
    assert (other.number, arena.store.versions.remote()) == (2, {"far v2"})


def test_admit_refused_connection_gives_the_reason(arena: Arena, person: Person) -> None:
    ada, bob = person("ada"), person("bob")
    remote.admit(arena, "far", ["loa"], ada)
    with pytest.raises(NotYoursError, match="another user"):
        remote.admit(arena, "far", ["loa"], bob)
    submission.submit(arena, submission.admit(arena, "near", bob), io.BytesIO(SCRIPT), families=["loa"])
    with pytest.raises(ConflictError, match="was uploaded"):
        remote.admit(arena, "near", ["loa"], bob)
    small = Arena(arena.store, arena.settings.model_copy(update={"quota_bots": 1}), arena.bus)
    with pytest.raises(QuotaError, match="the maximum of 1"):
        remote.admit(small, "another", ["loa"], bob)


def test_admit_beyond_the_quota_of_versions_changes_nothing(arena: Arena, person: Person) -> None:
    ada = person("ada")
    full = Arena(arena.store, arena.settings.model_copy(update={"quota_versions": 2}), arena.bus)
    for name in ("far", "near"):
        remote.admit(full, name, ["loa"], ada)
    with pytest.raises(QuotaError, match="you have 2 versions"):
        remote.admit(full, "another", ["loa"], ada)
    with pytest.raises(NotFoundError):
        arena.store.bots.find("another")
    assert remote.admit(full, "far", ["tablut"], ada).name == "far v2"
    less = Arena(arena.store, arena.settings.model_copy(update={"quota_versions": 1}), arena.bus)
    with pytest.raises(QuotaError):
        remote.admit(less, "far", ["loa"], ada)
    assert arena.store.versions.remote() == {"far v2", "near v1"}


def test_presence_of_returns_connection_state(arena: Arena, person: Person) -> None:
    version = connected(arena, person("ada"), "far")
    lines = arena.store.versions.of_bot(version.bot_id)
    presence = remote.presence_of(arena, lines)
    assert presence
    assert (presence.is_connected, presence.games, presence.most_games, presence.latency_ms) == (True, 1, 4, 80.5)
    arena.store.presences.report({})
    left = remote.presence_of(arena, lines)
    assert left
    assert (left.is_connected, left.games) == (False, 0)


@pytest.mark.usefixtures("samples")
def test_author_challenges_a_sample(arena: Arena, person: Person, ear: Ear) -> None:
    ada = person("ada")
    connected(arena, ada, "far")
    row = remote.challenge(arena, "far", "random", ada, family="loa", games=4)
    assert (row.pool, row.is_rated, row.settings["games"]) == ("loa/remote", True, 4)
    assert ear.heard == ["CoordinatorWakeup"]
    with pytest.raises(ChallengeError, match="1 to 10"):
        remote.challenge(arena, "far", "random", ada, family="loa", games=11)
    with pytest.raises(ForbiddenError):
        remote.challenge(arena, "far", "random", person("bob"), family="loa")
    with pytest.raises(NotFoundError):
        remote.challenge(arena, "far", "nobody", ada, family="loa")
    for _ in range(2):
        remote.challenge(arena, "far", "random", ada, family="loa")
    with pytest.raises(QuotaError, match="3 running challenges"):
        remote.challenge(arena, "far", "random", ada, family="loa")


@pytest.mark.usefixtures("samples")
def test_challenge_counts_no_other_tournaments_and_no_ended_challenges(arena: Arena) -> None:
    field = Field(arena.store)
    zoe = Identity(field.user_id, "zoe", "organiser", frozenset())
    wide = Arena(arena.store, arena.settings.model_copy(update={"quota_versions": 60}), arena.bus)
    connected(wide, zoe, "far")
    for _ in range(remote.MAX_OPEN_CHALLENGES):
        field.add_tournament()
    rows = [remote.challenge(arena, "far", "random", zoe, family="loa") for _ in range(remote.MAX_OPEN_CHALLENGES)]
    with pytest.raises(QuotaError):
        remote.challenge(arena, "far", "random", zoe, family="loa")
    arena.store.tournaments.move(rows[0].id, "cancelled")
    remote.challenge(arena, "far", "random", zoe, family="loa")


@pytest.mark.usefixtures("samples")
def test_challenge_requires_an_open_opponent(arena: Arena, person: Person) -> None:
    ada, bob = person("ada"), person("bob")
    remote.admit(arena, "far", ["loa"], ada)
    connected(arena, bob, "shy")
    with pytest.raises(ChallengeError, match="accepts no challenges"):
        remote.challenge(arena, "far", "shy", ada, family="loa")
    connected(arena, bob, "shy", is_open=True)
    assert remote.challenge(arena, "far", "shy", ada, family="loa").is_rated
    remote.admit(arena, "own", ["loa"], ada)
    assert not remote.challenge(arena, "far", "own", ada, family="loa").is_rated
    with pytest.raises(ChallengeError, match="cannot challenge"):
        remote.challenge(arena, "far", "far", ada, family="loa")


@pytest.mark.usefixtures("samples")
@pytest.mark.parametrize(
    ("keys", "may_play"),
    [({}, False), ({"pool": "remote"}, True), ({"allow_remote": True}, True), ({"rated": False}, True)],
)
def test_remote_games_count_in_the_remote_pool(
    arena: Arena, person: Person, keys: dict[str, object], may_play: bool
) -> None:
    remote.admit(arena, "far", ["loa"], person("ada"))
    named = resolve(arena.store, read({"name": "x", "family": "loa", "entries": {"bots": ["far", "random"]}, **keys}))
    assert len(named.entries) == 1 + may_play
    assert ("author's machine" in "".join(named.problems)) is not may_play
    everybody = resolve(arena.store, read({"name": "x", "family": "loa", "entries": {"all": True}, **keys}))
    assert (len(everybody.entries), everybody.refused) == (1 + may_play, ())


@pytest.mark.usefixtures("samples")
def test_author_plays_unrated_test_games_of_an_uploaded_bot(arena: Arena, person: Person) -> None:
    ada, bob = person("ada"), person("bob")
    for owner, name in ((ada, "mine"), (bob, "shy")):
        bot = arena.store.bots.add(name, owner.user_id)
        arena.store.versions.add(
            bot.id, BotFile(("./bot",), families=("loa",)), state="active", variants={"loa": ["standard"]}
        )
    row = remote.challenge(arena, "mine", "random", ada, family="loa", games=10, time="5+0.1")
    assert (row.pool, row.is_rated, row.priority) == ("loa", False, remote.TEST_PRIORITY)
    for long in ("600+5", "2/move", "depth:4"):
        with pytest.raises(ChallengeError, match="test games are short"):
            remote.challenge(arena, "mine", "random", ada, family="loa", time=long)
    with pytest.raises(ChallengeError, match="accepts no challenges"):
        remote.challenge(arena, "mine", "shy", ada, family="loa")
    arena.store.people.allow(arena.store.bots.find("shy").id, True)
    assert not remote.challenge(arena, "mine", "shy", ada, family="loa").is_rated
