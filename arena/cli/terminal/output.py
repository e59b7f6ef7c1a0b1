"""All printing: results to stdout, notes and progress to stderr, colour and progress only on a terminal.

The commands that notes and errors name are completed, so that they work as they are copied: with the arena of this one.
A message is worded deep in the store, or by a server: neither knows the command line that runs.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Mapping
from typing import IO, Any, Literal, TypeAlias, TypeVar

from arena.documents.table import Column
from arena.plain_text import UNSAFE

_COMMAND = re.compile(r"`arena ([^`\n]+)`")
PLACES = ("data", "config", "database", "server")
"""Options that choose an arena."""


class PrintedCommands:
    """Completes commands by the options that choose the arena of the command line that runs."""

    def __init__(self, chosen: Mapping[str, str]) -> None:
        self._chosen = chosen

    def completed(self, message: str) -> str:
        """Return a message in which every command names the arena, unless it names one."""
        return (
            _COMMAND.sub(lambda command: f"`arena {self._complete(command[1])}`", message) if self._chosen else message
        )

    def _complete(self, line: str) -> str:
        try:
            words = shlex.split(line)
        except ValueError:  # a quotation that a text cut
            return line
        known = options_of(words)
        if {f"--{name}" for name in PLACES} & {word.partition("=")[0] for word in words} or "--help" in words:
            return line
        head, separator, rest = re.split(r"( > | \| |$)", line, maxsplit=1)
        more = "".join(
            f" --{name} {shlex.quote(value)}" for name, value in self._chosen.items() if f"--{name}" in known
        )
        return f"{head}{more}{separator}{rest}"


def options_of(words: list[str]) -> set[str]:
    """Return the options of the command that `words` begin with; none for an unknown one."""
    from arena.cli.terminal.commands import every
    from arena.cli.terminal.parser import build

    parser = build(next((command for command in every() if [command.name] == words[:1]), None))
    for word in words:
        parser.fill()
        if parser._actions_of is None or word not in parser._actions_of.choices:
            break
        parser = parser._actions_of.choices[word]
    parser.fill()
    return set(parser._option_string_actions)


R = TypeVar("R")

Style: TypeAlias = Literal["bold", "dim", "red", "green", "yellow", "blue", "magenta", "cyan"]

_CODES: Mapping[Style, int] = {
    "bold": 1,
    "dim": 2,
    "red": 31,
    "green": 32,
    "yellow": 33,
    "blue": 34,
    "magenta": 35,
    "cyan": 36,
}
SPEAKS_AFTER_S = 5.0
"""How long a wait may be silent."""
SCHEMA = 1
"""Of the JSON documents of all commands: raised when a key of one changes its meaning or goes, not for a new key."""

_OWN = "|".join(map(str, (0, *_CODES.values())))
_FOREIGN = re.compile(rf"\x1b\[(?:{_OWN})(?:;(?:{_OWN}))*m|[{UNSAFE}]")
"""A style of `styled`, or a character that a terminal must not get from a stranger."""
_STYLE = re.compile(r"\x1b\[[0-9;]*m")

_quiet = False
_is_plain = False
_commands = PrintedCommands({})
_is_line_open = False
"""True while a line of progress is on the terminal."""


def be_quiet(is_quiet: bool) -> None:
    """Suppress `note` and `progress` from now on, or restore them."""
    global _quiet  # noqa: PLW0603 - one process is one command
    _quiet = is_quiet


def be_plain(is_plain: bool) -> None:
    """Print plain text from now on, also on a terminal: no colour, and tables as in files."""
    global _is_plain  # noqa: PLW0603 - one process is one command
    _is_plain = is_plain


def name_place(chosen: Mapping[str, str]) -> None:
    """Complete the commands in notes and errors by these options from now on."""
    global _commands  # noqa: PLW0603 - one process is one command
    _commands = PrintedCommands(chosen)


def has_colour(stream: IO[str]) -> bool:
    """Return whether a stream takes colour: a terminal, without NO_COLOR (https://no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


def styled(words: str, *styles: Style, stream: IO[str] | None = None) -> str:
    """Format `words` in these styles if stdout (or `stream`) takes colour."""
    if not styles or not has_colour(stream or sys.stdout) or (_is_plain and stream is None):
        return words
    return f"\x1b[{';'.join(str(_CODES[style]) for style in styles)}m{words}\x1b[0m"


def text(*lines: str) -> None:
    """Print lines for people on stdout."""
    _take_line_away()
    for line in lines:
        print(_wrapped(_shown(line)))


def _shown(line: str, stream: IO[str] | None = None) -> str:
    """Return a line for stdout (or `stream`): on a terminal, without unsafe characters of other people's texts."""
    if not (stream or sys.stdout).isatty():
        return line
    return _FOREIGN.sub(lambda found: found[0] if len(found[0]) > 1 else "\N{REPLACEMENT CHARACTER}", line)


def _wrapped(line: str, stream: IO[str] | None = None) -> str:
    """Return a text for stdout (or `stream`): on a terminal, with breaks between words in lines that are too long."""
    if _is_plain or not (stream or sys.stdout).isatty():
        return line
    most = shutil.get_terminal_size((80, 24)).columns
    return "\n".join(
        part
        if len(_STYLE.sub("", part)) <= most  # as it is: a line of a drawn board has more styles than squares
        else "\n".join(textwrap.wrap(part, most, break_long_words=False, break_on_hyphens=False))
        for part in line.split("\n")
    )


def _escaped(json_text: str) -> str:
    """Return the JSON text; for a terminal, with unsafe characters escaped."""
    if not sys.stdout.isatty():
        return json_text
    return re.sub(f"[{UNSAFE}]", lambda found: f"\\u{ord(found[0]):04x}", json_text)


def document(data: Mapping[str, Any]) -> None:
    """Print the JSON document of `--json` with its schema: indented on a terminal, else compact."""
    _take_line_away()
    indent = 2 if sys.stdout.isatty() else None
    print(_escaped(json.dumps({"schema": SCHEMA, **data}, indent=indent, ensure_ascii=False)))


def item(data: Any) -> None:
    """Print one line of NDJSON, flushed at once."""
    _take_line_away()
    print(_escaped(json.dumps(data, separators=(",", ":"), ensure_ascii=False)), flush=True)


def csv(items: Iterable[Mapping[str, Any]]) -> None:
    """Print items as CSV with a column for each key of the first one."""
    from referee.csv_text import lines as csv_lines

    _take_line_away()
    for line in csv_lines(items):
        print(_shown(line.removesuffix("\r\n")), end="\r\n")


def note(*lines: str) -> None:
    """Print lines on stderr; nothing with `--quiet`."""
    if not _quiet:
        _begin_line()
        for line in map(_commands.completed, lines):
            print(_wrapped(_shown(line, sys.stderr), sys.stderr), file=sys.stderr, flush=True)


def error(message: str, *, is_fault: bool = True) -> None:
    """Print an error on stderr, in one line unless a terminal is narrower: what is wrong, where, and what to do."""
    _begin_line()
    head = "error: " if is_fault else ""
    lines = _wrapped(f"{head}{_shown(_commands.completed(message), sys.stderr)}", sys.stderr)
    shown = styled(head.strip(), "bold", "red", stream=sys.stderr) + lines.removeprefix(head.strip())
    print(shown if is_fault else lines, file=sys.stderr, flush=True)


def trace(fault: BaseException) -> None:
    """Print the traceback of an error on stderr."""
    import traceback

    traceback.print_exception(fault)


def progress(line: str, *, is_last: bool = False) -> None:
    """Rewrite the line of progress on stderr, cut to the width of the terminal; without a terminal do nothing.

    Whatever is printed next replaces the line, unless `is_last` is set.
    """
    global _is_line_open  # noqa: PLW0603 - there is one terminal
    if not _quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":  # that one cannot erase a line
        most = shutil.get_terminal_size((80, 24)).columns - 1
        kept = line if len(line) <= most else f"{line[: most - 1]}…"
        print(f"\r\x1b[K{_shown(kept, sys.stderr)}", end="\n" if is_last else "", file=sys.stderr, flush=True)
        _is_line_open = not is_last


def _take_line_away() -> None:
    """Erase the line of progress, so that another line can take its place."""
    global _is_line_open  # noqa: PLW0603 - there is one terminal
    if _is_line_open:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        _is_line_open = False


def _begin_line() -> None:
    # In a file of both streams it would be in the middle of a line, wherever the buffer of stdout was last full.
    with contextlib.suppress(OSError):  # a full disk or a reader who has gone is reported at the end
        sys.stdout.flush()
    _take_line_away()


def width() -> int:
    """Return the width of running text: that of the terminal, at most 100."""
    return min(100, shutil.get_terminal_size((100, 24)).columns) if sys.stdout.isatty() else 100


def table(columns: Iterable[Column[R]], rows: Iterable[R]) -> None:
    """Print a table on stdout.

    On a terminal it fits the window. In files, in pipes and as plain text each row is one line with all its columns.
    """
    from arena.cli.terminal.table import Table

    _take_line_away()
    shown = Table.of(columns, rows)
    safe = Table(shown.columns, [[_shown(cell) for cell in row] for row in shown.rows])
    if sys.stdout.isatty() and not _is_plain:
        safe.print_fitted(sys.stdout, shutil.get_terminal_size((80, 24)).columns, has_colour=has_colour(sys.stdout))
    else:
        text(*safe.plain_lines())


class RunProgress:
    """The pace of a run since this object was made with `done` of `total` games finished. `clock` returns seconds."""

    def __init__(self, done: int, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._before, self._total, self._clock = done, total, clock
        self._begin = clock()

    def line(self, done: int, *, may_end_early: bool = False) -> str:
        """Format the progress: `12/400 games, 35 a minute, 11 min left`; before the first game only the count."""
        count = f"{done:,}/{self._total:,} games"
        played, seconds = done - self._before, self._clock() - self._begin
        if played <= 0 or seconds <= 0:
            return count
        per_minute = 60 * played / seconds
        pace = f"{per_minute:,.0f}" if per_minute >= 10 else f"{per_minute:.1f}"
        left = in_words(seconds * (self._total - done) / played)
        return f"{count}, {pace} a minute, {'at most ' if may_end_early else ''}{left} left"


def in_words(seconds: float) -> str:
    """Format a duration in its two largest units at most: `40 s`, `11 min`, `2 h 5 min`, `3 d 4 h`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    days, hours = divmod(hours, 24)
    return f"{days:,} d {hours} h"
