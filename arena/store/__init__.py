"""All database queries of the arena. A result is stored exactly once or not at all.

    base            engine, transactions, errors, tables, cursors, change detection, schema
    people          users, sessions, tokens and links, log-in attempts, trusted devices, follows, notices, audit log
    bots            bots, versions, checks, samples, presences of remote bots
    tournaments     tournaments, entries, schedules, the queue of games, games against people
    ratings         ratings, their history, the fold that computes them, and rebuilds
    games           results, their counts, records, commits, undoing, voids, analyses
    archive         the index of all games: imports, search, positions, explorer
    operations      lease, daily tasks, idempotent responses, backups

Calls are synchronous; the web server makes them from threads. Returned rows are detached from the session.
"""

from __future__ import annotations

from pathlib import Path

from arena import feature
from arena.data_folder import make_folder
from arena.store.archive.archive import Archive
from arena.store.archive.entry import Imports
from arena.store.base import schema
from arena.store.base.engine import Changes, Sessions, close_all, open_engine
from arena.store.bots.bots import Bots, Presences, Samples
from arena.store.bots.checks import VersionChecks
from arena.store.bots.versions import Versions
from arena.store.games.analyses import Analyses
from arena.store.games.counts import Counts
from arena.store.games.games import Games
from arena.store.games.results import Results
from arena.store.games.voids import Voids
from arena.store.operations.daily_tasks import DailyTasks
from arena.store.operations.idempotent_responses import IdempotentResponses
from arena.store.operations.leases import Leases
from arena.store.people.audit import AuditLog
from arena.store.people.login_attempts import LoginAttempts, TrustedDevices
from arena.store.people.notices import Follows, Notices
from arena.store.people.users import AccountLinks, Users
from arena.store.ratings.rating_history import RatingHistory
from arena.store.ratings.ratings import Ratings
from arena.store.tournaments.human_games import People
from arena.store.tournaments.queue import Queue
from arena.store.tournaments.schedules import Schedules
from arena.store.tournaments.tournaments import Tournaments


class Store:
    """The arena's database, with one attribute for each kind of data, such as `store.users` and `store.games`.

    Creating a `Store` does not touch the database. `upgrade()` creates or upgrades the tables, `require()` rejects
    another schema.
    """

    def __init__(self, url: str) -> None:
        feature.load_tables()
        self.url, self.engine = url, open_engine(url)
        self.sessions = Sessions(self.engine)
        self.users = Users(self.sessions)
        self.account_links = AccountLinks(self.sessions)
        self.login_attempts = LoginAttempts(self.sessions)
        self.trusted_devices = TrustedDevices(self.sessions)
        self.follows = Follows(self.sessions)
        self.people = People(self.sessions)
        self.bots = Bots(self.sessions)
        self.versions = Versions(self.sessions)
        self.presences = Presences(self.sessions)
        self.checks = VersionChecks(self.sessions)
        self.samples = Samples(self.sessions)
        self.tournaments = Tournaments(self.sessions)
        self.queue = Queue(self.sessions)
        self.games = Games(self.sessions)
        self.results = Results(self.sessions)
        self.counts = Counts(self.sessions)
        self.voids = Voids(self.sessions)
        self.ratings = Ratings(self.sessions)
        self.rating_history = RatingHistory(self.sessions)
        self.schedules = Schedules(self.sessions)
        self.leases = Leases(self.sessions)
        self.audit = AuditLog(self.sessions)
        self.idempotent_responses = IdempotentResponses(self.sessions)
        self.daily_tasks = DailyTasks(self.sessions)
        self.notices = Notices(self.sessions)
        self.archive = Archive(self.sessions)
        self.imports = Imports(self.sessions)
        self.analyses = Analyses(self.sessions)
        self.changes = Changes(self.sessions)
        self.health = self.sessions.health
        self.reading = self.sessions.reading
        self.writing = self.sessions.writing

    @classmethod
    def in_folder(cls, folder: Path) -> Store:
        """Open the SQLite database of a data folder, created if missing. Raises SchemaError for an older schema."""
        make_folder(folder, is_passage=True)
        store = cls(url_in(folder))
        try:
            if schema.is_fresh(store.engine):
                store.upgrade()
            store.require()
        except Exception:
            store.close()
            raise
        return store

    def upgrade(self) -> tuple[str | None, str]:
        """Create the tables of a new database or upgrade older ones; return the revisions before and after."""
        return schema.upgrade(self.engine)

    def require(self) -> None:
        """Raise SchemaError, naming the command that helps, unless the database has the program's schema."""
        schema.require(self.engine)

    def require_writable(self) -> None:
        """Raise StorageError for a read-only database, StoreUnavailableError for one that is locked or unreachable."""
        self.sessions.require_writable()

    def close(self) -> None:
        """Close all connections; one in use is closed when its transaction ends."""
        self.changes.close()
        close_all(self.engine)


def url_in(folder: Path) -> str:
    """Return the URL of the SQLite database in a data folder."""
    return f"sqlite:///{(folder / 'arena.sqlite3').resolve()}"


__all__ = ["Store", "url_in"]
