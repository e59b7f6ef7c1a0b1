"""Games of two owners, one of whom chose the opponent: numbered, limited by day, rated alike by commit and rebuild."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arena.documents.game import GameItem
from arena.store import Store
from arena.store.base.tables.bots import Version
from arena.store.base.tables.tournaments import Tournament
from arena.store.bots.versions import bot_spec
from arena.store.tournaments.meetings import MAX_MEETINGS
from referee.bot.file import BotFile
from referee.game.spec import PlannedGame
from tests.arena.field import START, Field, record_of


class Challenges:
    """Challenges between two remote bots of different owners, and against a sample bot that has a ladder rating."""

    def __init__(self, field: Field) -> None:
        self.field, self.store = field, field.store
        self.mine, self.other = self.bot("ann"), self.bot("ben")
        self.again = self.bot("ann", "second")
        samples = self.store.samples.ensure({"random": "bots.samples.random_mover"}, {"loa": ["standard"]})
        self.sample = samples["random"]
        self.sequence = 0

    def bot(self, owner: str, name: str = "") -> Version:
        if not (known := [user for user in self.store.users.page(limit=100).items if user.name == owner]):
            user_id = self.store.users.add(owner).id
        else:
            user_id = known[0].id
        bot = self.store.bots.add(name or f"{owner}bot", user_id or 0)
        return self.store.versions.add(
            bot.id,
            BotFile(("remote",), families=("loa",)),
            state="active",
            place="remote",
            variants={"loa": ["standard"]},
        )

    def plan(self, first: Version, second: Version, count: int, pool: str = "remote") -> list[PlannedGame]:
        row = Tournament(
            name="match",
            family="loa",
            variant="standard",
            format="round-robin",
            pool="loa" if pool == "bots" else f"loa/{pool}",
            settings={"pool": pool},
            is_challenge=pool != "bots",
            start_time=START,
            created_by=self.field.user_id,
        )
        tournament = self.store.tournaments.add(row, [(first.id or 0, "fit"), (second.id or 0, "fit")])
        self.store.tournaments.move(tournament.id or 0, "running")
        base = self.field.games(1, seed=tournament.id or 0)[0].spec
        sides = {"first": bot_spec(first, "loa"), "second": bot_spec(second, "loa")}
        games = [PlannedGame.of(replace(base, sequence=number, pair=number, **sides)) for number in range(1, count + 1)]
        versions = {version.name: version.id or 0 for version in (first, second)}
        self.store.queue.plan(tournament.id or 0, games, versions)
        return games

    def play(self, first: Version, second: Version, count: int, pool: str = "remote") -> list[GameItem]:
        games = self.plan(first, second, count, pool)
        for number, game in enumerate(games):
            winner = "first" if number % 2 else "second"
            assert self.store.results.commit(record_of(game, winner=winner)) is not None
        return [self.store.games.get(game.id) for game in games]

    def meetings(self, games: list[PlannedGame]) -> list[tuple[int, bool]]:
        lines = [self.store.games.get(game.id) for game in games]
        return [(line.meeting, line.is_rated) for line in lines]


@pytest.fixture
def challenges(field: Field) -> Challenges:
    return Challenges(field)


def test_meetings_are_numbered_by_owners_and_limited(challenges: Challenges) -> None:
    mine, other, again = challenges.mine, challenges.other, challenges.again
    assert challenges.meetings(challenges.plan(mine, other, 4)) == [(number, True) for number in range(1, 5)]
    assert challenges.meetings(challenges.plan(other, again, 2)) == [(5, True), (6, True)], "the same two owners"
    last = challenges.meetings(challenges.plan(mine, other, 6))
    assert last == [(number, number <= MAX_MEETINGS) for number in range(7, 13)]
    assert challenges.meetings(challenges.plan(mine, challenges.sample, 1)) == [(1, True)], "another opponent"
    assert challenges.meetings(challenges.plan(mine, other, 1, "people")) == [(1, True)], "another pool"


def test_bots_of_one_owner_are_not_rated(challenges: Challenges) -> None:
    assert challenges.meetings(challenges.plan(challenges.mine, challenges.again, 2)) == [(1, False), (2, False)]


def test_games_chosen_by_the_arena_have_no_number(challenges: Challenges) -> None:
    assert challenges.meetings(challenges.plan(challenges.mine, challenges.other, 2, "bots")) == [(0, True)] * 2


def test_yesterdays_games_do_not_count(challenges: Challenges) -> None:
    challenges.play(challenges.mine, challenges.other, 3)  # records of the past
    assert challenges.meetings(challenges.plan(challenges.mine, challenges.other, 1)) == [(1, True)]


def test_newcomer_is_rated_by_an_anchor_and_rebuild_agrees(challenges: Challenges) -> None:
    store, mine, sample = challenges.store, challenges.mine, challenges.sample
    challenges.play(mine, sample, 1)
    assert changed(store) == [], "the sample has no rating yet"
    rival = challenges.field.versions[0]
    challenges.play(sample, rival, 30, "bots")
    challenges.play(mine, sample, 3)
    assert {version for _, version in changed(store)} == {mine.id}
    challenges.play(mine, challenges.other, 1)
    assert [version for _, version in changed(store)] == [mine.id] * 3
    before = store.ratings.leaderboard("loa/remote").items
    assert store.ratings.check() == []
    assert store.ratings.rebuild() == 33
    assert store.ratings.leaderboard("loa/remote").items == before


def changed(store: Store) -> list[tuple[str, int]]:
    """Return pool and version of the changes in the pool of remote bots."""
    pages = [store.ratings.changes(version.id, "loa/remote") for version in store.versions.active("loa")]
    versions = [version.id for version in store.versions.active("loa")]
    return [("loa/remote", number) for number, page in zip(versions, pages, strict=True) for _ in page.items]
