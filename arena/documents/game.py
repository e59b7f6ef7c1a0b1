"""Games played here: items of lists, details, logs, and the query of games."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from arena.documents import words
from arena.documents.analysis import AnalysedGamesQuery
from arena.documents.query import Query, described
from arena.documents.words import Moment, Side, Winner
from referee.meaning import HIDDEN, meaning

GameState = Literal["planned", "queued", "running", "finished", "void", "cancelled"]
OVER = ("finished", "void", "cancelled")
"""Final states of a game."""
EARLY_PLIES = 10
"""A resignation before this ply is early: it may be a rating given away."""


@dataclass(frozen=True, slots=True)
class GameItem:
    """A game in a list. `termination_class` is `rules`, `adjudication`, `forfeit` or `void`. `commit_number` orders all
    results.
    """

    id: str = field(metadata=meaning("digest of the spec of the game: hexadecimal digits"))
    tournament_id: int
    sequence: int = field(metadata=meaning("number of the game in the plan of its tournament, from 1"))
    round: int = field(metadata=meaning("number of the round, from 1"))
    pair: int = field(
        metadata=meaning("number of its pair of games (one opening, sides swapped) in the tournament, from 1")
    )
    family: str
    pool: str
    variant: str
    first: str = field(
        metadata=meaning("full name of the version that moves first, such as `zeta v3`; a person: `@ada` or `guest`")
    )
    second: str = field(metadata=meaning("full name of the other version or person"))
    is_rated: bool
    meeting: int = field(
        metadata=meaning(
            "which rated game of the two owners on that day it is, if one of them chose the opponent: it counts "
            "1/`meeting`; 0: the arena chose"
        )
    )
    anchor: Side | None = field(
        metadata=meaning("the side of the arena's own bot in a game whose opponent a player chose; null: none")
    )
    state: GameState = field(
        metadata=meaning(
            "`planned`: not handed out yet; `queued`: handed out, not started; `void`: given up without a result"
        )
    )
    attempt: int = field(metadata=meaning("number of the present or last attempt, from 1; 0: none yet"))
    started_at: datetime | None = field(metadata=meaning("start of the present or last attempt; null: none yet"))
    finished_at: datetime | None = field(metadata=meaning("null: not over, or cancelled"))
    commit_number: int | None = field(
        metadata=meaning(
            "number of the result among those of all tournaments, in the order of ratings; null: no result"
        )
    )
    winner: Winner | None = field(metadata=meaning("null: no result"))
    termination: str | None = field(metadata=meaning("null: not over, or cancelled"))
    termination_class: str | None = field(metadata=meaning("null: not over, or cancelled"))
    detail: str = field(metadata=meaning("details of the termination in words, may be empty"))
    plies: int = field(metadata=meaning("0 until the game is over"))
    first_id: int = field(metadata=HIDDEN)
    second_id: int = field(metadata=HIDDEN)
    lease_owner: str = field(metadata=HIDDEN)

    @property
    def is_over(self) -> bool:
        """True in a final state."""
        return self.state in OVER


Unrated = Literal["", "unrated", "same-owner", "daily-limit", "no-established-rating", "others-share"]
"""Why a game changes a rating of its players not at all; empty for a game that changes both, or is not over."""


@dataclass(frozen=True, slots=True)
class RatingStep:
    """A rating before and after one game."""

    name: str = field(metadata=meaning("full name of the version"))
    mu_before: float
    sigma_before: float
    mu: float = field(metadata=meaning("after the game"))
    sigma: float = field(metadata=meaning("after the game"))


@dataclass(frozen=True, slots=True, kw_only=True)
class GameResponse(GameItem):
    """A game with its spec and, once it is over, its record. The bots' standard error is left out."""

    spec: dict[str, Any] = field(
        metadata=meaning("what is to be played: players, rules, start, opening, time control and limits")
    )
    record: dict[str, Any] | None = field(metadata=meaning("null until the game is over"))
    ratings: list[RatingStep] = field(metadata=meaning("one for each changed rating; empty: unrated, or no result"))
    unrated: Unrated = field(
        metadata=meaning(
            "why it leaves a rating unchanged; empty: it changes both, or is not over; `unrated`: of its tournament, "
            "by wish, or because a move was taken back; `same-owner`: both are of one owner; `daily-limit`: the owners "
            "have played their rated games of the day; `no-established-rating`: an opponent whom a player chose must "
            "have one; `others-share`: games against bots of other owners count at most a quarter as much as those "
            "against the arena's bots"
        )
    )


@dataclass(frozen=True, slots=True)
class LogResponse:
    """The tail of a bot's standard error in a game."""

    game_id: str
    side: Side
    name: str = field(metadata=meaning("full name of the version"))
    log: str = field(metadata=meaning("may be empty"))


@dataclass(frozen=True, slots=True, kw_only=True)
class GameQuery(AnalysedGamesQuery):
    """Filters of games; times are UTC. Filters by analysis, and a `sort` by its figures, leave out unanalysed
    games.
    """

    tournament: int | None = described("games of a tournament", words.ID, metavar="ID")
    family: str | None = described("games of a family", words.FAMILY, label="Family")
    variant: str | None = described("games of a variant", words.VARIANT, label="Variant")
    pool: str | None = described("games of one rating pool", words.POOL)
    bot: str | None = described("games of a bot, on either side", words.NAME, label="Bot")
    winner: Winner | None = described(
        "the winner", label="Won by", choices={"first": "first side", "second": "second side"}
    )
    termination_class: Literal["rules", "adjudication", "forfeit"] | None = described(
        "how the game ended", label="Ended by", choices={"forfeit": "forfeit or resignation"}
    )
    errors: bool = described(
        "only errors of bots: forfeits that are neither resignations nor losses of people", default=False
    )
    early: bool = described("only early resignations: before the tenth ply", default=False)
    since: Moment | None = described("the earliest end of the game", label="From")
    until: Moment | None = described("the end of the game is before this time", label="To")
    sort: Literal["latest", "blunders", "accuracy", "first_accuracy", "second_accuracy", "turning_points"] = described(
        "the order: latest results first, or by a figure of the analysis", default="latest"
    )
    order: Literal["falling", "rising"] = described("the direction of the order", default="falling")


ALL_GAMES = GameQuery()


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamQuery(Query):
    """The point to resume from: after the event with this `seq`."""

    after: int | None = described("the `seq` of the last event received", {"ge": 0, "le": 10**15})


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordQuery(Query):
    """The notation in which to write the record, one of those that `arena rules list --json` lists for its family."""

    notation: str | None = described("a notation of the family", words.NOTATION)
