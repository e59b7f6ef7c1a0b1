"""Games of people: what begins one, how it stands for the person who plays it, and what they decide."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from arena.api.schemas.family import OutcomeResponse
from arena.api.schemas.word import BotName, FamilyName, In, Out, Side, VariantName


class OpponentItem(Out):
    """A bot that people play: its name, and the version it plays with."""

    bot: str
    version: str


class PlayRequest(In):
    """The game to begin. `side` is drawn by lot without one; `time` is the person's, `none` or as `600+5`: the bot has
    a second a move. Without a `variant` it is the family's first.
    """

    family: FamilyName
    bot: BotName
    variant: VariantName | None = None
    side: Side | None = None
    time: Annotated[str, Field(max_length=40)] = "none"
    is_rated: bool = True


class OpenGameItem(Out):
    """A game of one's own that is not over."""

    id: str
    state: Literal["planned", "queued", "running"]
    side: Side
    plies: int
    is_rated: bool
    created_at: datetime


class DrawOfferResponse(Out):
    """A draw: the bot has `offered` one with its last move, or one's own offer is `waiting` for the bot's answer or was
    `declined`, and `why`.
    """

    state: Literal["offered", "waiting", "declined"]
    why: str


class PlayResponse(Out):
    """A game as its person sees it. `ahead` are the games that get a slot before it; `moves` lead from `start` to
    `position`, where `to_move` is asked. `outcome` is how it ended.
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
    """`move` in any spelling, with a `draw` offered or not; to take the `draw` that the bot offers; to `resign`; or to
    take one's last move `back`.

    `ply` is how many were played as one saw the board: a move for another position is refused.
    """

    do: Literal["move", "draw", "resign", "back"] = "move"
    move: Annotated[str, Field(max_length=100)] = ""
    ply: Annotated[int, Field(ge=0, le=100_000)] | None = None
    draw: bool = False
