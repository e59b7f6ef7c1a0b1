"""Entries of a tournament: names and queries of its document resolved to versions, each with its eligibility."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from arena.documents.bot import VersionItem
from arena.errors import NotFoundError
from arena.store import Store
from arena.store.base.models import Version
from arena.tournaments import openings
from arena.tournaments.eligibility import Eligibility, check_eligibility, of_family
from arena.tournaments.handicap import fastest, rules_met_by, seat_of
from arena.tournaments.settings import SEEDED, Document
from protocol.capabilities import Capabilities
from referee.bot.settings import wrong_option
from referee.game.openings import opened_by_each
from referee.ratings.trueskill import TrueSkillRating
from referee.rules.rules import Ruleset

_VERSION = re.compile(r"(.+) v([1-9]\d{0,8})")


@dataclass(frozen=True, slots=True)
class ResolvedEntries:
    """Version ids with reasons: `entries` that may play, in seat order, and `refused` ones that may not."""

    entries: tuple[tuple[int, str], ...]
    refused: tuple[tuple[int, str], ...]
    problems: tuple[str, ...]
    """Why bots named in the document cannot play."""


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
        line = _find(lines, name)
        if line is None:
            problems.append(_why_not(store, document, name))
        else:
            chosen.setdefault(line.id, name)
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
    problems += _wrong_handicaps(document, [versions[version_id] for version_id, _ in accepted])
    if document.format in SEEDED:
        accepted = _seeded(store, document, accepted)
    return ResolvedEntries(tuple(accepted), tuple(refused), tuple(problems))


def _wrong_handicaps(document: Document, versions: list[Version]) -> Iterator[str]:
    """Yield a problem for each handicap with an engine option that the bot does not accept by its check report."""
    names = {seat: version.name for seat, version in enumerate(versions)}
    for handicap in document.handicaps:
        seat = seat_of(handicap.bot, names, document.entries.bots)
        known = of_family(versions[seat].capabilities, document.family) if seat is not None else {}
        if seat is not None and known:
            problem = wrong_option(Capabilities.from_json(known).option_map, handicap.setoptions)
            if problem:
                yield f"{versions[seat].name} {problem}"


def _seeded(store: Store, document: Document, entries: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Sort the entries by rating, best first; equal ratings keep their order."""
    strengths = store.ratings.strengths(document.rating_pool, [version_id for version_id, _ in entries])
    unknown = TrueSkillRating()
    return sorted(entries, key=lambda entry: -strengths.get(entry[0], unknown).conservative)


def _find(lines: list[VersionItem], name: str) -> VersionItem | None:
    """Find a version by name: `zeta v3`, or `zeta` for its newest one. `lines` have newer versions of a bot first."""
    return next((line for line in lines if name in (line.name, line.bot)), None)


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
