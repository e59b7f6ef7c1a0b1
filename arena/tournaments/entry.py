"""Entries of a tournament: names and queries of its document resolved to versions, each with its eligibility.

Whether a version can play by a set of rules is decided and explained before the first game, by the negotiation that
precedes every game, with the options the bot announced during its submission check.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from arena.documents.bot import VersionItem
from arena.errors import NotFoundError
from arena.store import Store
from arena.store.base.tables.bots import Version
from arena.store.bots.checks import FIT_AGAIN_MS, LOAD
from arena.store.bots.versions import of_family
from protocol.capabilities import MOVES_OF_A_GAME, Capabilities
from protocol.errors import ProtocolError
from protocol.negotiation import Ineligible
from referee.bot.settings import wrong_option
from referee.game.openings import opened_by_each
from referee.game.spec import BotSpec, TimeControl
from referee.play.player import negotiate_options
from referee.ratings.trueskill import TrueSkillRating
from referee.rules.rules import Ruleset
from referee.tournament import openings
from referee.tournament.document import Document
from referee.tournament.handicap import fastest, rules_met_by, seat_of
from referee.tournament.match import Seed
from referee.tournament.seeding import order_of_seats

UNLIMITED = TimeControl("depth", 0, 0, 1)
"""A time control that every bot is fast enough for."""


@dataclass(frozen=True, slots=True)
class Eligibility:
    """Result of the check. `reason` names the options the bot will be sent, or what it would have to announce."""

    may_play: bool
    reason: str


def equipped(spec: BotSpec, engine_options: Iterable[tuple[str, str]]) -> BotSpec:
    """Return the bot with the engine options of a tournament that it announced in its check; with all, without one."""
    announced = Capabilities.from_json(spec.capabilities).option_map if spec.capabilities else None
    wanted = {name: value for name, value in engine_options if announced is None or name in announced}
    return replace(spec, options=tuple(sorted((dict(spec.options) | wanted).items()))) if wanted else spec


def check_eligibility(  # noqa: PLR0911 - one for each reason
    capabilities: Mapping[str, Any],
    families: Mapping[str, Sequence[str]],
    ruleset: Ruleset,
    time: TimeControl = UNLIMITED,
    *,
    has_positions: bool = False,
) -> Eligibility:
    """Return whether a version may play by `ruleset`, and why.

    `capabilities` is its check report by family (`Capabilities.as_json`). It is empty for a command of this
    installation, which is trusted without a check. `families` maps each family it was entered for to the variants it
    supports. `time` is its fastest time control. `has_positions`: some games start from positions that must be set up.
    """
    family, variant = ruleset.rules.family, ruleset.variant.name
    if family not in families:
        others = ", ".join(sorted(families)) or "nothing"
        return Eligibility(False, f"plays {others}, not {family}; a version for {family} is needed")
    fit = families[family]
    unfit = _unfit(fit, ruleset)
    report = of_family(capabilities, family)
    if not report:
        if capabilities:
            return unfit or Eligibility(False, f"has no check report for {family}; upload it again")
        return unfit or Eligibility(True, f"{family} {variant}: not checked, trusted")
    try:
        announced = Capabilities.from_json(report)
    except (ProtocolError, TypeError, ValueError) as error:
        return Eligibility(False, f"its check report cannot be read ({error}); upload it again")
    fit_from_ms = int(report.get(FIT_AGAIN_MS) or announced.fit_from_ms)
    if time.move_ms is not None and fit_from_ms > time.move_ms:
        load = "" if FIT_AGAIN_MS in report else str(report.get(LOAD, ""))
        return Eligibility(False, _too_slow(fit_from_ms, time, load))
    plan = negotiate_options(
        announced.option_map, announced.families, ruleset, is_shown=has_positions, startpos_only=announced.startpos_only
    )
    if isinstance(plan, Ineligible):
        return Eligibility(False, f"{plan.reason}; submit a version that can")
    if unfit:  # for another reason than a missing announcement, which the line above names
        return unfit
    words = [f"{family} {variant}"]
    if plan.setoptions:
        words.append("gets the options " + ", ".join(f"{option.name}={option.value}" for option in plan.setoptions))
    if not plan.use_startpos:
        words.append("gets the start as a position")
    if plan.passes_phase and ruleset.phase:
        words.append(f"the referee passes for it in the {ruleset.phase.name}")
    if not announced.clocks:
        words.append("does not support clocks: gets a fixed time for every move")
    return Eligibility(True, "; ".join(words))


def _unfit(fit: Sequence[str], ruleset: Ruleset) -> Eligibility | None:
    """Return the refusal of a version whose check looked at this variant and found only `fit`; else None."""
    variant = ruleset.variant.name
    if not fit or variant in fit or all(listed.name != variant for listed in ruleset.rules.variants):
        return None
    return Eligibility(False, f"passed its check for {', '.join(fit)}, not for {variant}; submit a version that can")


def _too_slow(fit_from_ms: int, time: TimeControl, load: str) -> str:
    """Return the reason for a refusal; `load` is that of the busy machine of the check, in words, if it was busy."""
    has = f"{(time.move_ms or 0) / 1000:g} s"
    if time.kind == "clock":
        has += f" per move in a game of {MOVES_OF_A_GAME} moves"
    needs = f"{fit_from_ms / 1000:g}"
    if load:
        return (
            f"needs at least {needs} s per move according to its check on a busy machine ({load}), which is repeated "
            f"when it is less busy; {time} gives it {has}"
        )
    return f"needs at least {needs} s per move according to its check; {time} gives it {has}"


_VERSION = re.compile(r"(.+) v([1-9]\d{0,8})")


@dataclass(frozen=True, slots=True)
class ResolvedEntries:
    """Version ids with reasons: `entries` that may play, in seat order, and `refused` ones that may not."""

    entries: tuple[tuple[int, str], ...]
    refused: tuple[tuple[int, str], ...]
    problems: tuple[str, ...]
    """What is wrong with the bots named in the document, such as why one cannot play."""
    obstacle: str = ""
    """Why the format cannot pair these entries."""


def read_name(name: str) -> tuple[str, int | None]:
    """Return the bot and the version number of a name such as `zeta v3`; `zeta` has no number."""
    found = _VERSION.fullmatch(name)
    return (found[1], int(found[2])) if found else (name, None)


def eligibility_of(version: Version, families: Mapping[str, Sequence[str]], document: Document) -> Eligibility:
    """Check whether a version that was entered for `families` may play in the tournament of a document.

    The version must be able to play by the usual rules, and by the rules of all handicaps that may apply to its games.
    """
    if version.place == "remote" and not _takes_remote(document):
        return Eligibility(False, 'runs on its author\'s machine: write pool = "remote", or allow_remote = true')
    from_start = of_family(version.capabilities, document.family).get("startpos_only", False)
    control = fastest(version.name, document.control, document.handicaps)
    has_positions = bool(from_start) and openings.has_positions(document)

    def judged(ruleset: Ruleset) -> Eligibility:
        return check_eligibility(version.capabilities, families, ruleset, control, has_positions=has_positions)

    verdict = judged(document.ruleset)
    for why, ruleset in _other_rules(version.name, document) if verdict.may_play else ():
        other = judged(ruleset)
        if not other.may_play:
            return Eligibility(False, f"{why}: {other.reason}")
    return verdict


def _other_rules(name: str, document: Document) -> Iterator[tuple[str, Ruleset]]:
    """Yield the rules other than the usual ones by which a version may have to play, each preceded by the reason."""
    usual = document.ruleset
    for handicap in rules_met_by(name, document.handicaps):
        rules = {**usual.overrides, **handicap.rule_options}
        yield f"with the handicap of {handicap.bot}", usual.rules.settle(usual.variant.name, rules)
    for opened in opened_by_each(usual) if document.sides == "random" else ():
        yield f"if the draw lets {opened.sides[0].lower()} move first", opened


def _takes_remote(document: Document) -> bool:
    """Return whether remote bots may enter: the tournament is unrated or in their pool, or its document allows them."""
    return document.pool == "remote" or document.allow_remote or not document.rated


def resolve(store: Store, document: Document) -> ResolvedEntries:
    """Resolve the entries of a document to the versions that exist now."""
    lines = store.versions.active(document.family)
    chosen: dict[int, str] = {}
    problems: list[str] = []
    for name in document.entries.bots:
        # `lines` have newer versions of a bot first: its name alone is that of the newest one.
        line = next((line for line in lines if name in (line.name, line.bot)), None)
        if line is None:
            problems.append(_why_not(store, document, name))
        elif line.id in chosen:
            problems.append(f"{name}: is named twice")
        else:
            chosen[line.id] = name
    named = set(chosen)
    for line in _query(store, document, lines):
        chosen.setdefault(line.id, "")
    versions = store.versions.by_ids(list(chosen))
    families = {line.id: line.families for line in lines}
    accepted: list[tuple[int, str]] = []
    refused: list[tuple[int, str]] = []
    for version_id in chosen:
        verdict = eligibility_of(versions[version_id], families[version_id], document)
        (accepted if verdict.may_play else refused).append((version_id, verdict.reason))
        if not verdict.may_play and version_id in named:
            problems.append(f"{versions[version_id].name}: {verdict.reason}")
    problems += _wrong_options(document, [versions[version_id] for version_id, _ in accepted])
    accepted = _seeded(store, document, accepted)
    names = {seat: versions[version_id].name for seat, (version_id, _) in enumerate(accepted)}
    owner_of = {line.id: line.owner for line in lines}
    owners = {seat: owner_of[version_id] for seat, (version_id, _) in enumerate(accepted)}
    seeds = with_requests(document, [Seed(seat) for seat in names], names, owners)
    obstacle = document.system.obstacle(document, seeds)
    return ResolvedEntries(tuple(accepted), tuple(refused), tuple(problems), obstacle)


def with_requests(
    document: Document, seeds: Sequence[Seed], names: Mapping[int, str], owners: Mapping[int, Hashable]
) -> Sequence[Seed]:
    """Return the seeds with what the document says of single bots; `names` and `owners` are those of the seats."""

    def find(name: str) -> int | None:
        return seat_of(name, names, document.entries.bots)

    return document.system.with_requests(document, seeds, find, owners)


def _wrong_options(document: Document, versions: list[Version]) -> Iterator[str]:
    """Yield a problem for each engine option that a bot does not accept by its check report."""
    names = {seat: version.name for seat, version in enumerate(versions)}
    for handicap in document.handicaps:
        seat = seat_of(handicap.bot, names, document.entries.bots)
        known = of_family(versions[seat].capabilities, document.family) if seat is not None else {}
        if seat is not None and known:
            problem = wrong_option(Capabilities.from_json(known).option_map, handicap.setoptions)
            if problem:
                yield f"{versions[seat].name} {problem}"
    for version in versions if document.engine_options else ():
        if known := of_family(version.capabilities, document.family):
            announced = Capabilities.from_json(known).option_map
            if problem := wrong_option(announced, [option for option in document.setoptions if option[0] in announced]):
                yield f"{version.name} {problem}"


def _seeded(store: Store, document: Document, entries: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the entries in the order of their seats."""
    is_by_rating = document.system.seeding(document) == "rating"
    ids = [version_id for version_id, _ in entries] if is_by_rating else []
    ratings, unknown = store.ratings.strengths(document.rating_pool, ids), TrueSkillRating()
    strengths = [ratings.get(version_id, unknown).conservative for version_id, _ in entries]
    return [entries[place] for place in order_of_seats(document, strengths)]


