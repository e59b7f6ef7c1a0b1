"""Whether the database is damaged: found out by whoever meets it, known from then on to every process of the machine.

What was found stands in a file beside the database of SQLite. A damaged database is read as far as that goes, and
written no more: what is written from now on would be lost with it. Refuses to know any table.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sqlalchemy import Engine

from arena.log import logger
from arena.store.base.errors import DamagedDatabaseError, StoreUnavailableError, is_damage

_MOST = 5
"""Problems that are told of one check."""


class Health:
    """Of one database, as one process knows it. Damage that was found stays until the process is started again."""

    def __init__(self, engine: Engine) -> None:
        is_file = engine.dialect.name == "sqlite" and engine.url.database
        self.file = Path(str(engine.url.database)) if is_file else None
        """The file of SQLite; None for a database server, which looks after itself."""
        self._found = ""

    @property
    def damage(self) -> str:
        """What is wrong with the database; empty when nothing is known to be. Raises StoreUnavailableError."""
        if not self._found and self.file is not None and mark_of(self.file).exists():
            self.check()  # what another process has found, or what was found before a restart: is it still so?
        return self._found

    def require_sound(self) -> None:
        """Raise DamagedDatabaseError, naming the command that helps, when damage is known."""
        if problem := self.damage:
            raise DamagedDatabaseError(problem)

    def note(self, problem: str) -> None:
        """Damage was met. It is logged once."""
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
        """Look through the whole file, in minutes when it is large; what is wrong, empty when it is sound.

        Nothing is looked through at a database server. Raises StoreUnavailableError where the file cannot be read now.
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
    """Where it stands that a database is damaged."""
    return file.with_name(f"{file.name}.damage")


def problem_of(file: Path) -> str:
    """What SQLite's own check says of a file; empty when it is sound. Raises StoreUnavailableError."""
    try:
        connection = sqlite3.connect(file, timeout=5)
        try:
            lines = [str(line) for (line,) in connection.execute(f"PRAGMA quick_check({_MOST})")]
        finally:
            connection.close()
    except sqlite3.Error as error:
        if not is_damage(error):
            raise StoreUnavailableError(f"{file} cannot be checked now: {error}") from error
        return str(error)
    return "" if lines == ["ok"] else "; ".join(" ".join(line.split()) for line in lines)[:500]
