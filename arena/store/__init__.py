"""All queries of the arena, one module per noun. The database is the truth: a result is in it once, or not at all.

    errors, engine, page, changes    what goes wrong, transactions, cursors, whether anything is new
    users, guesses, known_places     who, and from where
    people                           their games
    bots, versions, presences, checks, samples, usage    what plays
    tournaments, queue, games, results, voids, ratings, rating_history, schedules    what is played, and what follows
    leases, audit, answers, daily_tasks, notices    how the arena is run
    commit, fold, rebuild   how a result becomes part of the arena, and how all ratings follow from results
    archive, archived_game, archive_columns, positions    games of all times, numbered, and found by anything
    analyses                what judges thought of games, and what is to be analysed
    schema, backup          the tables, and all that is in them as a file
    health, sqlite_backup   whether the database is damaged, and copies of its file against that

Synchronous; the web server calls it from threads. What it returns is detached: plain rows. Refuses to know HTTP and
processes.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import event

from arena.data_folder import make_folder
from arena.store.archive.archive import Archive
from arena.store.base import schema
from arena.store.base.changes import Changes
from arena.store.base.engine import Sessions, open_engine
from arena.store.base.errors import (
    BadValueError,
    ConflictError,
    DamagedDatabaseError,
    EmptyDatabaseError,
    LeaseLostError,
    NotFoundError,
    QuotaError,
    SchemaError,
    StoreError,
    StoreUnavailableError,
    TakenError,
)
from arena.store.base.page import Page
from arena.store.bots.bots import Bots
from arena.store.bots.checks import Checks
from arena.store.bots.presences import Presences
from arena.store.bots.samples import Samples
from arena.store.bots.versions import Versions
from arena.store.games.analyses import Analyses
from arena.store.games.games import Games
from arena.store.games.results import Results
from arena.store.games.voids import Voids
from arena.store.operations.answers import Answers
from arena.store.operations.daily_tasks import DailyTasks
from arena.store.operations.leases import Leases
from arena.store.people.audit import AuditLog
from arena.store.people.login_attempts import Guesses
from arena.store.people.notices import Notices
from arena.store.people.trusted_devices import KnownPlaces
from arena.store.people.users import Identity, Users
from arena.store.ratings.rating_history import RatingHistory
from arena.store.ratings.ratings import Ratings
from arena.store.tournaments.human_games import People
from arena.store.tournaments.queue import Queue
from arena.store.tournaments.schedules import Schedules
from arena.store.tournaments.tournaments import Tournaments


class Store:
    """The arena's database: `store.users`, `.guesses`, `.known_places`, `.bots`, `.versions`, `.presences`, `.checks`,
    `.samples`, `.tournaments`, `.queue`, `.games`, `.results`, `.voids`, `.ratings`, `.rating_history`, `.schedules`,
    `.leases`, `.people`, `.audit`, `.answers`, `.daily_tasks`, `.notices`, `.archive`, `.analyses`.

    Opening one touches nothing; `upgrade()` makes or renews the tables, `require()` refuses a foreign schema.
    """

    def __init__(self, url: str) -> None:
        self.engine = open_engine(url)
        self.sessions = Sessions(self.engine)
        self.users = Users(self.sessions)
        self.guesses = Guesses(self.sessions)
        self.known_places = KnownPlaces(self.sessions)
        self.people = People(self.sessions)
        self.bots = Bots(self.sessions)
        self.versions = Versions(self.sessions)
        self.presences = Presences(self.sessions)
        self.checks = Checks(self.sessions)
        self.samples = Samples(self.sessions)
        self.tournaments = Tournaments(self.sessions)
        self.queue = Queue(self.sessions)
        self.games = Games(self.sessions)
        self.results = Results(self.sessions)
        self.voids = Voids(self.sessions)
        self.ratings = Ratings(self.sessions)
        self.rating_history = RatingHistory(self.sessions)
        self.schedules = Schedules(self.sessions)
        self.leases = Leases(self.sessions)
        self.audit = AuditLog(self.sessions)
        self.answers = Answers(self.sessions)
        self.daily_tasks = DailyTasks(self.sessions)
        self.notices = Notices(self.sessions)
        self.archive = Archive(self.sessions)
        self.analyses = Analyses(self.sessions)
        self.changes = Changes(self.sessions)
        self.health = self.sessions.health
        self.reading = self.sessions.reading
        self.writing = self.sessions.writing

    @classmethod
    def in_folder(cls, folder: Path) -> Store:
        """The embedded default: SQLite in a data folder, made if need be. Raises SchemaError for an older schema."""
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
        """Make the tables of a new database, or bring those of an older one up to date; revisions before and after."""
        return schema.upgrade(self.engine)

    def require(self) -> None:
        """Raise SchemaError, naming the command that helps, unless the schema is the program's."""
        schema.require(self.engine)

    def close(self) -> None:
        """Give the connections back; one that somebody still uses is closed when that is done."""
        self.changes.close()
        event.listen(self.engine.pool, "checkin", lambda _, entry: entry.close())
        self.engine.dispose()


def url_in(folder: Path) -> str:
    """The URL of the SQLite database in a data folder."""
    return f"sqlite:///{(folder / 'arena.sqlite3').resolve()}"


__all__ = [
    "BadValueError",
    "ConflictError",
    "DamagedDatabaseError",
    "EmptyDatabaseError",
    "Identity",
    "LeaseLostError",
    "NotFoundError",
    "Page",
    "QuotaError",
    "SchemaError",
    "Store",
    "StoreError",
    "StoreUnavailableError",
    "TakenError",
    "url_in",
]
