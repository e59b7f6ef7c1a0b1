"""Every text of every page comes from the catalogue: pages are rendered in a language that brackets all its messages.

What stands outside of brackets must be data: names, numbers, moves, code.
"""

from __future__ import annotations

import calendar
import gettext
import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from babel import Locale

from arena.feature import installed
from arena.pages import language
from arena.submission.template import LANGUAGES
from referee.rules import families, load
from tests import catalogue
from tests.arena.pages.addresses import kinds, private
from tests.arena.pages.conftest import Site
from tests.arena.pages.stage import HOSTILE, NAMES, ODD_NAME

MARKED = "xx"
CODE = ("code", "pre", "script", "style", "bdi", "time", "kbd", "textarea", "datalist")
READ_ALOUD = ("alt", "aria-label", "placeholder", "title")
DATA = re.compile(
    r"""
    [^\W_]*\d[\w-]*             # numbers, moves, cells, versions, digests
    | [\w.-]+\.(?:toml|json|zip|csv|dk|org|com|club|sha256)
    | \w{1,2}                    # units, letters of pieces
    | [½0-9]+-[½0-9]+ | x+ | z+ | (?:cd)+ | \w+-[0-9a-f]{8}
    | UTC | Elo | min | GiB | KiB | MiB | TrueSkill | Java | JavaScript | Rust | Europe | Paris
    | JSON | CSV | Bot | arena | Python | English | Français
    """,
    re.VERBOSE,
)
"""A word that no catalogue holds."""
NOT_YET = re.compile(
    r"/\w+/(rules|protocol)$|/(archive|explore|games|play|problems|embed)(/|$|\?)|/\w+/(board|explorer|problems)(/|$|\?)"
)
"""Pages whose texts are not all marked."""


class _Marking(gettext.NullTranslations):
    """A catalogue that brackets its messages."""

    def gettext(self, message: str) -> str:
        return f"⟦{message}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return f"⟦{msgid1 if n == 1 else msgid2}⟧"


def _bracketed(words: dict[str, str]) -> dict[str, str]:
    return {one: "⟦" + one + "⟧" for one in words}


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Add a language that brackets its messages."""
    known = {message.id: message.id for message in catalogue.template() if isinstance(message.id, str) and message.id}
    plain = language.catalogue
    monkeypatch.setattr(language, "LANGUAGES", {**language.LANGUAGES, MARKED: MARKED})
    monkeypatch.setattr(language, "catalogue", lambda code: _Marking() if code == MARKED else plain(code))
    messages = _bracketed({**language.family_words("fr"), **known})
    monkeypatch.setattr(language, "_messages", lambda code: messages)
    monkeypatch.setattr(language, "_locale_of", lambda code: Locale.parse("en" if code == MARKED else code))
    language._patterns.cache_clear()
    language._translated.cache_clear()
    yield
    language._patterns.cache_clear()
    language._translated.cache_clear()


class _Texts(HTMLParser):
    """The texts of a page outside of code and of names."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.data: list[str] = []
        self._skipped: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        is_data = tag in CODE or given.get("lang") == "en" or "mono" in (given.get("class") or "").split()
        if self._skipped or is_data:
            if tag not in ("br", "img", "input", "link", "meta", "hr", "use", "path"):
                self._skipped.append(tag)
            return
        self.found += [value for name, value in attrs if name in READ_ALOUD and value]

    def handle_endtag(self, tag: str) -> None:
        if self._skipped and tag in self._skipped:
            while self._skipped.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self.data.append(data)


def loose(text: str) -> set[str]:
    """Return the words of a page that are neither bracketed nor data."""
    parser = _Texts()
    parser.feed(text)
    words = set()
    for piece in ("\n".join(parser.data), *parser.found):  # a message with markup spans several nodes
        previous = ""
        while previous != piece:
            previous, piece = piece, re.sub(r"⟦[^⟦⟧]*⟧", " ", piece)
        words |= {word.strip(".-_'’") for word in re.findall(r"[^\W\d_][\w.’'-]*", piece)}
    return {word for word in words if word and not DATA.fullmatch(word)}


@pytest.fixture
def paths(site: Site) -> list[str]:
    """A page of each kind, found before a test changes the languages: other tests see the same pages."""
    return [*kinds(site), *private(site)]


def test_pages_consist_of_messages_and_data(site: Site, paths: list[str], marked: None) -> None:
    names = {*NAMES, *families(), "zoe", "greedy", "random", *calendar.day_abbr, *calendar.month_abbr}
    for text in (
        HOSTILE,
        ODD_NAME,
        "Fridays",
        "Baroque chess cup",
        "a sample bot",
        "the bot ada",  # the description of an author
        "answer ugiok starts handshake",
        "bwrap landlock rlimits none local referee",  # the sandbox that this machine offers
        "Book",
        "bot-arena",
        *(entry.name for entry in installed()),
        *LANGUAGES.values(),
    ):
        names |= {word.strip(".-_'’") for word in re.findall(r"[^\W\d_][\w.’'-]*", text)}
    for family in families():
        rules = load(family)
        names |= {part for variant in rules.variants for part in re.findall(r"[\w-]+", variant.name)}
    faults = {}
    for path in paths:
        if NOT_YET.search(path):
            continue
        reply = site.server.get(path, headers={"Accept-Language": MARKED})
        assert reply.status < 500, path
        if left := loose(reply.body.decode()) - names:
            faults[path] = sorted(left)[:40]

    assert faults == {}, faults
