"""Games of people against bots."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from arena.api.schemas.family import OutcomeResponse
from arena.api.schemas.word import BotName, FamilyName, In, Out, Side, VariantName


class OpponentItem(Out):
    """A bot that people may play, and the version they play against."""

    bot: str
    version: str


class PlayRequest(In):
    """A game to start. `side` is random by default. `time` is your clock, `none` or such as `600+5`; the bot has a
    second per move.

    `variant` is by default the family's first one.
    """

    family: FamilyName
    bot: BotName
    variant: VariantName | None = None
    side: Side | None = None
    time: Annotated[str, Field(max_length=40)] = "none"
    is_rated: bool = True


class OpenGameItem(Out):
    """A game of yours that is not over."""

    id: str
    state: Literal["planned", "queued", "running"]
    side: Side
    plies: int
    is_rated: bool
    created_at: datetime


class DrawOfferResponse(Out):
    """A draw offer: `offered` by the bot with its last move, or your offer, which is `waiting` or was `declined`, with
    the reason `why`.
    """

    state: Literal["offered", "waiting", "declined"]
    why: str


class PlayResponse(Out):
    """A game from its player's view. `ahead` counts the games queued before it. `moves` lead from `start` to
    `position`.

    `outcome` is the result once the game is over.
    """

    id: str
    family: str
    variant: str
    first: str
    second: str
    side: Side
    state: Literal["planned", "queued", "running", "finished", "void", "cancelled"]
    ahead: int
    is_rated: bool
    start: str
    moves: list[str]
    position: str
    to_move: Side | None
    draw: DrawOfferResponse | None
    outcome: OutcomeResponse | None


class DecisionRequest(In):
    """A decision: `move` (any spelling, with a `draw` offer or without), accept the bot's `draw`, `resign`, or take
    `back` your last move.

    `ply` is the number of plies you have seen: a decision about another position is refused.
    """

    do: Literal["move", "draw", "resign", "back"] = "move"
    move: Annotated[str, Field(max_length=100)] = ""
    ply: Annotated[int, Field(ge=0, le=100_000)] | None = None
    draw: bool = False
