"""The file of `arena archive export`: games as text or JSON, or a booklet of games and problems."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from arena.cli.terminal import text_input
from arena.cli.terminal.exit import CommandError
from arena.cli.terminal.fields import option
from arena.cli.terminal.printer import output_form

_GROUP = "booklet (-o pdf)"


@dataclass(frozen=True, kw_only=True)
class FileArguments:
    """The file to write, and the options of a booklet."""

    output_file: Path | None = option("write to FILE (default: stdout); FILE.pdf is a booklet", metavar="FILE")
    layout: Literal["text", "presentation"] = option(
        "text: four diagrams to a page; presentation: one (default: text)",
        default="text",
        group=_GROUP,
    )
    language: str = option("language (default: en)", choices=("en", "fr"), default="en", group=_GROUP)
    title: str = option(
        "title of the booklet (default: that of its game, if it has only one)",
        metavar="TEXT",
        default="",
        group=_GROUP,
    )
    problems: str | None = option(
        'problems to append, from "arena problems find -o ndjson"; - for stdin', metavar="FILE", group=_GROUP
    )
    output: str = output_form(
        forms=("text", "json", "ndjson", "pdf"), meanings={"text": "game texts", "pdf": "a booklet of diagrams"}
    )

    @property
    def form(self) -> str:
        """The form of the file, which its ending may name."""
        return "pdf" if self.output_file and self.output_file.suffix.lower() == ".pdf" else self.output

    def check(self) -> None:
        """Raise CommandError for options that contradict each other."""
        if self.form != "pdf":
            if self.title or self.problems or self.layout != "text":
                raise CommandError("--title, --layout and --problems are for a booklet; remove them, or choose -o pdf")
        elif self.output_file is None:
            raise CommandError("a booklet is a file; name it with --output-file FILE.pdf")
        elif self.output not in ("text", "pdf"):
            problem = f"{self.output_file} would be a booklet, not {self.output}"
            raise CommandError(f"{problem}; name another file, or choose -o pdf")

    def booklet(self, records: Sequence[str]) -> bytes:
        """Return a booklet of the games, and of the problems in the file of `--problems`."""
        from arena.pages.drawing.booklet import BookletGame, make_booklet, problem_of
        from referee.game.record import read_record

        games = []
        for text in records:
            tags = json.loads(text).get("tags", {})
            games.append(BookletGame(read_record(text), tags, tags.get("Number", "")))
        lines = text_input.read_text(self.problems).splitlines() if self.problems else []
        problems = [problem_of(json.loads(line)) for line in lines if line.strip()]
        return make_booklet(games, problems, title=self.title, layout=self.layout, language=self.language)
