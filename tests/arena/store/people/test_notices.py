"""Notices for authors: checks, faults and ended tournaments of their own bots; unread ones."""

from __future__ import annotations

from datetime import timedelta

from arena.clock import now
from arena.store import Store
from referee.bot.file import BotFile
from referee.rules.core import Termination
from tests.arena.field import Field, record_of


def test_author_gets_notices_about_own_bots(sqlite_store: Store) -> None:
    field = Field(sqlite_store)
    stranger = sqlite_store.users.add("yan")
    assert stranger.id is not None
    games = field.plan(3)
    sqlite_store.results.commit(record_of(games[0], winner="first", termination=Termination.STALLED))
    sqlite_store.results.commit(record_of(games[1], winner="second", termination=Termination.RESIGNED))
    sqlite_store.results.commit(record_of(games[2], winner="draw", termination=Termination.REPETITION))
    bot = sqlite_store.bots.add("eve", field.user_id)
    version = sqlite_store.versions.add(bot.id or 0, BotFile(("./bot",), families=("loa",)), bundle="ab" * 32)
    sqlite_store.checks.claim()
    sqlite_store.checks.conclude(
        version.id or 0, report={}, variants={"loa": []}, capabilities={}, problem="no answer to ugi"
    )
    sqlite_store.tournaments.move(field.tournament_id, "finished")

    notices = sqlite_store.notices.of(field.user_id)
    assert sorted((notice.kind, notice.name, notice.what) for notice in notices) == [
        ("check", "eve v1", "failed"),
        ("fault", games[0].spec.second.name, "stalled"),
        ("tournament", "cup", "finished"),
    ]
    assert next(notice.detail for notice in notices if notice.kind == "check") == "no answer to ugi"
    assert [notice.at for notice in notices] == sorted((notice.at for notice in notices), reverse=True)
    assert sqlite_store.notices.of(stranger.id) == []


def test_read_notices_are_not_new(sqlite_store: Store) -> None:
    field = Field(sqlite_store)
    sqlite_store.tournaments.move(field.tournament_id, "finished")
    assert sqlite_store.notices.read_until(field.user_id) is None
    sqlite_store.notices.mark_read(field.user_id)
    read = sqlite_store.notices.read_until(field.user_id)
    assert read is not None
    assert sqlite_store.notices.of(field.user_id, read) == []
    assert sqlite_store.notices.of(field.user_id, now() - timedelta(hours=1)) != []
