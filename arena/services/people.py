"""Games of people against bots: list opponents, start a game, move and resign."""

from __future__ import annotations

import random
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from arena.credentials import digest_of
from arena.documents.game import GameItem
from arena.documents.identity import Identity
from arena.errors import BadValueError, ConflictError, ForbiddenError, QuotaError
from arena.events.messages import HumanActed
from arena.services import study
from arena.services.arena import Arena
from arena.services.study import Study
from arena.store.base.models import PersonGame
from arena.store.bots.samples import OWNER
from arena.store.tournaments.human_games import DRAW, MAX_TAKEN_BACK, PersonLine, is_draw_offered
from arena.tournaments.spec import bot_spec
from referee.game.adjudication import LEVEL, LEVEL_FROM_PLY, takes_draw
from referee.game.spec import NO_CLOCK, BotLimits, BotSpec, GameSpec, TimeControl, read_time_control
from referee.ratings.trueskill import pool_of
from referee.rules import load
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
"""Index of the score in a stored ply."""
_MAX_WAITING_PER_SLOT = 8
"""Maximum number of waiting games per slot."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """The caller: an identity, or the secret of a browser's cookie; and the IP address."""

    user: Identity | None
    cookie: str
    address: str

    @property
    def guest(self) -> str:
        """The key that stored games have for a player without an account."""
        return "" if self.user else digest_of(self.cookie)

    def plays(self, line: PersonLine) -> bool:
        """Return whether the game belongs to this visitor."""
        if self.user is not None:
            return line.user_id == self.user.user_id
        return bool(self.cookie) and line.guest == self.guest

    @property
    def mine(self) -> dict[str, Any]:
        """The filter for this visitor's games in the store."""
        return {"user_id": self.user.user_id} if self.user else {"guest": self.guest}


@dataclass(frozen=True, slots=True)
class HumanGameRequest:
    """A requested game: `version` is the bot's id, `side` is first, second, or empty for a random side."""

    family: str
    version: int
    variant: str = ""
    side: str = ""
    time: str = "none"
    is_rated: bool = True


def opponents(arena: Arena, family: str) -> list[tuple[int, str]]:
    """Return id and name of each version that people may play against."""
    return arena.store.people.opponents(family)


def opponent(arena: Arena, family: str, bot: str) -> int:
    """Return the id of the bot's version that people play in a family. Raises BadValueError that lists the choices."""
    known = {name.rpartition(" v")[0]: number for number, name in opponents(arena, family)}
    if bot not in known:
        there = f"choose from {', '.join(list(known)[:20])}" if known else "no bot plays people in this family"
        raise BadValueError(f"{bot} does not play people in {family}", field="bot", hint=there)
    return known[bot]


