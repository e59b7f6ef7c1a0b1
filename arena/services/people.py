"""Games of people against bots: list opponents, start a game, move and resign."""

from __future__ import annotations

import math
import random
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, cast

from arena.clock import now
from arena.credentials import digest_of, new_secret
from arena.documents.account import Identity
from arena.documents.family import OutcomeResponse
from arena.documents.human_game import (
    DecisionRequest,
    DrawOfferResponse,
    HumanGame,
    OpenGameItem,
    OpenState,
    OpponentItem,
    PlayRequest,
    PlayResponse,
)
from arena.documents.tournament import GAMES_OF_PEOPLE
from arena.errors import BadValueError, ConflictError, ForbiddenError, NotFoundError, QuotaError
from arena.events.messages import HumanActed
from arena.services import study
from arena.services.arena import Arena
from arena.services.study import Study
from arena.store.base.tables.games import StoredHumanGame
from arena.store.bots.bots import OWNER
from arena.store.bots.versions import bot_spec
from arena.store.tournaments.human_games import DRAW, MAX_TAKEN_BACK, is_draw_offered
from referee.game.adjudication import LEVEL, LEVEL_FROM_PLY, takes_draw
from referee.game.spec import NO_CLOCK, BotLimits, BotSpec, GameSpec, TimeControl, read_time_control
from referee.ratings.trueskill import pool_of
from referee.rules import families, load
from referee.rules.core import SIDES, ParseError

TIME_CONTROLS: Mapping[str, str] = {
    "none": "no clock",
    "180+2": "3 min + 2 s",
    "600+5": "10 min + 5 s",
    "1800+20": "30 min + 20 s",
}
"""Time controls offered to people. The bot always has `BOT_TIME`, so that these games take little from rated ones."""
BOT_TIME = TimeControl("movetime", 1000, 0)
_SCORE = 3
"""Index of the score in the numbers of a stored ply."""
PRESENCE_INTERVAL = timedelta(seconds=15)
"""How often the presence of a player is noted."""
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

    def plays(self, line: HumanGame) -> bool:
        if self.user is not None:
            return line.user_id == self.user.user_id
        return bool(self.cookie) and line.guest == self.guest

    @property
    def mine(self) -> dict[str, Any]:
        """The filter for this visitor's games in the store."""
        return {"user_id": self.user.user_id} if self.user else {"guest": self.guest}


def opponents(arena: Arena, family: str) -> list[OpponentItem]:
    """Return the bots that people may play against, with their ratings: the levels of the champion, then the weakest
    first, those without a rating last.
    """
    bots = arena.store.people.opponents(family)
    ratings = arena.store.ratings.strengths(family, [bot.version_id for bot in bots])
    rated = (
        replace(bot, rating=round(rating.conservative, 1)) if (rating := ratings.get(bot.version_id)) else bot
        for bot in bots
    )
    return sorted(rated, key=lambda bot: (bot.level or math.inf, math.inf if bot.rating is None else bot.rating))


def families_of(arena: Arena, bot: str) -> list[str]:
    """Return the families in which people may play against a bot."""
    known = arena.store.people.families_of(bot)
    return [name for name in families() if name in known]


def _opponent(arena: Arena, family: str, bot: str) -> int:
    """Return the id of the bot's version that people play in a family. Raises BadValueError that lists the choices."""
    known = {one.bot: one.version_id for one in opponents(arena, family)}
    if bot not in known:
        there = f"choose from {', '.join(list(known)[:20])}" if known else "no bot plays people in this family"
        raise BadValueError(f"{bot[:60]} does not play people in {family}", field="bot", hint=there)
    return known[bot]


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
    spec = GameSpec(
        family=rules.family,
        variant=ruleset.variant.name,
        first=first,
        second=second,
        options=ruleset.overrides,
        position=_deal(ruleset.variant.name, request.family),
        time=BOT_TIME,
        limits=BotLimits(),
        event=f"{GAMES_OF_PEOPLE}{rules.title}",
        seed=secrets.randbelow(2**31),
    )
    title, pool = f"{GAMES_OF_PEOPLE}{rules.title}", pool_of(rules.settle(), "people")
    kept = {"name": title, "family": rules.family, "variant": rules.variants[0].name, "pool": "people"}
    tournament = store.people.tournament(rules.family, title, kept, pool)
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


def _deal(variant: str, family: str) -> str | None:
    """Choose the start position at random for a variant with random starts; return None for a fixed start."""
    rules = study.settle(family, variant, "").rules
    if not rules.variant(variant).is_dealt or rules.draw is None:
        return None
    return rules.draw(variant, random.Random(secrets.randbits(64))).position


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
    if people.count_open(**by.mine) >= settings.human_games_per_player:
        mine = people.open(**by.mine)
        open_ = " and ".join(f"/play/{line.id}" for line in mine)
        raise QuotaError(f"you have {len(mine)} games open", hint=f"finish or resign one: {open_}")
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


def mine(arena: Arena, by: Visitor) -> list[OpenGameItem]:
    games = arena.store.people.open(**by.mine) if by.user or by.cookie else []
    return [
        OpenGameItem(
            id=line.id,
            state=cast(OpenState, line.state),
            side=line.side,
            plies=len(line.plies),
            is_rated=line.is_rated,
            created_at=line.created_at,
        )
        for line in games
    ]


def waiting(arena: Arena, game_id: str) -> int:
    """Return how many games of people are played or wait before this one."""
    ids = list(arena.store.people.asked())
    return ids.index(game_id) if game_id in ids else 0


