"""All printing: results to stdout, notes and progress to stderr, colour and progress only on a terminal."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any, Literal, TypeAlias

from arena.plain_text import UNSAFE

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
SCHEMA = 1
"""Of the JSON documents of all commands: raised when a key of one changes its meaning or goes, not for a new key."""

_OWN = "|".join(map(str, (0, *_CODES.values())))
_FOREIGN = re.compile(rf"\x1b\[(?:{_OWN})(?:;(?:{_OWN}))*m|[{UNSAFE}]")
"""A style of `styled`, or a character that a terminal must not get from a stranger."""

_quiet = False
_is_plain = False
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
        print(_shown(line))


def _shown(line: str, stream: IO[str] | None = None) -> str:
    """Return a line for stdout (or `stream`): on a terminal, without unsafe characters of other people's texts."""
    if not (stream or sys.stdout).isatty():
        return line
    return _FOREIGN.sub(lambda found: found[0] if len(found[0]) > 1 else "\N{REPLACEMENT CHARACTER}", line)


def _escaped(json_text: str) -> str:
    """Return the JSON text; for a terminal, with unsafe characters escaped."""
    if not sys.stdout.isatty():
        return json_text
    return re.sub(f"[{UNSAFE}]", lambda found: f"\\u{ord(found[0]):04x}", json_text)


def document(data: Mapping[str, Any]) -> None:
    """Print the JSON document of `--json` with its schema: indented on a terminal, else compact."""
    indent = 2 if sys.stdout.isatty() else None
    print(_escaped(json.dumps({"schema": SCHEMA, **data}, indent=indent, ensure_ascii=False)))


def item(data: Any) -> None:
    """Print one line of NDJSON, flushed at once."""
    print(_escaped(json.dumps(data, separators=(",", ":"), ensure_ascii=False)), flush=True)


def csv(items: Iterable[Mapping[str, Any]], columns: Sequence[str] = ()) -> None:
    """Print items as CSV with a column for each key of the first one, or for each of `columns`."""
    from arena.csv_text import lines as csv_lines

    for line in csv_lines(items, columns):
        print(_shown(line.removesuffix("\r\n")), end="\r\n")


def note(*lines: str) -> None:
    """Print lines on stderr; nothing with `--quiet`."""
    if not _quiet:
        _take_line_away()
        for line in lines:
            print(_shown(line, sys.stderr), file=sys.stderr, flush=True)


def error(message: str, *, is_fault: bool = True) -> None:
    """Print an error on stderr in one line: what is wrong, where, and what to do."""
    _take_line_away()
    head = styled("error:", "bold", "red", stream=sys.stderr) + " " if is_fault else ""
    print(f"{head}{_shown(message, sys.stderr)}", file=sys.stderr, flush=True)


def trace(fault: BaseException) -> None:
    """Print the traceback of an error on stderr."""
    import traceback

    traceback.print_exception(fault)


def progress(line: str, *, is_last: bool = False) -> None:
    """Rewrite the line of progress on stderr, cut to the width of the terminal; without a terminal do nothing.

    Whatever is printed next replaces the line, unless `is_last` is set.
    """
    global _is_line_open  # noqa: PLW0603 - there is one terminal
    if not _quiet and sys.stderr.isatty():
        kept = line[: shutil.get_terminal_size((80, 24)).columns - 1]
        print(f"\r\x1b[K{_shown(kept, sys.stderr)}", end="\n" if is_last else "", file=sys.stderr, flush=True)
        _is_line_open = not is_last


def _take_line_away() -> None:
    """Erase the line of progress, so that another line can take its place."""
    global _is_line_open  # noqa: PLW0603 - there is one terminal
    if _is_line_open:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        _is_line_open = False


def width() -> int:
    """Return the width of running text: that of the terminal, at most 100."""
    return min(100, shutil.get_terminal_size((100, 24)).columns) if sys.stdout.isatty() else 100


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: Sequence[str] = (),
    drop: Sequence[str] = (),
    wrap: Sequence[str] = (),
) -> None:
    """Print a table on stdout; see `Table` for `numbers`, `drop` and `wrap`.

    On a terminal it fits the window. In files, in pipes and as plain text each row is one line with all its columns.
    """
    from arena.cli.terminal.table import Table

    _take_line_away()
    found = Table(
        tuple(columns), [tuple(map(_shown, row)) for row in rows], frozenset(numbers), tuple(drop), frozenset(wrap)
    )
    if sys.stdout.isatty() and not _is_plain:
        columns_here = shutil.get_terminal_size((80, 24)).columns
        found.print_fitted(sys.stdout, columns_here, has_colour=has_colour(sys.stdout))
    else:
        text(*found.plain_lines())