def begin(arena: Arena, request: HumanGameRequest, by: Visitor) -> str:
    """Start a game and return its id; it is played as soon as a slot is free. Raises BadValueError, QuotaError."""
    store = arena.store
    ruleset = study.settle(request.family, request.variant, "")
    rules = ruleset.rules
    if request.version not in {number for number, _ in opponents(arena, request.family)}:
        raise BadValueError("this bot does not play people", field="bot", hint="choose a bot from the list")
    if request.side not in ("", *SIDES):
        hint = "choose first or second, or leave it empty for a random side"
        raise BadValueError(f"invalid side {request.side[:20]!r}", field="side", hint=hint)
    _require_room(arena, by)
    side = request.side or random.choice(SIDES)
    person = store.people.version(by.user.user_id if by.user else None)
    bot = store.versions.get(request.version)
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
        event=f"Games of people: {rules.title}",
        seed=secrets.randbelow(2**31),
    )
    title, pool = f"Games of people: {rules.title}", pool_of(rules.settle(), "people")
    kept = {"name": title, "family": rules.family, "variant": rules.variants[0].name, "pool": "people"}
    tournament = store.people.tournament(rules.family, title, kept, pool)
    row = PersonGame(
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
    """Draw the start position of a dealt variant; return None if the variant has a fixed start."""
    rules = study.settle(family, variant, "").rules
    if not rules.variant(variant).is_dealt or rules.draw is None:
        return None
    return rules.draw(variant, random.Random(secrets.randbits(64))).position


def _time(text: str) -> TimeControl:
    if text == "none":
        return NO_CLOCK
    try:
        found = read_time_control(text)
    except ParseError as error:
        raise BadValueError(str(error), field="time") from None
    if found.kind != "clock" or not 10_000 <= found.base_ms <= 7_200_000 or found.increment_ms > 180_000:
        hint = "choose from 10 s to two hours, such as 600+5"
        raise BadValueError(f"unsupported time control {text[:20]!r}", field="time", hint=hint)
    return found


def _require_room(arena: Arena, by: Visitor) -> None:
    """Raise QuotaError if this person, this address or all people together have too many open games."""
    settings, people = arena.settings, arena.store.people
    if not settings.human_slots:
        raise QuotaError("this arena has no slots for games of people")
    if people.count_open(**by.mine) >= settings.human_games_per_player:
        mine = people.open(**by.mine)
        open_ = " and ".join(f"/play/{line.game_id}" for line in mine)
        raise QuotaError(f"you have {len(mine)} games open", hint=f"finish or resign one: {open_}")
    if people.count_open(address=digest_of(by.address)) >= settings.human_games_per_address:
        raise QuotaError("too many open games from your address", hint="try again later")
    if people.count_open() >= _MAX_WAITING_PER_SLOT * settings.human_slots:
        raise QuotaError("too many people wait for a game", hint="try again in a few minutes")


def mine(arena: Arena, by: Visitor) -> list[PersonLine]:
    """Return the visitor's open games."""
    return arena.store.people.open(**by.mine) if by.user or by.cookie else []


def waiting(arena: Arena, game_id: str) -> int:
    """Return how many games of people are played or wait before this one."""
    ids = list(arena.store.people.asked())
    return ids.index(game_id) if game_id in ids else 0


@dataclass(frozen=True, slots=True)
class DrawOffer:
    """A draw offer: `offered` by the bot, or the person's own one, `waiting` or `declined` with the reason."""

    state: str
    why: str = ""


def draw_offer(line: PersonLine) -> DrawOffer | None:
    """Return the current draw offer, which lasts until the person's next move; None without one."""
    mine = SIDES.index(line.side)
    if is_draw_offered(line.plies, line.side):
        return DrawOffer("offered")
    last = max((number for number in range(len(line.plies)) if number % 2 == mine), default=-1)
    if last < 0 or line.plies[last][2:] != [DRAW]:
        return None
    if last + 1 == len(line.plies):
        return DrawOffer("waiting")
    return DrawOffer("declined", _why_declined(line.plies[last + 1][1][_SCORE], last + 2))


def _why_declined(score: int | None, ply: int) -> str:
    if score is None:
        return "the bot reports no scores"
    if ply < LEVEL_FROM_PLY:
        return f"draws are accepted from ply {LEVEL_FROM_PLY} on"
    if takes_draw(score, ply):
        return "the game was interrupted after your offer; offer it again"
    return f"the bot's score is {score / 100:+.2f}; it accepts a draw within {LEVEL / 100:g} of 0"


@dataclass(frozen=True, slots=True)
class PersonView:
    """A game as its player sees it: state, settings and moves. `ahead` counts the games that wait before it."""

    line: PersonLine
    game: GameItem
    spec: GameSpec
    study: Study
    ahead: int
    offer: DrawOffer | None


def see(arena: Arena, game_id: str, by: Visitor) -> PersonView:
    """Return one of the visitor's own games. Raises NotFoundError, ForbiddenError."""
    line = _mine(arena, game_id, by)
    spec = arena.store.people.planned(game_id).spec
    ahead = waiting(arena, game_id) if line.state == "planned" else 0
    return PersonView(line, arena.store.games.get(game_id), spec, _study(line, spec), ahead, draw_offer(line))


def _mine(arena: Arena, game_id: str, by: Visitor) -> PersonLine:
    line = arena.store.people.get(game_id)
    if not by.plays(line):
        raise ForbiddenError("this is another person's game")
    return line


def _study(line: PersonLine, spec: GameSpec) -> Study:
    ruleset = load(spec.family).settle(spec.variant, spec.options)
    return study.read(ruleset, spec.position or "", [str(kept[0]) for kept in line.plies])


@dataclass(frozen=True, slots=True)
class HumanAction:
    """An action of a person: `do` is `move`, `draw` (accept the bot's offer), `resign` or `back`.

    `ply` is the number of plies played when the person acted.
    """

    do: str
    ply: int
    move: str = ""
    draw: bool = False


def decide(arena: Arena, game_id: str, action: HumanAction, by: Visitor) -> None:
    """Store an action for the referee, which applies it at once.

    Raises NotFoundError, ForbiddenError, ConflictError, BadValueError.
    """
    line = _mine(arena, game_id, by)
    if line.state not in ("planned", "queued", "running"):
        raise ConflictError("the game is over", line.state)
    asked: dict[str, Any] = {"do": action.do, "ply": len(line.plies), "mark": secrets.token_hex(4)}
    if action.do == "move":
        asked |= {"move": _move(arena, line, action), "draw": action.draw}
    elif action.do == "back":
        _require_back(line)
    elif action.do == "draw":
        _require_offer(line, action)
    elif action.do != "resign":
        hint = "choose from move, draw, resign, back"
        raise BadValueError(f"unknown action {action.do[:20]!r}", field="do", hint=hint)
    arena.store.people.ask(game_id, asked)
    arena.bus.publish(HumanActed(game=game_id))


def _move(arena: Arena, line: PersonLine, action: HumanAction) -> str:
    """Return the move in canonical notation if it is legal now."""
    if action.ply != len(line.plies):
        raise ConflictError("the position has changed; look at the board again", "running")
    found = _study(line, arena.store.people.planned(line.game_id).spec)
    if found.end.outcome is not None or found.end.side != line.side:
        raise ConflictError("it is not your turn", "running")
    return study.read(found.ruleset, found.start, [*found.moves, action.move]).moves[-1]


def _require_offer(line: PersonLine, action: HumanAction) -> None:
    offer = draw_offer(line)
    if action.ply != len(line.plies) or offer is None or offer.state != "offered":
        raise ConflictError("the bot does not offer a draw now; offer one with your move", line.state)


def _require_back(line: PersonLine) -> None:
    mine = SIDES.index(line.side)
    if len(line.plies) <= mine:
        raise ConflictError("you have not moved yet", line.state)
    if line.attempt > MAX_TAKEN_BACK:
        raise ConflictError(f"at most {MAX_TAKEN_BACK} moves may be taken back in a game", line.state)
