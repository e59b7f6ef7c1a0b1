"""`arena new-bot`: write a small bot in a programming language, ready to check and to play."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError
from arena.cli.terminal.fields import positional
from arena.submission.template import LANGUAGES, mode_of, template_files
from referee.rules import families, load


@dataclass(frozen=True, kw_only=True)
class NewBotArguments:
    language: str = positional(", ".join(LANGUAGES), "LANGUAGE", choices=tuple(LANGUAGES))
    family: str = positional(", ".join(families()), "FAMILY", type=argument.family, choices=families())
    folder: Path = positional("new or empty folder to write (default my-bot)", "DIR", default=Path("my-bot"))


def run(arguments: NewBotArguments) -> None:
    """Write the files of the bot and print what to do next; write nothing into a folder that is not empty."""
    family, folder = arguments.family, arguments.folder
    if folder.is_dir() and any(folder.iterdir()):
        raise CommandError(f"{folder} is not empty; choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in template_files(arguments.language, family).items():
        path = folder / name
        path.write_bytes(data)
        path.chmod(mode_of(data))
    words = shlex.quote(str(folder))
    output.text(
        f"created {folder}: a bot in {LANGUAGES[arguments.language]} that plays {load(family).title}; next:",
        f"  make -C {words} test",
        f"  arena play {words} sample:random --family {family} --games 2",
        "the counts for a move generator of your own:",
        f"  arena perft {family} --depth 3 --divide",
    )