def _query(store: Store, document: Document, lines: list[VersionItem]) -> Iterator[VersionItem]:
    wanted = document.entries
    out = set(wanted.exclude)
    takes_remote = _takes_remote(document)
    known = {
        line.id: line
        for line in lines
        if line.name not in out and line.bot not in out and (takes_remote or line.place != "remote")
    }
    if wanted.top:
        yield from _best(store, document.rating_pool, known, wanted.top)
    if wanted.all:
        yield from known.values()
    elif wanted.newest:
        newest: dict[int, VersionItem] = {}
        for line in known.values():
            newest.setdefault(line.bot_id, line)
        yield from newest.values()


def _best(store: Store, pool: str, known: dict[int, VersionItem], count: int) -> Iterator[VersionItem]:
    after: str | None = None
    while count:
        page = store.ratings.leaderboard(pool, limit=500, after=after)
        for rating in page.items:
            if rating.version_id in known and count:
                count -= 1
                yield known[rating.version_id]
        after = page.next
        if after is None:
            return


def _why_not(store: Store, document: Document, name: str) -> str:
    """Explain why a name is not an active version that plays the family."""
    bot, number = read_name(name)
    try:
        version: Version | None = store.versions.find(bot, number)
    except NotFoundError:
        version = None
    if version is None:
        names = store.bots.names()
        if bot in names:
            return f"{name}: no such version" if number else f"{name}: has no active version"
        import difflib

        near = difflib.get_close_matches(bot, names, n=3, cutoff=0.5)
        return f"{name}: no such bot" + (f"; did you mean {' or '.join(near)}" if near else "")
    if version.state != "active":
        return f"{version.name}: is {version.state}; only active versions play"
    assert version.id is not None
    return f"{version.name}: {check_eligibility({}, store.versions.families(version.id), document.ruleset).reason}"
