"""For developers: write the next revision from what the models have and the revisions so far do not.

python -m arena.migrations "Bots have colours"

Without any revision it writes the first one, of all tables.
"""

from __future__ import annotations

import sys
import tempfile

from alembic import command

from arena.store.base import schema
from arena.store.base.engine import open_engine


def main(message: str) -> None:
    """Bring an empty database to the newest revision, compare it with the models, write what differs."""
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
