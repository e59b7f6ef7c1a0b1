"""People play: whom they may play, a game begun, and what they decide in it."""

from __future__ import annotations

import random
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from arena.errors import ForbiddenError
from arena.events.messages import HumanActed
from arena.services import study
from arena.services.arena import Arena
from arena.services.study import Study
from arena.store import BadValueError, ConflictError, Identity, QuotaError
from arena.store.base.credentials import digest_of
from arena.store.base.models import PersonGame
from arena.store.bots.samples import OWNER
from arena.store.games.games import GameLine
from arena.store.tournaments.human_games import DRAW, MOST_TAKEN_BACK, PersonLine, is_draw_offered
from arena.tournaments.spec import bot_spec
from referee.game.adjudication import LEVEL, LEVEL_FROM_PLY, takes_draw
from referee.game.spec import NO_CLOCK, BotLimits, BotSpec, GameSpec, TimeControl, read_time_control
from referee.ratings.trueskill import pool_of
from referee.rules import load
from referee.rules.core import SIDES, ParseError

TIMES: Mapping[str, str] = {
    "none": "no clock",
    "180+2": "3 min + 2 s",
    "600+5": "10 min + 5 s",
    "1800+20": "30 min + 20 s",
}
"""What people play by, in words; the bot has `BOT_TIME` in any case, so that it takes little from rated games."""
BOT_TIME = TimeControl("movetime", 1000, 0)
_SCORE = 3
"""Where the score stands in a ply as it is kept."""
_QUEUE = 8
"""So many games may wait for each slot."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who asks: an identity, or the secret of a browser's cookie; and from which address."""

    user: Identity | None
    cookie: str
    address: str

    @property
    def guest(self) -> str:
        """What the games of somebody without an account are known by."""
        return "" if self.user else digest_of(self.cookie)

    def plays(self, line: PersonLine) -> bool:
        """Whether a game is theirs."""
        if self.user is not None:
            return line.user_id == self.user.user_id
        return bool(self.cookie) and line.guest == self.guest

    @property
    def mine(self) -> dict[str, Any]:
        """What their games are found by."""
        return {"user_id": self.user.user_id} if self.user else {"guest": self.guest}


@dataclass(frozen=True, slots=True)
class Wish:
    """The game somebody wants: `version` is the bot's, `side` first, second or empty for either by lot."""

    family: str
    version: int
    variant: str = ""
    side: str = ""
    time: str = "none"
    is_rated: bool = True


def opponents(arena: Arena, family: str) -> list[tuple[int, str]]:
    """Whom people may play: number and name of each version."""
    return arena.store.people.opponents(family)


def opponent(arena: Arena, family: str, bot: str) -> int:
    """The version of a bot that people play in a family. Raises BadValueError that names those there are."""
    known = {name.rpartition(" v")[0]: number for number, name in opponents(arena, family)}
    if bot not in known:
        there = f"choose one of {', '.join(list(known)[:20])}" if known else "no bot plays people in this family"
        raise BadValueError(f"{bot} does not play people in {family}", field="bot", hint=there)
    return known[bot]


