"""Remote bots: register one that connects instead of being uploaded, and challenge other bots to a match."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from arena import tournaments
from arena.clock import now
from arena.documents.account import Identity
from arena.documents.bot import PresenceItem, VersionItem
from arena.documents.tournament import MAX_CHALLENGE_GAMES, TournamentItem
from arena.errors import ConflictError, ForbiddenError, QuotaError
from arena.services.arena import Arena
from arena.store.base.tables.bots import Version
from arena.store.bots.bots import OWNER
from arena.submission.check import storable
from arena.submission.receive import find_own
from protocol.capabilities import Capabilities
from protocol.negotiation import Ineligible
from referee.bot.file import BotFile
from referee.errors import ArenaError
from referee.game.spec import read_time_control
from referee.play.player import negotiate_options
from referee.rules import family_named, load
from referee.rules.core import ParseError

COMMAND = "remote"
"""Placeholder for the command of a bot that runs elsewhere."""
MAX_OPEN_CHALLENGES = 3
"""Maximum number of running challenges per user."""
MAX_TEST_MS = 60_000
"""Maximum time of a bot for a test game of 40 moves."""
TEST_PRIORITY = -5
"""Test games are played before those of permanent ladders and after all others."""
_VERSION = re.compile(r"(.+) v([1-9]\d{0,8})")


class ChallengeError(ArenaError):
    """An invalid challenge; the message gives the reason."""

    kind = "invalid"


class UnfitError(ArenaError):
    """A remote bot cannot play a requested family; the message gives the reason."""

    kind = "invalid"


def admit(
    arena: Arena, name: str, families: Sequence[str], by: Identity, announced: Capabilities | None = None
) -> VersionItem:
    """Return the remote version of a bot for exactly these families; if there is none, create it and retire the others.

    `announced` decides the variants that the bot may play; if None, an existing version keeps its variants. Raises
    UnknownNameError, UnfitError, NotYoursError, QuotaError, BadValueError, ChallengeError if `families` is empty, and
    ConflictError if the bot was uploaded or is retired.
    """
    wanted = sorted({family_named(family) for family in families})
    store, settings = arena.store, arena.settings
    if not wanted:
        raise ChallengeError("missing family; name the families that the bot plays with --family")
    variants = {family: _variants(family, announced) for family in wanted}
    capabilities = dict.fromkeys(wanted, storable(announced.as_json())) if announced else {}
    bot, usage = find_own(store, name, by), store.bots.usage(by.user_id)
    if bot is None:
        usage.require_bot(settings.quota_bots)
    lines = [line for line in store.versions.of_bot(bot.id) if line.state != "retired"] if bot else []
    if any(not line.place for line in lines):
        raise ConflictError(f"the bot {name!r} was uploaded and runs in the arena; choose another name", "uploaded")
    for line in lines:
        if sorted(line.families) == wanted:
            if announced:
                store.versions.announce(line.id, variants, capabilities)
            return store.versions.lines([line.id])[line.id]
    # Before a new bot exists, which could have no version, and before the others are retired, whose places become free.
    replace(usage, versions=usage.versions - len(lines)).require_room(0, settings.quota_versions, None)
    for line in lines:
        store.versions.retire(line.id)
    if bot is None:
        bot = store.bots.add(name, by.user_id)
        arena.note("bot.connect", f"bot:{name}", by)
    version = store.versions.add(
        bot.id,
        BotFile((COMMAND,), families=tuple(wanted)),
        state="active",
        place="remote",
        variants=variants,
        capabilities=capabilities,
        max_versions=settings.quota_versions,
    )
    return store.versions.lines([version.id or 0])[version.id or 0]


def _variants(family: str, announced: Capabilities | None) -> list[str]:
    """Return the variants that a bot can be set to play. Raises UnfitError if it fits no variant."""
    rules = load(family)
    if announced is None:
        return [variant.name for variant in rules.variants]
    fit = []
    problem = ""
    for variant in rules.variants:
        plan = negotiate_options(announced.option_map, announced.families, rules.settle(variant.name))
        if isinstance(plan, Ineligible):
            problem = problem or plan.reason
        else:
            fit.append(variant.name)
    if not fit:
        raise UnfitError(f"cannot play {family}: {problem}", hint="name the families it plays with --family")
    return fit


def challenge(
    arena: Arena,
    bot: str,
    opponent: str,
    by: Identity,
    *,
    family: str,
    variant: str | None = None,
    games: int = 2,
    time: str = "10+0.1",
) -> TournamentItem:
    """Create a match of one of the caller's bots against another of them, a sample bot, or a bot open to challenges.

    The match starts at once. A match of a remote bot counts in the remote pool, unless both bots are the caller's.
    Games of an uploaded bot are tests: unrated, short, and dispatched after those of all tournaments except
    permanent ladders. Raises NotFoundError, ForbiddenError, ChallengeError, QuotaError, SettingsError.
    """
    mine, other = _find(arena, bot), _find(arena, opponent)
    if arena.store.bots.get(mine.bot_id).owner_id != by.user_id:
        raise ForbiddenError(f"{bot} belongs to another user")
    if mine.id == other.id:
        raise ChallengeError(f"{bot} cannot challenge itself; choose another opponent")
    if not 1 <= games <= MAX_CHALLENGE_GAMES:
        raise ChallengeError(f"invalid number of games {games}: expected 1 to {MAX_CHALLENGE_GAMES}")
    is_remote = mine.place == "remote"
    if not is_remote:
        require_short(time)
    rival = arena.store.bots.get(other.bot_id)
    is_own = rival.owner_id == by.user_id
    is_open = _is_open(arena, other) if is_remote else rival.plays_people and other.place == ""
    if not (is_own or rival.owner_id == arena.store.samples.owner_id() or is_open):
        raise ChallengeError(
            f"{opponent} accepts no challenges; choose a sample ({OWNER}'s bots) or a bot open to challenges"
        )
    if arena.store.tournaments.count_challenges(by.user_id) >= MAX_OPEN_CHALLENGES:
        raise QuotaError(f"you have {MAX_OPEN_CHALLENGES} running challenges; wait for one to end, or cancel one")
    document = {
        "name": f"{mine.name} challenges {other.name}",
        "family": family,
        "variant": variant,
        "games": games,
        "time_control": time,
        "rated": is_remote and not is_own,
        "entries": {"bots": [mine.name, other.name]},
        **({"pool": "remote", "remote_join_timeout_s": 60} if is_remote else {"priority": TEST_PRIORITY}),
    }
    row = tournaments.create(arena.store, document, by.user_id, now(), is_challenge=True)
    arena.note("bot.challenge", f"tournament:{row.id}", by, bot=mine.name, opponent=other.name)
    arena.wake()
    return row


def require_short(time: str) -> None:
    """Raise ChallengeError for a time control with which a test game might take long."""
    try:
        control = read_time_control(time)
    except ParseError as error:
        raise ChallengeError(str(error)) from None
    if control.move_ms is None or control.move_ms * 40 > MAX_TEST_MS:
        raise ChallengeError(f"invalid time control {time[:20]}: test games are short", hint="write one such as 5+0.1")


def presence_of(arena: Arena, versions: Sequence[VersionItem]) -> PresenceItem | None:
    """Return the latest connection state among a bot's active remote versions; None if none has ever connected."""
    remote = [line.id for line in versions if line.place == "remote" and line.state == "active"]
    found = arena.store.presences.of(remote) if remote else {}
    return max(found.values(), key=lambda one: one.seen, default=None)


def _find(arena: Arena, name: str) -> Version:
    found = _VERSION.fullmatch(name)
    return arena.store.versions.find(found[1], int(found[2])) if found else arena.store.versions.find(name)


def _is_open(arena: Arena, version: Version) -> bool:
    assert version.id is not None
    line = arena.store.presences.of([version.id]).get(version.id)
    return version.place == "remote" and line is not None and line.is_connected and line.is_open