def draw_offer(line: HumanGame) -> DrawOfferResponse | None:
    """Return the current draw offer, which lasts until the person's next move; None without one."""
    mine = SIDES.index(line.side)
    if is_draw_offered(line.plies, line.side):
        return DrawOfferResponse("offered")
    last = max((number for number in range(len(line.plies)) if number % 2 == mine), default=-1)
    if last < 0 or line.plies[last][2:] != [DRAW]:
        return None
    if last + 1 == len(line.plies):
        return DrawOfferResponse("waiting")
    return DrawOfferResponse("declined", _why_declined(line.plies[last + 1][1][_SCORE], last + 2))


def _why_declined(score: int | None, ply: int) -> str:
    if score is None:
        return _NO_SCORES
    if ply < LEVEL_FROM_PLY:
        return _EARLY.format(LEVEL_FROM_PLY)
    if takes_draw(score, ply):
        return _INTERRUPTED
    return _UNEVEN.format(f"{score / 100:+.2f}", f"{LEVEL / 100:g}")


_NO_SCORES = "the bot reports no scores"
_EARLY = "draws are accepted from ply {} on"
_INTERRUPTED = "the game was interrupted after your offer: offer it again"
_UNEVEN = "the bot's score is {}: it accepts a draw within {} of 0"
REASONS = (_NO_SCORES, _EARLY, _INTERRUPTED, _UNEVEN)
"""Why a bot declines a draw; `{}` stands for a value."""


def follows(arena: Arena, game_id: str, by: Visitor) -> bool:
    """Return whether the visitor plays an open game, and note that their page follows its stream."""
    if by.user is None and not by.cookie:
        return False
    try:
        line = arena.store.people.get(game_id)
    except NotFoundError:
        return False
    if line.is_over or not by.plays(line):
        return False
    arena.store.people.see(game_id, is_stream=True)
    return True


def see(arena: Arena, game_id: str, by: Visitor) -> PlayResponse:
    """Return one of the visitor's own games. Raises NotFoundError, ForbiddenError."""
    line, game = _mine(arena, game_id, by), arena.store.games.get(game_id)
    if not line.is_over and now() - line.seen_at > PRESENCE_INTERVAL:
        arena.store.people.see(game_id)
    spec = arena.store.games.spec(game_id)
    study_line = _study(line, spec)
    outcome = None
    if game.winner and game.termination:
        outcome = OutcomeResponse(game.winner, game.termination)
    return PlayResponse(
        id=game.id,
        family=game.family,
        variant=game.variant,
        first=game.first,
        second=game.second,
        side=line.side,
        state=game.state,
        is_rated=game.is_rated,
        ahead=waiting(arena, game_id) if line.state == "planned" else 0,
        start=study_line.start,
        moves=study_line.moves,
        position=str(study_line.end),
        to_move=None if study_line.end.outcome or outcome else study_line.end.side,
        time=str((spec.first if line.side == "first" else spec.second).time or NO_CLOCK),
        pending=_pending(line),
        draw=draw_offer(line),
        outcome=outcome,
    )


def _pending(line: HumanGame) -> str:
    """Return the person's move that is stored for the present position; empty if there is none."""
    asked = line.asked or {}
    return str(asked["move"]) if asked.get("do") == "move" and asked.get("ply") == len(line.plies) else ""


def _mine(arena: Arena, game_id: str, by: Visitor) -> HumanGame:
    line = arena.store.people.get(game_id)
    if not by.plays(line):
        raise ForbiddenError("this is another person's game")
    return line


def _study(line: HumanGame, spec: GameSpec) -> Study:
    ruleset = load(spec.family).settle(spec.variant, spec.options)
    return study.read(ruleset, spec.position or "", [str(kept[0]) for kept in line.plies])


def decide(arena: Arena, game_id: str, action: DecisionRequest, by: Visitor) -> None:
    """Store an action for the referee, which applies it at once.

    Raises NotFoundError, ForbiddenError, ConflictError, BadValueError.
    """
    line = _mine(arena, game_id, by)
    if action.ply is None:
        action = replace(action, ply=len(line.plies))
    if line.is_over:
        raise ConflictError("the game is over", line.state)
    # Resigning is about the game. Everything else is about the position: a second click on "Take back" arrives after
    # the first one has changed it.
    if action.do != "resign" and action.ply != len(line.plies):
        raise ConflictError("the position has changed; look at the board again", line.state)
    asked: dict[str, Any] = {"do": action.do, "ply": len(line.plies), "mark": secrets.token_hex(4)}
    if action.do == "move":
        asked |= {"move": _move(arena, line, action), "draw": action.draw}
    elif action.do == "back":
        _require_back(line)
    elif action.do == "draw":
        _require_offer(line)
    arena.store.people.ask(game_id, asked)
    arena.bus.publish(HumanActed(game=game_id))


def _move(arena: Arena, line: HumanGame, action: DecisionRequest) -> str:
    """Return the move in canonical notation if it is legal now."""
    found = _study(line, arena.store.games.spec(line.id))
    if found.end.outcome is not None or found.end.side != line.side:
        raise ConflictError("it is not your turn", "running")
    return study.read(found.ruleset, found.start, [*found.moves, action.move.strip()]).moves[-1]


def _require_offer(line: HumanGame) -> None:
    offer = draw_offer(line)
    if offer is None or offer.state != "offered":
        raise ConflictError("the bot does not offer a draw now; offer one with your move", line.state)


def _require_back(line: HumanGame) -> None:
    mine = SIDES.index(line.side)
    if len(line.plies) <= mine:
        raise ConflictError("you have not moved yet", line.state)
    if line.attempt > MAX_TAKEN_BACK:
        raise ConflictError(f"at most {MAX_TAKEN_BACK} moves may be taken back in a game", line.state)