def begin(arena: Arena, wish: Wish, by: Visitor) -> str:
    """Begin a game; the referee plays it as soon as it has room. Returns its id. Raises BadValueError, QuotaError."""
    store = arena.store
    ruleset = study.settle(wish.family, wish.variant, "")
    rules = ruleset.rules
    if wish.version not in {number for number, _ in opponents(arena, wish.family)}:
        raise BadValueError("that bot does not play people", field="bot", hint="choose one of the list")
    if wish.side not in ("", *SIDES):
        raise BadValueError(f"no side {wish.side[:20]!r}", field="side", hint="first, second, or nothing for the lot")
    _require_room(arena, by)
    side = wish.side or random.choice(SIDES)
    person = store.people.version(by.user.user_id if by.user else None)
    bot = store.versions.get(wish.version)
    seat = BotSpec(person.name, (), place="person", time=_time(wish.time))
    machine = bot_spec(bot, rules.family)
    first, second = (seat, machine) if side == "first" else (machine, seat)
    spec = GameSpec(
        family=rules.family,
        variant=ruleset.variant.name,
        first=first,
        second=second,
        options=ruleset.overrides,
        position=_deal(ruleset.variant.name, wish.family),
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
    is_rated = wish.is_rated and by.user is not None and by.user.name != OWNER
    game = store.people.begin(tournament, spec, versions, row, is_rated=is_rated)
    arena.bus.publish(HumanActed(game=game))
    return game


def _deal(variant: str, family: str) -> str | None:
    """The position of a start that is drawn at random; None where the name says it."""
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
        raise BadValueError(f"nobody plays by {text[:20]!r}", field="time", hint="from 10 s to two hours, 600+5 say")
    return found


def _require_room(arena: Arena, by: Visitor) -> None:
    """Raises QuotaError where somebody, an address or all together have too many games open."""
    settings, people = arena.settings, arena.store.people
    if not settings.human_slots:
        raise QuotaError("people do not play here: the arena has no slots for their games")
    if people.count_open(**by.mine) >= settings.human_games_per_player:
        mine = people.open(**by.mine)
        open_ = " and ".join(f"/play/{line.game_id}" for line in mine)
        raise QuotaError(f"you have {len(mine)} games open", hint=f"finish or resign one: {open_}")
    if people.count_open(address=digest_of(by.address)) >= settings.human_games_per_address:
        raise QuotaError("there are too many open games from your address", hint="try again later")
    if people.count_open() >= _QUEUE * settings.human_slots:
        raise QuotaError("too many people wait for a game", hint="try again in some minutes")


def mine(arena: Arena, by: Visitor) -> list[PersonLine]:
    """The open games of somebody."""
    return arena.store.people.open(**by.mine) if by.user or by.cookie else []


def waiting(arena: Arena, game_id: str) -> int:
    """How many games of people are played or wait before one that waits."""
    ids = list(arena.store.people.asked())
    return ids.index(game_id) if game_id in ids else 0


@dataclass(frozen=True, slots=True)
class DrawOffer:
    """A draw: the bot has `offered` one, or what became of the person's own offer: `waiting`, or `declined` and why."""

    state: str
    why: str = ""


def draw_offer(line: PersonLine) -> DrawOffer | None:
    """An offer, as long as the person has not moved since; None where there is none."""
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
        return "the bot says no scores"
    if ply < LEVEL_FROM_PLY:
        return f"draws are taken from ply {LEVEL_FROM_PLY} on"
    if takes_draw(score, ply):
        return "the game was interrupted after your offer; offer it again"
    return f"the bot gives itself {score / 100:+.2f}, and takes a draw within {LEVEL / 100:g} of level"


@dataclass(frozen=True, slots=True)
class PersonView:
    """A game as its person sees it: how it stands, what was to be played, and its line up to now."""

    line: PersonLine
    game: GameLine
    spec: GameSpec
    study: Study
    ahead: int
    offer: DrawOffer | None


def see(arena: Arena, game_id: str, by: Visitor) -> PersonView:
    """A game of one's own. Raises NotFoundError, ForbiddenError."""
    line = _mine(arena, game_id, by)
    spec = arena.store.people.planned(game_id).spec
    ahead = waiting(arena, game_id) if line.state == "planned" else 0
    return PersonView(line, arena.store.games.get(game_id), spec, _study(line, spec), ahead, draw_offer(line))


def _mine(arena: Arena, game_id: str, by: Visitor) -> PersonLine:
    line = arena.store.people.get(game_id)
    if not by.plays(line):
        raise ForbiddenError("this is somebody else's game")
    return line


def _study(line: PersonLine, spec: GameSpec) -> Study:
    ruleset = load(spec.family).settle(spec.variant, spec.options)
    return study.read(ruleset, spec.position or "", [str(kept[0]) for kept in line.plies])


@dataclass(frozen=True, slots=True)
class Decided:
    """What a person decides: `do` is `move`, `draw` (they take the bot's offer), `resign` or `back`; `ply` is how many
    were played as they saw it.
    """

    do: str
    ply: int
    move: str = ""
    draw: bool = False


def decide(arena: Arena, game_id: str, wish: Decided, by: Visitor) -> None:
    """Keep it for the referee, who does it at once. Raises NotFoundError, ForbiddenError, ConflictError,
    BadValueError."""
    line = _mine(arena, game_id, by)
    if line.state not in ("planned", "queued", "running"):
        raise ConflictError("the game is over", line.state)
    asked: dict[str, Any] = {"do": wish.do, "ply": len(line.plies), "mark": secrets.token_hex(4)}
    if wish.do == "move":
        asked |= {"move": _move(arena, line, wish), "draw": wish.draw}
    elif wish.do == "back":
        _require_back(line)
    elif wish.do == "draw":
        _require_offer(line, wish)
    elif wish.do != "resign":
        raise BadValueError(f"nothing is called {wish.do[:20]!r}", field="do", hint="move, draw, resign or back")
    arena.store.people.ask(game_id, asked)
    arena.bus.publish(HumanActed(game=game_id))


def _move(arena: Arena, line: PersonLine, wish: Decided) -> str:
    """The move in canonical text, if it may be played now."""
    if wish.ply != len(line.plies):
        raise ConflictError("the game has gone on since: look at the board again", "running")
    found = _study(line, arena.store.people.planned(line.game_id).spec)
    if found.end.outcome is not None or found.end.side != line.side:
        raise ConflictError("it is not your turn", "running")
    return study.read(found.ruleset, found.start, [*found.moves, wish.move]).moves[-1]


def _require_offer(line: PersonLine, wish: Decided) -> None:
    offer = draw_offer(line)
    if wish.ply != len(line.plies) or offer is None or offer.state != "offered":
        raise ConflictError("the bot offers no draw now: offer one with your move", line.state)


def _require_back(line: PersonLine) -> None:
    mine = SIDES.index(line.side)
    if len(line.plies) <= mine:
        raise ConflictError("you have not moved yet", line.state)
    if line.attempt > MOST_TAKEN_BACK:
        raise ConflictError(f"{MOST_TAKEN_BACK} moves were taken back in this game", line.state)
