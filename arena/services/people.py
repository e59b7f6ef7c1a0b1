"""Games of people against bots: who plays, the bots to choose from, and starting a game."""

from __future__ import annotations

import math
import random
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from arena.credentials import digest_of, new_secret
from arena.documents.account import Identity
from arena.documents.human_game import HumanGame, OpponentItem, PlayRequest
from arena.documents.tournament import GAMES_OF_PEOPLE
from arena.errors import BadValueError, QuotaError
from arena.events.messages import HumanActed
from arena.services import study
from arena.services.arena import Arena
from arena.store.base.tables.games import StoredHumanGame
from arena.store.bots.bots import OWNER
from arena.store.bots.versions import bot_spec
from referee.game.spec import NO_CLOCK, BotLimits, BotSpec, GameSpec, TimeControl, read_time_control
from referee.ratings.trueskill import pool_of
from referee.rules import families
from referee.rules.core import SIDES, ParseError
from referee.rules.rules import Ruleset

TIME_CONTROLS: Mapping[str, str] = {
    "none": "no clock",
    "180+2": "3 min + 2 s",
    "600+5": "10 min + 5 s",
    "1800+20": "30 min + 20 s",
}
"""Time controls offered to people. The bot always has `BOT_TIME`, so that these games take little from rated ones."""
BOT_TIME = TimeControl("movetime", 1000, 0)
_MAX_WAITING_PER_SLOT = 8
"""Maximum number of waiting games per slot."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """The caller: an identity, or the secret of a browser's cookie; and the IP address."""

    user: Identity | None
    cookie: str
    address: str

    @classmethod
    def new(cls, address: str) -> Visitor:
        """Create a visitor without an account, with a new secret."""
        return cls(None, new_secret(), address)

    @property
    def guest(self) -> str:
        """The key that stored games have for a player without an account."""
        return "" if self.user else digest_of(self.cookie)

    def plays(self, game: HumanGame) -> bool:
        if self.user is not None:
            return game.user_id == self.user.user_id
        return bool(self.cookie) and game.guest == self.guest

    @property
    def owner_filter(self) -> dict[str, Any]:
        """The filter for this visitor's games in the store."""
        return {"user_id": self.user.user_id} if self.user else {"guest": self.guest}


def opponents(arena: Arena, family: str, by: Visitor | None = None) -> list[OpponentItem]:
    """Return the bots that people may play against, with their ratings and the visitor's results against them: the
    levels of the champion, then the weakest first, those without a rating last.
    """
    bots = arena.store.people.opponents(family, by.owner_filter if by and (by.user or by.cookie) else None)
    ratings = arena.store.ratings.strengths(family, [bot.version_id for bot in bots])
    rated = (
        replace(
            bot,
            rating=round(rating.conservative, 1) if (rating := ratings.get(bot.version_id)) else None,
            is_established=rating is not None and not rating.is_provisional,
        )
        for bot in bots
    )
    return sorted(rated, key=lambda bot: (bot.level or math.inf, math.inf if bot.rating is None else bot.rating))


def families_of(arena: Arena, bot: str) -> list[str]:
    """Return the families in which people may play against a bot."""
    known = arena.store.people.families_of(bot)
    return [name for name in families() if name in known]


def _opponent(arena: Arena, family: str, bot: str) -> int:
    """Return the id of the bot's version that people play in a family. Raises BadValueError that lists the choices."""
    versions = {opponent.bot: opponent.version_id for opponent in opponents(arena, family)}
    if bot not in versions:
        hint = f"choose from {', '.join(list(versions)[:20])}" if versions else "no bot plays people in this family"
        raise BadValueError(f"{bot[:60]} does not play people in {family}", field="bot", hint=hint)
    return versions[bot]


def begin(arena: Arena, request: PlayRequest, by: Visitor) -> str:
    """Start a game and return its id; it is played as soon as a slot is free. Raises BadValueError, QuotaError."""
    store = arena.store
    version = _opponent(arena, request.family, request.bot)
    ruleset = study.settle(request.family, request.variant or "", "")
    rules = ruleset.rules
    _require_room(arena, by)
    side = random.choice(SIDES) if request.side is None else request.side
    person = store.people.version(by.user.user_id if by.user else None)
    bot = store.versions.get(version)
    seat = BotSpec(person.name, (), place="person", time=_time(request.time))
    machine = bot_spec(bot, rules.family)
    first, second = (seat, machine) if side == "first" else (machine, seat)
    title = f"{GAMES_OF_PEOPLE}{rules.title}"
    spec = GameSpec(
        family=rules.family,
        variant=ruleset.variant.name,
        first=first,
        second=second,
        options=ruleset.overrides,
        position=_deal(ruleset),
        time=BOT_TIME,
        limits=BotLimits(),
        event=title,
        seed=secrets.randbelow(2**31),
    )
    settings = {"name": title, "family": rules.family, "variant": rules.variants[0].name, "pool": "people"}
    tournament = store.people.tournament(rules.family, title, settings, pool_of(rules.settle(), "people"))
    row = StoredHumanGame(
        game_id="",
        user_id=by.user.user_id if by.user else None,
        guest=by.guest,
        address=digest_of(by.address),
        side=side,
    )
    versions = {person.name: person.id or 0, bot.name: bot.id or 0}
    is_rated = request.is_rated and by.user is not None and by.user.name != OWNER
    game = store.people.begin(tournament, spec, versions, row, is_rated=is_rated)
    arena.bus.publish(HumanActed(game=game))
    return game


def _deal(ruleset: Ruleset) -> str | None:
    """Choose the start position at random for a variant with random starts; return None for a fixed start."""
    variant, draw = ruleset.variant, ruleset.rules.draw
    if not variant.is_dealt or draw is None:
        return None
    return draw(variant.name, random.Random(secrets.randbits(64))).position


def _time(text: str) -> TimeControl:
    if text == "none":
        return NO_CLOCK
    try:
        time = read_time_control(text)
    except ParseError as error:
        raise BadValueError(str(error), field="time") from None
    if time.kind != "clock" or not 10_000 <= time.base_ms <= 7_200_000 or time.increment_ms > 180_000:
        hint = "choose from 10 s to two hours, such as 600+5"
        raise BadValueError(f"unsupported time control {text[:20]!r}", field="time", hint=hint)
    return time


def _require_room(arena: Arena, by: Visitor) -> None:
    """Raise QuotaError if this person, this address or all people together have too many open games."""
    settings, people = arena.settings, arena.store.people
    if not settings.human_slots:
        raise QuotaError("this arena has no slots for games of people")
    if people.count_open(**by.owner_filter) >= settings.human_games_per_player:
        games = people.open(**by.owner_filter)
        addresses = " and ".join(f"/play/{game.id}" for game in games)
        raise QuotaError(f"you have {len(games)} games open", hint=f"finish or resign one: {addresses}")
    if by.user is None:
        _require_guest_room(arena, by)
    if people.count_open() >= _MAX_WAITING_PER_SLOT * settings.human_slots:
        raise QuotaError("too many people wait for a game", hint="try again in a few minutes")


def _require_guest_room(arena: Arena, by: Visitor) -> None:
    """Raise QuotaError if people without an account have too many open games, from this address or together."""
    settings, people = arena.settings, arena.store.people
    if people.count_open(user_id=None, address=digest_of(by.address)) >= settings.human_games_per_address:
        raise QuotaError("too many open games from your address", hint="log in, or try again later")
    if people.count_open(user_id=None) >= _MAX_WAITING_PER_SLOT * settings.guest_slots:
        hint = "log in, or try again in a few minutes"
        raise QuotaError("too many people without an account wait for a game", hint=hint)
