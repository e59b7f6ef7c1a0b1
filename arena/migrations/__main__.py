"""Developer tool: write the next revision from the differences between the models and the existing revisions.

python -m arena.migrations "Add a colour to bots"
python -m arena.migrations --feature greetings "Add a date to greetings"

Without any revision it writes the first one, with all tables of the core or of the feature.
"""

from __future__ import annotations

import argparse
import tempfile

from alembic import command

from arena.store import Store
from arena.store.base import schema


def main(message: str, name: str = "") -> None:
    """Upgrade an empty database to the newest revision, compare it with the models, write the differences."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(f"sqlite:///{folder}/empty.sqlite3")
        (chain,) = (chain for chain in (schema.CORE, *schema.of_features()) if chain.name == name)
        if schema.revisions():
            store.upgrade()
        number = str((1 if name else schema.FIRST) + len(schema.revisions(chain))).zfill(4)
        with schema.alone(store.engine) as connection:
            command.revision(schema.config(connection, chain), message=message, autogenerate=True, rev_id=number)
        store.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--feature", default="")
    parser.add_argument("message", nargs="?", default="A change")
    arguments = parser.parse_args()
    main(arguments.message, arguments.feature)
