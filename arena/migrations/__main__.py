"""Developer tool: write the next revision from the differences between the models and the existing revisions.

python -m arena.migrations "Add a colour to bots"

Without any revision it writes the first one, with all tables.
"""

from __future__ import annotations

import sys
import tempfile

from alembic import command

from arena.store.base import schema
from arena.store.base.engine import open_engine


def main(message: str) -> None:
    """Upgrade an empty database to the newest revision, compare it with the models, write the differences."""
    with tempfile.TemporaryDirectory() as folder:
        engine = open_engine(f"sqlite:///{folder}/empty.sqlite3")
        if schema.revisions():
            schema.upgrade(engine)
        number = str(schema.FIRST + len(schema.revisions()))
        with schema.alone(engine) as connection:
            command.revision(schema.config(connection), message=message, autogenerate=True, rev_id=number)
        engine.dispose()


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]) or "A change")
