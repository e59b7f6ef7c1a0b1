"""Text of strangers on terminals, in logs and on pages: no escapes, no characters that rearrange what stands around."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace

import pytest
import structlog
from markupsafe import Markup

from arena import log
from arena.cli.terminal import output
from arena.documents.table import text_column
from arena.pages import filters
from arena.pages.drawing.replay import Replays
from arena.plain_text import decoded, plain
from referee.rules import load
from tests.arena.analysis.conftest import game_of

EVIL = "a\x1b]0;title\x07b\x1b[2Jc\x9b31md\re\u202ef\u200bg\u2067h"
SHOWN = "a�]0;title�b�[2Jc�31md�e�f�g�h"


class Terminal(io.StringIO):
    """Standard output or error of a process in a terminal."""

    def isatty(self) -> bool:
        return True


@contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """Run a block in a terminal."""
    found = Terminal()
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    with redirect_stdout(found), redirect_stderr(found):
        yield found


def test_plain_replaces_unsafe_characters_and_keeps_lines_and_letters() -> None:
    assert plain(EVIL) == SHOWN
    assert plain("é ½ – ✓\tab\n") == "é ½ – ✓\tab\n"


@pytest.mark.parametrize(
    "show",
    [
        output.text,
        output.note,
        output.error,
        lambda text: output.table([text_column("name", "name", str)], [text]),
        lambda text: output.csv([{"name": text}]),
        lambda text: output.progress(text, is_last=True),
    ],
    ids=["text", "note", "error", "table", "csv", "progress"],
)
def test_terminal_gets_no_escapes_of_strangers(show: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal(monkeypatch) as screen:
        show(EVIL)
    shown = screen.getvalue().replace("\r\x1b[K", "").replace("\r\n", "\n")
    assert SHOWN in shown
    assert not {"\x07", "\x9b", "\r", "\u202e"} & set(shown)
    assert "\x1b]" not in shown
    assert "\x1b[2J" not in shown


def test_terminal_gets_the_styles_of_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal(monkeypatch) as screen:
        line = f"{output.styled('won', 'bold', 'green')} and {output.styled('lost', 'red')}"
        output.text(line)
    assert "\x1b[1;32mwon\x1b[0m" in line
    assert screen.getvalue().endswith(f"{line}\n")


def test_json_on_a_terminal_is_the_same_with_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal(monkeypatch) as screen:
        output.document({"log": EVIL})
        output.item({"log": EVIL})
    assert not {"\x1b", "\x07", "\x9b", "\r", "\u202e"} & set(screen.getvalue())
    document, item = screen.getvalue().rstrip("\n").rsplit("\n", 1)
    assert json.loads(document)["log"] == json.loads(item)["log"] == EVIL


def test_programs_get_text_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    output.text(EVIL)
    assert capsys.readouterr().out == f"{EVIL}\n"


def test_log_on_a_terminal_has_no_escapes_of_strangers(monkeypatch: pytest.MonkeyPatch) -> None:
    configured = structlog.get_config()
    with terminal(monkeypatch) as screen:
        try:
            log.configure("text")
            log.logger("web").info("request", path=f"/{EVIL}")
        finally:
            structlog.configure(**configured)
    assert f"/{SHOWN}" in screen.getvalue()
    assert not {"\x07", "\x9b", "\r", "\u202e"} & set(screen.getvalue())


def test_whatever_a_template_shows_is_plain_except_markup_and_line_ends() -> None:
    assert filters.finalize(EVIL) == SHOWN.replace("md�e", "md\re")
    assert filters.finalize("a\r\nb") == "a\r\nb"
    assert filters.finalize(Markup("<b>\u200b</b>")) == Markup("<b>\u200b</b>")
    assert filters.finalize(5) == 5


def test_comments_of_imported_games_are_plain_in_the_viewer() -> None:
    record = game_of(load("loa").settle(), 1)
    scene = Replays().of_record(replace(record, comments={1: EVIL}, marks={1: "!\u202e"})).scenes[1]
    assert scene.said.endswith(f" – {SHOWN}")
    assert scene.annotation == "!�"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_of_windows_is_decoded(encoding: str) -> None:
    assert decoded("1. b1b3 {é}\r\n".encode(encoding)) == "1. b1b3 {é}\r\n"


def test_bytes_of_another_kind_are_no_text() -> None:
    with pytest.raises(UnicodeDecodeError):
        decoded(b"\x89PNG\xff")
