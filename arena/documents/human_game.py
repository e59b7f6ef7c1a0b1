"""Games of people against bots."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass
from datetime import datetime
from typing import Any, Literal

from arena.documents import words
from arena.documents.family import OutcomeResponse
from arena.documents.game import OVER, GameState
from arena.documents.query import Query, described, hidden
from arena.documents.words import Side


@dataclass(frozen=True, slots=True)
class HumanGame:
    """A game of a person, who has an account (`user_id`) or a cookie with the digest `guest`.

    `plies` are lists of a move and its figures, `asked` is the person's action that the referee has not processed yet,
    `seen_at` their last contact.
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


STRENGTHS = ((10.0, "beginner"), (18.0, "club player"), (25.0, "strong"), (math.inf, "expert"))
"""Words for ratings below these bounds."""
NOT_RATED = "not rated yet"


@dataclass(frozen=True, slots=True)
class OpponentItem:
    """A bot that people may play, and the version they play against. `rating` is its mu - 3 sigma among bots; null
    before its first rated game.
    """

    bot: str
    version: str
    version_id: int = hidden()
    rating: float | None = None

    @property
    def strength(self) -> str:
        """The rating in words, such as `club player`."""
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
    side: Side | None = None
    time: str = described("your clock", {"max_length": 40}, default="none")
    is_rated: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRequest(Query):
    """A decision. `do` is `move` (any spelling, with or without a `draw` offer), `draw` (accept the bot's offer),
    `resign`, or `back` (take back your last move).

    `ply` is the number of plies you have seen: a decision about another position is refused.
    """

    do: Literal["move", "draw", "resign", "back"] = "move"
    move: str = described("a move in any notation", {"max_length": 100}, default="")
    ply: int | None = described("the number of plies you have seen", {"ge": 0, "le": 100_000})
    draw: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenGameItem:
    """A game of yours that is not over."""

    id: str
    state: Literal["planned", "queued", "running"]
    side: Side
    plies: int
    is_rated: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class DrawOfferResponse:
    """A draw offer: `offered` by the bot with its last move, or your offer, which is `waiting` or was `declined`, with
    the reason `why`.
    """

    state: Literal["offered", "waiting", "declined"]
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayResponse:
    """A game from its player's view. `ahead` counts the games queued before it. `moves` lead from `start` to
    `position`. `time` is the player's clock.

    `pending` is the player's move that was stored but not played yet; `outcome` is the result once the game is over.
    """

    id: str
    family: str
    variant: str
    first: str
    second: str
    side: Side
    state: GameState
    ahead: int
    is_rated: bool
    start: str
    moves: Sequence[str]
    position: str
    to_move: Side | None
    time: str
    pending: str
    draw: DrawOfferResponse | None
    outcome: OutcomeResponse | None

    @property
    def is_over(self) -> bool:
        """True once the game has ended."""
        return self.state in OVER
