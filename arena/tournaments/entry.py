"""Who plays in a tournament: names and queries of its document made into versions, each with its eligibility.

Refuses to know formats, beyond whether the seats are a seeding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from arena.store import NotFoundError, Store
from arena.store.models import Version
from arena.store.versions import VersionLine
from arena.tournaments import openings
from arena.tournaments.eligibility import Verdict, judge, of_family
from arena.tournaments.handicap import fastest, rules_met_by, seat_of
from arena.tournaments.settings import SEEDED, Document
from protocol.capabilities import Capabilities
from referee.bot_settings import wrong_option
from referee.openings import opened_by_each
from referee.ratings.trueskill import TrueSkillRating
from referee.rules.rules import Ruleset

_VERSION = re.compile(r"(.+) v([1-9]\d{0,8})")


@dataclass(frozen=True, slots=True)
class Field:
    """The entries of a tournament in seat order, those refused, and names that are nobody's; each with its reason."""

    entries: tuple[tuple[int, str], ...]
    refused: tuple[tuple[int, str], ...]
    problems: tuple[str, ...]
    """Why something named in the document does not play."""


def read_name(name: str) -> tuple[str, int | None]:
    """Return the bot and the number that a name such as `zeta v3` stands for; `zeta` has no number."""
    found = _VERSION.fullmatch(name)
    return (found[1], int(found[2])) if found else (name, None)


def verdict_on(version: Version, families: Mapping[str, Sequence[str]], document: Document) -> Verdict:
    """May this version, entered for these families, play in the tournament of a document?

    By its rules, and by those that handicaps make of games it may have there.
    """
    if version.place == "remote" and not _takes_remote(document):
        return Verdict(False, 'runs on its author\'s machine: write pool = "remote", or mixes_remote = true')
    from_start = of_family(version.capabilities, document.family).get("startpos_only", False)
    control = fastest(version.name, document.control, document.handicaps)
    has_positions = bool(from_start) and openings.has_positions(document)

    def judged(ruleset: Ruleset) -> Verdict:
        return judge(version.capabilities, families, ruleset, control, has_positions=has_positions)

    verdict = judged(document.ruleset)
    for why, ruleset in _other_rules(version.name, document) if verdict.may_play else ():
        found = judged(ruleset)
        if not found.may_play:
            return Verdict(False, f"{why}: {found.reason}")
    return verdict


def _other_rules(name: str, document: Document) -> Iterator[tuple[str, Ruleset]]:
    """The rules of games that a version may have besides the usual ones, and why it may."""
    usual = document.ruleset
    for handicap in rules_met_by(name, document.handicaps):
        rules = {**usual.overrides, **handicap.rules}
        yield f"with the handicap of {handicap.bot}", usual.rules.settle(usual.variant.name, rules)
    for opened in opened_by_each(usual) if document.first == "lot" else ():
        yield f"when the lot has {opened.sides[0].lower()} move first", opened


def _takes_remote(document: Document) -> bool:
    """Whether remote bots may enter: where ratings are theirs, where nothing is rated, and where it is said."""
    return document.pool == "remote" or document.mixes_remote or not document.rated


def resolve(store: Store, document: Document) -> Field:
    """The field of a document as of now."""
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
        verdict = verdict_on(versions[version_id], families[version_id], document)
        (accepted if verdict.may_play else refused).append((version_id, verdict.reason))
        if not verdict.may_play and version_id in named:
            problems.append(f"{versions[version_id].name}: {verdict.reason}")
    problems += _wrong_handicaps(document, [versions[version_id] for version_id, _ in accepted])
    if document.format in SEEDED:
        accepted = _seeded(store, document, accepted)
    return Field(tuple(accepted), tuple(refused), tuple(problems))


def _wrong_handicaps(document: Document, versions: list[Version]) -> Iterator[str]:
    """Options that a bot of the document is to be told and that its check found no trace of."""
    names = {seat: version.name for seat, version in enumerate(versions)}
    for handicap in document.handicaps:
        seat = seat_of(handicap.bot, names, document.entries.bots)
        known = of_family(versions[seat].capabilities, document.family) if seat is not None else {}
        if seat is not None and known:
            problem = wrong_option(Capabilities.from_json(known).option_map, handicap.words)
            if problem:
                yield f"{versions[seat].name} {problem}"


def _seeded(store: Store, document: Document, entries: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """The entries by rating, best first; equals keep their order."""
    strengths = store.ratings.strengths(document.rating_pool, [version_id for version_id, _ in entries])
    unknown = TrueSkillRating()
    return sorted(entries, key=lambda entry: -strengths.get(entry[0], unknown).conservative)


def _find(lines: list[VersionLine], name: str) -> VersionLine | None:
    """`zeta v3` is that version, `zeta` the newest; lines have the newest version of each bot first."""
    return next((line for line in lines if name in (line.name, line.bot)), None)


def _query(store: Store, document: Document, lines: list[VersionLine]) -> Iterator[VersionLine]:
    wanted = document.entries
    out = set(wanted.without)
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
        newest: dict[int, VersionLine] = {}
        for line in known.values():
            newest.setdefault(line.bot_id, line)
        yield from newest.values()


def _best(store: Store, pool: str, known: dict[int, VersionLine], count: int) -> Iterator[VersionLine]:
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
    """Why a name is no active version that plays the family."""
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
    return f"{version.name}: {judge({}, store.versions.families(version.id), document.ruleset).reason}"
