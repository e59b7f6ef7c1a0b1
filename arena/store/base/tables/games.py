"""Planned games with their results, the records of finished ones, void attempts, and games of people."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column, Index, UniqueConstraint
from sqlmodel import Field, SQLModel

from arena.documents.game import GameState
from arena.documents.words import Side, Winner
from arena.store.base.fields import blob, created, document, moment, number, word


class Game(SQLModel, table=True):
    """A planned game, and its result once there is one.

    `id` is the content hash of its spec. `sequence` numbers the games of a tournament in planned order. `commit_number`
    numbers the results of all tournaments in the order in which they were committed and rated. `state`: `planned`,
    `queued`, `running`, `finished`, `void` (given up) or `cancelled`. `attempt` counts the dispatches, except those
    taken back before the game started. `lease_owner` is the coordinator that dispatched the game or committed its
    result, `worker` the cluster worker that played it. `is_rated` is copied from the tournament during planning.
    """

    __tablename__ = "games"
    __table_args__ = (
        UniqueConstraint("tournament_id", "sequence"),
        Index("ix_games_family_commit_number", "family", "commit_number"),
        # With variant and winner, so that the results by side are counted in the index alone.
        Index("ix_games_pool_commit_number", "pool", "commit_number", "variant", "winner"),
        # For leaderboards of the past: the last commit number of a pool at a moment.
        Index("ix_games_pool_finished_at", "pool", "finished_at", "commit_number"),
        Index("ix_games_first_commit_number", "first_id", "commit_number"),
        Index("ix_games_second_commit_number", "second_id", "commit_number"),
        Index("ix_games_pairing_commit_number", "first_id", "second_id", "commit_number"),
        Index("ix_games_termination_class_commit_number", "termination_class", "commit_number"),
        Index("ix_games_variant_commit_number", "variant", "commit_number"),
        Index("ix_games_winner_commit_number", "winner", "commit_number"),
        Index("ix_games_finished_at_commit_number", "finished_at", "commit_number"),
        Index("ix_games_tournament_state", "tournament_id", "state", "sequence"),
        Index("ix_games_tournament_commit_number", "tournament_id", "commit_number"),
        Index("ix_games_state_lease_owner", "state", "lease_owner"),
    )
    id: str = Field(primary_key=True, max_length=32)
    tournament_id: int = Field(foreign_key="tournaments.id")
    sequence: int
    round: int
    pair: int
    family: str = Field(max_length=32)
    pool: str = Field(max_length=200)
    variant: str = Field(max_length=120)
    first_id: int = Field(foreign_key="versions.id")
    second_id: int = Field(foreign_key="versions.id")
    first: str = Field(max_length=60)
    second: str = Field(max_length=60)
    spec: dict[str, Any] = document(dict)
    is_rated: bool = True
    meeting: int = 0
    """Which rated game of its two owners on that day it is, if one of them chose the opponent; else 0."""
    anchor: Side | None = word(8, nullable=True)
    """The side of the arena's own bot in such a game."""
    state: GameState = word(16, "planned")
    attempt: int = 0
    lease_owner: str = Field(default="", max_length=120)
    worker: str = Field(default="", max_length=120)
    started_at: datetime | None = moment(nullable=True)
    finished_at: datetime | None = moment(nullable=True)
    commit_number: int | None = Field(default=None, unique=True)
    winner: Winner | None = word(8, nullable=True)
    termination: str | None = Field(default=None, max_length=32)
    termination_class: str | None = Field(default=None, max_length=16)
    detail: str = ""
    plies: int = 0


class Record(SQLModel, table=True):
    """The whole `GameRecord` of a finished game as compressed JSON, separate from `games` to keep lists fast."""

    __tablename__ = "records"
    game_id: str = Field(primary_key=True, foreign_key="games.id", max_length=32)
    data: bytes = blob()


class StoredHumanGame(SQLModel, table=True):
    """A game of a person, identified by an account (`user_id`) or by a cookie with the digest `guest`.

    `plies` are the moves so far, each as `[move, ply]`, so that the game can resume after a crash of the referee.
    `asked` is the person's action that the referee has not processed yet. `seen_at` is when the person's page
    last contacted the server; `is_streamed` is true once the page has followed the game's stream.
    """

    __tablename__ = "human_games"
    game_id: str = Field(primary_key=True, foreign_key="games.id", max_length=32)
    user_id: int | None = Field(default=None, foreign_key="users.id", index=True)
    guest: str = Field(default="", max_length=64, index=True)
    address: str = Field(max_length=64, index=True)
    side: Side = word(8)
    plies: list[Any] = document(list)
    asked: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON, nullable=True))
    created_at: datetime = created()
    seen_at: datetime = created()
    is_streamed: bool = False


class Void(SQLModel, table=True):
    """A void attempt at a game: it failed through no fault of a bot and was repeated or given up."""

    __tablename__ = "voids"
    id: int = number()
    game_id: str = Field(foreign_key="games.id", index=True, max_length=32)
    attempt: int
    termination: str = Field(max_length=32)
    detail: str = ""
    lease_owner: str = ""
    voided_at: datetime = created(index=True)
