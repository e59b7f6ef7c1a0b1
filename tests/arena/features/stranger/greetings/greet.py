"""`arena greet TEXT`: greet the arena of a data folder."""

from contextlib import closing
from dataclasses import dataclass

from arena.cli.source.database import DatabaseArguments, open_store
from arena.cli.terminal.fields import positional
from greetings import tables


@dataclass(frozen=True, kw_only=True)
class GreetArguments(DatabaseArguments):
    text: str = positional("words of the greeting", "TEXT")


def run(arguments: GreetArguments) -> int:
    with closing(open_store(arguments.read())) as store:
        tables.add(store, arguments.text)
    return 0
