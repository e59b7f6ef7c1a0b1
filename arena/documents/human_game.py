"""Games of people against bots."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from datetime import datetime
from typing import Any, Literal

from arena.documents import words
from arena.documents.family import OutcomeResponse
from arena.documents.game import OVER, GameState
from arena.documents.query import Query, described
from arena.documents.words import Side
from referee.meaning import HIDDEN, meaning


@dataclass(frozen=True, slots=True)
class HumanGame:
    """A game of a person, who has an account (`user_id`) or a cookie with the digest `guest`.

    `plies` are lists of a move and its data (times, score and so on), `asked` is the person's action that the referee
    has not processed yet, `seen_at` is when their page last contacted the server.
    """

    id: str
    state: GameState
    attempt: int
    is_rated: bool
    user_id: int | None
    guest: str
    side: Side
    plies: Sequence[Any]
    asked: Mapping[str, Any] | None
    created_at: datetime
    seen_at: datetime

    @property
    def is_over(self) -> bool:
        """True once the game has ended."""
        return self.state in OVER


OpenState = Literal["planned", "queued", "running"]
STRENGTHS = ((10.0, "beginner"), (18.0, "club player"), (25.0, "strong"), (math.inf, "expert"))
"""Words for ratings below these bounds."""
NOT_RATED = "not rated yet"
LEVELS = (
    "first steps",
    "beginner",
    "learner",
    "casual player",
    "club player",
    "strong player",
    "expert",
    "master",
)
"""Words for the levels of the champion, from 1."""


@dataclass(frozen=True, slots=True)
class ResultsAgainst:
    """The results of a person against one version in a family."""

    family: str
    opponent: str
    won: int
    drawn: int
    lost: int


@dataclass(frozen=True, slots=True)
class OpponentItem:
    """A bot that people may play, and the version they play against. `rating` is its mu - 3 sigma among bots; null
    before its first rated game. `level` is set for the champion at that level, 1 to 8.
    """

    bot: str
    version: str = field(metadata=meaning("full name, such as `zeta v3`"))
    version_id: int = field(metadata=HIDDEN)
    rating: float | None = None
    level: int | None = None
    is_established: bool = field(default=False, metadata=HIDDEN)
    """Whether games against it change the ratings of people."""
    results: Sequence[int] = field(default=(), metadata=HIDDEN)
    """The visitor's games against it: won, drawn, lost. Empty if there are none."""

    @property
    def strength(self) -> str:
        """The level or the rating in words, such as `club player`."""
        if self.level is not None:
            return LEVELS[self.level - 1]
        if self.rating is None:
            return NOT_RATED
        return next(word for bound, word in STRENGTHS if self.rating < bound)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayRequest(Query):
    """A game to start. `side` is random by default. `time` is your clock, such as `600+5`, or `none`; the bot has a
    second per move.

    `variant` is by default the family's first one.
    """

    family: str = described("a family", words.FAMILY, default=MISSING)
    bot: str = described("a bot that plays people", words.NAME, default=MISSING)
    variant: str | None = described("a variant", words.VARIANT)
    side: Side | None = described("your side; `first` moves first; null: random")
    time: str = described("your clock", {"max_length": 40}, default="none")
    is_rated: bool = described("rate the game; ignored without an account", default=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRequest(Query):
    """A decision. `do` is `move` (any spelling, with or without a `draw` offer), `draw` (accept the bot's offer),
    `resign`, or `back` (take back your last move).

    `ply` is the number of plies you have seen: a decision about another position is refused.
    """

    do: Literal["move", "draw", "resign", "back"] = described(
        "`draw`: accept the bot's offer; `back`: take back your last move", default="move"
    )
    move: str = described("a move in any notation", {"max_length": 100}, default="")
    ply: int | None = described("the number of plies you have seen", {"ge": 0, "le": 100_000})
    draw: bool = described("with a `move`: offer a draw too", default=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenGameItem:
    """A game of yours that is not over."""

    id: str
    state: OpenState
    side: Side = field(metadata=meaning("your side"))
    plies: int = field(metadata=meaning("plies played so far"))
    is_rated: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class DrawOfferResponse:
    """A draw offer: `offered` by the bot with its last move, or your offer, which is `waiting` or was `declined`, with
    the reason `why`.
    """

    state: Literal["offered", "waiting", "declined"]
    why: str = field(default="", metadata=meaning("in words; empty unless `declined`"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayResponse:
    """A game from its player's view. `ahead` counts the games queued before it. `moves` lead from `start` to
    `position`. `time` is the player's clock.

    `pending` is the player's move that was stored but not played yet; `outcome` is the result once the game is over.
    """

    id: str
    family: str
    variant: str
    first: str = field(metadata=meaning("name of the player who moves first"))
    second: str = field(metadata=meaning("name of the other player"))
    side: Side = field(metadata=meaning("your side"))
    state: GameState
    ahead: int = field(metadata=meaning("0 once the game has left `planned`"))
    is_rated: bool
    start: str
    moves: Sequence[str] = field(metadata=meaning("all moves from `start`, of both sides"))
    position: str
    to_move: Side | None = field(metadata=meaning("null: the game is over"))
    time: str = field(metadata=meaning("in seconds: `600+5` is ten minutes and an increment of five; `none`: no clock"))
    pending: str = field(metadata=meaning("empty: none"))
    draw: DrawOfferResponse | None = field(metadata=meaning("null: no offer"))
    outcome: OutcomeResponse | None = field(metadata=meaning("null: not over, or over without a result"))

    @property
    def is_over(self) -> bool:
        """True once the game has ended."""
        return self.state in OVER
