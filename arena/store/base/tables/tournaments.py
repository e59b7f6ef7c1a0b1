"""Tournaments with their entries, and the schedules that create them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column, Index, UniqueConstraint
from sqlmodel import Field, SQLModel

from arena.documents.schedule import CatchUp
from arena.documents.tournament import TournamentState
from arena.store.base.fields import created, document, moment, number, word


class Schedule(SQLModel, table=True):
    """A recurring tournament: a cron expression in a time zone, and the template of its tournaments.

    `catch_up` is the reaction to fire times missed during downtime: `skip` (none), `once` (one run for all) or `all`.
    """

    __tablename__ = "schedules"
    id: int = number()
    name: str = Field(unique=True, max_length=80)
    cron: str = Field(max_length=80)
    timezone: str = Field(default="UTC", max_length=64)
    catch_up: CatchUp = word(8, "once")
    template: dict[str, Any] = document(dict)
    is_enabled: bool = True
    next_fire: datetime | None = moment(nullable=True, index=True)
    created_by: int = Field(foreign_key="users.id", index=True)
    created_at: datetime = created()


class Tournament(SQLModel, table=True):
    """A tournament. `settings` is the whole document it was created from.

    `state`: `scheduled`, `running`, `paused`, `draining` (running games finish, then paused), `finished`, `cancelled`;
    `open` for the games that people start at any time.
    """

    __tablename__ = "tournaments"
    __table_args__ = (
        UniqueConstraint("schedule_id", "fire_time"),
        Index("ix_tournaments_start_time", "start_time", "id"),
        Index("ix_tournaments_family_start_time", "family", "start_time", "id"),
        Index("ix_tournaments_state_start_time", "state", "start_time", "id"),
    )
    id: int = number()
    name: str = Field(max_length=120)
    family: str = Field(max_length=32)
    variant: str = Field(max_length=120)
    options: dict[str, Any] = document(dict)
    format: str = Field(max_length=16)
    settings: dict[str, Any] = document(dict)
    pool: str = Field(max_length=200, index=True)
    is_rated: bool = True
    is_challenge: bool = False
    """True if a player chose the opponent: the rules of `fold` against farmed ratings apply to its games."""
    state: TournamentState = word(16, "scheduled")
    problem: str = ""
    start_time: datetime = moment()
    started_at: datetime | None = moment(nullable=True)
    finished_at: datetime | None = moment(nullable=True, index=True)
    planned_games: int = 0
    """Number of games that are over or still to be played: all but the cancelled ones."""
    later_games: int = 0
    """Number of planned games that have no row yet, as a plan known in advance is stored in windows."""
    finished_games: int = 0
    """Number of games that are over: those with a result and those given up."""
    findings: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True), nullable=True))
    """Statistical findings after the end; empty with too few results, None before the end."""
    schedule_id: int | None = Field(default=None, foreign_key="schedules.id", index=True)
    fire_time: datetime | None = moment(nullable=True)
    created_by: int = Field(foreign_key="users.id", index=True)
    created_at: datetime = created()

    @property
    def priority(self) -> int:
        """Priority of this tournament's games over those of other tournaments; stored in the settings."""
        return int(self.settings.get("priority", 0))


class Entry(SQLModel, table=True):
    """A version entered in a tournament. `seat` is its place among the entries, `eligibility` says why it may play.

    `suspended` is the reason if the coordinator has withdrawn the version.
    """

    __tablename__ = "entries"
    __table_args__ = (UniqueConstraint("tournament_id", "version_id"), UniqueConstraint("tournament_id", "seat"))
    id: int = number()
    tournament_id: int = Field(foreign_key="tournaments.id")
    version_id: int = Field(foreign_key="versions.id", index=True)
    seat: int
    eligibility: str = ""
    withdrawn: datetime | None = moment(nullable=True)
    suspended: str = ""
