"""Damage detection: a process that finds the database damaged creates a mark that every process of the machine sees.

The mark is a file next to the SQLite database. A damaged database may still be read, but not written: new data would be
lost with it.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sqlalchemy import Engine

from arena.errors import DamagedDatabaseError, StoreUnavailableError
from arena.log import logger
from arena.store.base.errors import is_damage

_MAX_PROBLEMS = 5
"""Maximum number of problems reported by one check."""


class Health:
    """The health of one database as known to this process, which remembers damage until it restarts."""

    def __init__(self, engine: Engine) -> None:
        is_file = engine.dialect.name == "sqlite" and engine.url.database
        self.file = Path(str(engine.url.database)) if is_file else None
        """The SQLite file; None for a database server, which detects damage itself."""
        self._found = ""

    @property
    def damage(self) -> str:
        """The known damage; empty if the database is sound. Raises StoreUnavailableError."""
        if not self._found and self.file is not None and mark_of(self.file).exists():
            self.check()  # another process, or this one before a restart, has found damage: check whether it persists
        return self._found

    def require_sound(self) -> None:
        """Raise DamagedDatabaseError, naming the command that helps, if damage is known."""
        if problem := self.damage:
            raise DamagedDatabaseError(problem)

    def note(self, problem: str) -> None:
        """Record damage and log it once."""
        if self._found:
            return
        self._found = problem
        logger("store").error("database damaged", problem=problem, hint=DamagedDatabaseError(problem).hint)
        if self.file is not None:
            try:
                mark_of(self.file).write_text(f"{problem}\n", encoding="utf-8")
            except OSError as error:
                logger("store").error("damage not marked", error=str(error))

    def check(self) -> str:
        """Check the whole file, which takes minutes if it is large; return the damage, empty if it is sound.

        Does nothing for a database server. Raises StoreUnavailableError if the file cannot be read now.
        """
        if self.file is None:
            return ""
        problem = problem_of(self.file)
        if problem:
            self.note(problem)
        else:
            mark_of(self.file).unlink(missing_ok=True)
        return problem


def mark_of(file: Path) -> Path:
    """Return the path of the file that marks a database as damaged."""
    return file.with_name(f"{file.name}.damage")


def problem_of(file: Path) -> str:
    """Return the problems that SQLite's own check reports; empty if the file is sound. Raises StoreUnavailableError."""
    try:
        connection = sqlite3.connect(file, timeout=5)
        try:
            lines = [str(line) for (line,) in connection.execute(f"PRAGMA quick_check({_MAX_PROBLEMS})")]
        finally:
            connection.close()
    except sqlite3.Error as error:
        if not is_damage(error):
            raise StoreUnavailableError(f"cannot check {file} now: {error}") from error
        return str(error)
    return "" if lines == ["ok"] else "; ".join(" ".join(line.split()) for line in lines)[:500]
