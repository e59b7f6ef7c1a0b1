"""Writes the digest of a user: ratings that changed, and the notices since the last one, in the user's language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from urllib.parse import quote

from arena.documents.account import Notice
from arena.pages import filters, language
from arena.pages.language import headed, marked, text, texts, translated
from arena.pages.routes.account import PAGES
from arena.store import Store
from referee.rules import families, load

MAX_LINES = 20
"""Maximum of lines under each heading."""
MAX_FOLLOWED_VERSIONS = 100
"""Maximum of versions whose ratings are compared because their bot or its owner is followed."""
MIN_CHANGE = 0.05
"""Smallest change of a rating that is reported: a smaller one would be written as 0.0."""
_HEADINGS: Mapping[str, str] = {
    "tournament": marked("Tournaments that ended"),
    "fault": marked("Games lost by a forfeit"),
    "suspension": marked("Suspensions"),
    "check": marked("Checks of my bots"),
    "version": marked("New versions of what I follow"),
}
"""Heading by kind of notice, in the order of the mail."""


@dataclass(frozen=True, slots=True)
class RatingDifference:
    """Change of a version's rating (mu - 3 sigma) in a pool; `before` is None for its first games."""

    version: str
    pool: str
    before: float | None
    after: float
    games: int

    @property
    def points(self) -> float:
        """The change; the whole rating if there was none before."""
        return self.after - (self.before or 0.0)


@dataclass(frozen=True, slots=True)
class Digest:
    """The contents of a mail: its subject, and its sections as text."""

    subject: str
    text: str


class DigestWriter:
    """Writes digests with links to the pages at `public_url`."""

    def __init__(self, store: Store, public_url: str) -> None:
        self._store, self._base = store, public_url.rstrip("/")

    def write(self, user_id: int, since: datetime, until: datetime) -> Digest | None:
        """Return the digest of a user in the current language; None if there is nothing to say.

        Notices that the user has marked as read are left out.
        """
        read_until = self._store.notices.read_until(user_id)
        notices = [
            notice
            for notice in self._store.notices.of(user_id, max(since, read_until) if read_until else since)
            if notice.at <= until
        ]
        mine = self._store.versions.of_owner(user_id)
        own = self._differences(mine, since, until)
        followed = self._differences(sorted(self._followed(user_id) - set(mine)), since, until)
        sections = [
            (text("Ratings of my bots"), [self._rating_line(difference) for difference in own]),
            (text("Ratings of bots that I follow"), [self._rating_line(difference) for difference in followed]),
        ]
        for kind, heading in _HEADINGS.items():
            lines = [self._notice_line(notice) for notice in notices if notice.kind == kind]
            sections.append((translated(heading), lines))
        parts = [part for heading, lines in sections for part in _section(heading, lines)]
        if not parts:
            return None
        return Digest(headed("Bot arena", _subject(own, notices)), "\n".join(parts))

    def _followed(self, user_id: int) -> set[int]:
        store, versions = self._store, set[int]()
        for item in store.follows.of(user_id):
            if item.kind == "bot":
                versions |= {line.id for line in store.versions.of_bot_named(item.name) if line.state == "active"}
            elif item.kind == "user":
                versions |= set(store.versions.of_owner(store.users.find(item.name).id))
            if len(versions) >= MAX_FOLLOWED_VERSIONS:
                break
        return set(sorted(versions)[-MAX_FOLLOWED_VERSIONS:])

    def _differences(self, version_ids: Sequence[int], since: datetime, until: datetime) -> list[RatingDifference]:
        """Return the changes of ratings within this time, the largest first."""
        history, differences = self._store.rating_history, []
        for pool, ratings in groupby(self._store.ratings.of_versions(version_ids), lambda rating: rating.pool):
            first, last = (history.commit_at(pool, at) for at in (since, until))
            if first == last:
                continue
            for rating in ratings:
                # The latest change before the commit that follows.
                before = history.before(pool, rating.version_id, first + 1)
                after = history.before(pool, rating.version_id, last + 1)
                games = (after.games if after else 0) - (before.games if before else 0)
                if after is None or not games:
                    continue
                old = before.conservative if before else None
                difference = RatingDifference(rating.name, pool, old, after.conservative, games)
                if before is None or abs(difference.points) >= MIN_CHANGE:
                    differences.append(difference)
        return sorted(differences, key=lambda difference: -abs(difference.points))

    def _rating_line(self, difference: RatingDifference) -> str:
        family = difference.pool.partition("/")[0]
        title = translated(load(family).title) if family in families() else family
        values = {
            "name": difference.version,
            "points": language.number(abs(difference.points), 1),
            "before": language.number(difference.before or 0.0, 1),
            "after": language.number(difference.after, 1),
            "games": texts("%(count)s game", "%(count)s games", difference.games) % {"count": difference.games},
            "pool": title if difference.pool == family else difference.pool,
        }
        if difference.before is None:
            sentence = text("%(name)s has a first rating: %(after)s after %(games)s (%(pool)s)")
        elif difference.points > 0:
            sentence = text("%(name)s gained %(points)s: %(before)s → %(after)s in %(games)s (%(pool)s)")
        else:
            sentence = text("%(name)s lost %(points)s: %(before)s → %(after)s in %(games)s (%(pool)s)")
        return f"- {sentence % values}\n  {self._base}/bots/{quote(filters.bot_of(difference.version), safe='')}"

    def _notice_line(self, notice: Notice) -> str:
        detail = f" ({filters.plain(translated(notice.detail), 200)})" if notice.detail else ""
        address = f"{self._base}{PAGES[notice.kind]}{notice.key}"
        return f"- {headed(filters.plain(notice.name, 120), translated(notice.what))}{detail}\n  {address}"


def _section(heading: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield heading
        yield from lines[:MAX_LINES]
        if count := len(lines[MAX_LINES:]):
            yield "- " + texts("and %(count)s more", "and %(count)s more", count) % {"count": count}
        yield ""


def _subject(own: Sequence[RatingDifference], notices: Sequence[Notice]) -> str:
    """Return the best news: what a bot of the user gained, else how many notices there are."""
    best = max(own, key=lambda difference: difference.points, default=None)
    if best is not None and best.before is not None and best.points > 0:
        return text("%(name)s gained %(points)s") % {
            "name": best.version,
            "points": language.number(best.points, 1),
        }
    if notices:
        count = len(notices)
        return texts("%(count)s notification", "%(count)s notifications", count) % {"count": count}
    return text("Ratings changed")
