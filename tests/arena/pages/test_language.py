"""The language of pages: chosen by address, cookie and browser; all texts of translated pages in the catalogue."""

from __future__ import annotations

import ast
import inspect
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import jinja2
import pytest
from babel.numbers import format_decimal
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import nodes

from arena.http.response_cache import preferred_language
from arena.pages import language
from arena.store import Store
from referee.rules import families, load
from tests import catalogue
from tests.arena.api.server import Server, settings_in
from tests.arena.pages.test_templates import TEMPLATES

READ_ALOUD = ("alt", "aria-label", "content", "placeholder", "title")
"""Attributes with text for people."""
NAMES = {
    "Bot arena",
    "JSON",
    "Python",
    "SHA-256",
    "UTC",
    "width=device-width",
    "initial-scale=1",
    "mu",
    "noindex",
    "sigma",
    "light dark",
    "website",
}
NAMES |= {"https://example.org/me", "https://club.example/arena", 'id="'}


@pytest.fixture
def server(sqlite_store: Store, tmp_path: Path) -> Iterator[Server]:
    found = Server(sqlite_store, settings_in(tmp_path))
    found.unlimited()
    yield found
    found.close()


@pytest.mark.parametrize("code", catalogue.translated())
def test_catalogue_is_complete_current_and_compiled(code: str) -> None:
    stored, path = catalogue.read(code), catalogue.po_file(code)
    assert catalogue.untranslated(stored) == []
    assert path.read_bytes() == catalogue.as_po(catalogue.updated(code)), "run: make catalogues"
    assert path.with_suffix(".mo").read_bytes() == catalogue.as_mo(stored), "run: make catalogues"
    assert catalogue.script_file(code).read_bytes() == catalogue.script_texts(code), "run: make catalogues"


def test_no_message_is_inside_an_f_string() -> None:
    """The extractor reads f-strings only where Python 3.12 or newer runs it."""
    calls = [
        f"{path.name}: {ast.unparse(call)}"
        for path in sorted(path for root in (catalogue.PAGES, *catalogue.FEATURES) for path in root.rglob("*.py"))
        for string in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(string, ast.JoinedStr)
        for call in ast.walk(string)
        if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] in ("text", "texts", "marked")
    ]
    assert not calls


def test_every_message_of_a_script_is_in_the_catalogue() -> None:
    """The extractor reads no message in a template string within a template string."""
    known = {one.id if isinstance(one.id, str) else one.id[0] for one in catalogue.template()}
    for path in sorted(path for root in (catalogue.PAGES, *catalogue.FEATURES) for path in root.glob("static/*.js")):
        if not path.name.startswith("texts."):
            named = re.findall(r'\bmessages?\(\s*"((?:[^"\\]|\\.)*)"', path.read_text(encoding="utf-8"))
            assert set(named) <= known, path.name


@pytest.mark.parametrize("code", catalogue.translated())
def test_translations_keep_values_and_markup(code: str) -> None:
    for message in catalogue.read(code):
        forms = [message.string] if isinstance(message.string, str) else message.string
        source = message.id if isinstance(message.id, str) else message.id[1]
        if any(path.endswith(".html") for path, _ in message.locations):  # templates format every message
            assert not any(re.search(r"%(?![(%])", form.replace("%%", "")) for form in (source, *forms)), source
        for form in forms if message.id else ():
            for pattern in (r"</?\w+[^>]*>", r"%\(\w+\)s", r"(?<!<)\{\w*\}"):
                wanted = sorted(re.findall(pattern, str(source)))
                present = sorted(re.findall(pattern, form))
                assert present == wanted or (len(forms) > 1 and set(present) < set(wanted)), form


class _Texts(HTMLParser):
    """The texts for people of a page, without code."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._code = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._code += tag in ("code", "pre", "script", "style")
        self.found += [value for name, value in attrs if name in READ_ALOUD and value]

    def handle_endtag(self, tag: str) -> None:
        self._code -= tag in ("code", "pre", "script", "style")

    def handle_data(self, data: str) -> None:
        if not self._code:
            self.found.append(data)


def test_templates_have_no_text_outside_the_catalogue() -> None:
    environment = jinja2.Environment(extensions=["jinja2.ext.i18n"], autoescape=True)
    for path in TEMPLATES:
        tree = environment.parse(path.read_text(encoding="utf-8"))
        parts = [
            part.data if isinstance(part, nodes.TemplateData) else "\0"
            for output in tree.find_all(nodes.Output)
            for part in output.nodes
        ]
        parser = _Texts()
        parser.feed("".join(parts))
        words = {" ".join(text.split()).strip(".:; ") for part in parser.found for text in re.split(r"[\0–·,()]", part)}
        unknown = {word for word in words if re.search(r"[^\W\d_]{2}", word) and word[0] not in '/?&"-'} - NAMES
        assert not unknown, path.name


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("", "en"),
        ("fr", "fr"),
        ("fr-BE,fr;q=0.9,en;q=0.8", "fr"),
        ("en-GB, fr;q=0.5", "en"),
        ("de, fr;q=0.5, en;q=0.1", "fr"),
        ("fr;q=0", "en"),
        ("*", "en"),
        ("français", "en"),
    ],
)
def test_preferred_language_follows_the_weights(header: str, expected: str) -> None:
    assert preferred_language(header, ("en", "fr")) == expected


def test_a_page_is_in_the_language_of_its_address_cookie_or_browser(server: Server) -> None:
    english = server.get("/login")
    assert b'<html lang="en">' in english.body
    assert b"<h1>Log in</h1>" in english.body
    assert "Accept-Language" in english.headers["Vary"]
    french = server.get("/login", headers={"Accept-Language": "fr-BE, en;q=0.5"})
    assert b'<html lang="fr">' in french.body
    assert b"<h1>Se connecter</h1>" in french.body
    chosen = server.get("/login?lang=fr")
    assert b"<h1>Se connecter</h1>" in chosen.body
    (cookie,) = [given.partition(";")[0] for given in chosen.cookies if given.startswith("arena-language=")]
    kept = server.get("/login", headers={"Cookie": cookie, "Accept-Language": "en"})
    assert b"<h1>Se connecter</h1>" in kept.body
    again = server.get("/login?lang=en", headers={"Cookie": cookie})
    assert b"<h1>Log in</h1>" in again.body
    assert b"<h1>Log in</h1>" in server.get("/login?lang=xx").body


def test_a_page_links_its_languages(server: Server) -> None:
    text = server.get("/register?lang=fr&next=/play").body.decode()
    for code in language.LANGUAGES:
        assert re.search(rf'<link rel="alternate" hreflang="{code}" href="[^"]*/register\?lang={code}">', text)
    assert 'href="/register?lang=en&amp;next=/play"' in text


def test_cached_pages_are_kept_for_each_language(server: Server) -> None:
    for wish in ("en", "fr", "en"):
        assert server.get("/dumps", headers={"Accept-Language": wish}).status == 200
    assert len(server.context.responses) == 2


def test_numbers_and_dates_follow_the_language() -> None:
    at = datetime(2026, 11, 27, 20, 5, tzinfo=UTC)
    assert (language.number(12345.5), language.date(at)[:12]) == ("12,345.5", "Nov 27, 2026")
    assert language.number(2000) == "2,000"
    assert (language.digits(-0.0025), language.digits(1.7149, 3)) == ("\u22120.0025", "1.71")
    with language.using("fr"):
        assert (language.number(12345.5), language.date(at)) == ("12\u202f345,5", "27 nov. 2026, 20:05:00")
        assert language.digits(0.0025) == "0,0025"
        shown = language.translated("most informative: 14.0 apart, b v1 ± 7.8")
        assert shown == "la plus instructive\u202f: 14,0 d’écart, b v1 ± 7,8"
        assert language.month_name("2026-11") == "novembre 2026"
        assert language.texts("one variant", "%(count)s variants", 2) == "%(count)s variantes"


@given(
    value=st.integers(-(10**9), 10**9) | st.floats(-1e9, 1e9),
    decimals=st.none() | st.integers(0, 3),
    is_signed=st.booleans(),
    code=st.sampled_from(sorted(language.LANGUAGES)),
)
def test_a_number_is_written_as_babel_does(value: float, decimals: int | None, is_signed: bool, code: str) -> None:
    form = "#,##0" + ("." + "0" * decimals if decimals else "" if decimals == 0 else ".###")
    form = f"+{form};-{form}" if is_signed else form
    with language.using(code):
        shown = language.number(value, decimals, is_signed=is_signed)
        expected = format_decimal(value, form, locale=code)
        if not set(expected) & set("123456789"):
            expected = format_decimal(0, form, locale=code)  # of what rounds to nothing Babel writes the sign
        assert shown == expected.replace("-", "\N{MINUS SIGN}")


def test_a_long_text_of_a_bot_costs_little() -> None:
    text = "king, q: " * 60 + "king"
    language._translated.cache_clear()
    begin = time.process_time()
    with language.using("fr"):
        assert language.translated(text) == "roi, q\u202f: " * 60 + "roi"
    assert time.process_time() - begin < 2  # 0.1 s; 9 s if each value is tried at every place
    assert language._translated.cache_info().misses < 2 * text.count(" ")


@pytest.mark.parametrize("text", ["5 of 6 of 7 bytes", "5 of bytes", "of of  bytes", "5 of 6 bytes!"])
def test_a_value_ends_where_the_words_after_it_stand_first(text: str) -> None:
    lazy = re.fullmatch("(.+?) of (.+?) bytes", text)
    match = language._pattern_of("{} of {} bytes").fullmatch(text)
    assert (match and match.groups()) == (lazy and lazy.groups())


def test_values_that_authors_type_are_shown_as_they_are_typed(server: Server) -> None:
    page = server.get("/tablut", headers={"Accept-Language": "fr"}).body.decode()
    assert "<code>attackers</code> (Moscovites), <code>defenders</code> (Suédois)" in page


def test_a_family_shows_the_names_of_variants_and_pieces_in_the_language_of_the_page(server: Server) -> None:
    french = server.get("/tablut", headers={"Accept-Language": "fr"}).body.decode()
    assert "<code>bell_a1_strict</code><br><small>Première adaptation sévère</small>" in french
    english = server.get("/tablut", headers={"Accept-Language": "en"}).body.decode()
    assert "Première adaptation" not in english
    assert "Moscovite" not in re.sub("<p>.*?</p>", "", english)


@pytest.mark.parametrize(
    ("english", "french"),
    [
        ("allowed: mine, games", "permis\u202f: mine, games"),
        ("did you mean games?", "vouliez-vous dire games\u202f?"),
        ('this page has no parameter "bots"', "cette page n’a pas de paramètre «\u202fbots\u202f»"),
        ("size: 1.5 GiB", "size\u202f: 1,5 Gio"),
        ("56.3 MiB at most of 1,024 allowed", "56,3 Mio au plus, sur 1\u202f024 permis"),
        (
            "loa: first move: crashed: exit code 1, thinking",
            "loa\u202f: premier coup\u202f: panne\u202f: code de sortie 1, pendant la réflexion",
        ),
        (
            "needs at least 0.05 s per move according to its check; 1+0.02 gives it 0.045 s per move in a game of 40 "
            "moves",
            "demande au moins 0,05 s par coup d’après sa vérification\u202f; 1+0.02 lui donne 0,045 s par coup dans "
            "une partie de 40 coups",
        ),
    ],
)
def test_a_sentence_of_a_lower_layer_is_wholly_french(english: str, french: str) -> None:
    with language.using("fr"):
        assert language.translated(english) == french


def test_an_error_is_a_page(server: Server) -> None:
    reply = server.get("/bots/nobody", headers={"Accept-Language": "fr"})
    assert reply.status == 404
    assert reply.headers["Content-Type"].startswith("text/html")
    assert b'<html lang="fr">' in reply.body
    assert "<h1>Introuvable</h1>" in reply.body.decode()
    assert "Pas de bot «\u202fnobody\u202f»." in reply.body.decode()


def test_an_error_page_changes_the_language_and_remembers_it(server: Server) -> None:
    reply = server.get("/nothing?lang=fr")
    assert 'href="/nothing?lang=en"' in reply.body.decode()
    assert "arena-language=fr" in reply.headers["Set-Cookie"]
    assert b'class="languages"' not in server.post("/nothing", headers={"Accept": "text/html"}).body


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("/nothing", "Il n’y a ni page ni jeu «\u202fnothing\u202f»."),
        ("/users/nothing", "Pas de compte «\u202fnothing\u202f»."),
    ],
)
def test_an_error_in_french_names_what_was_asked_for_unchanged(server: Server, address: str, said: str) -> None:
    assert said in server.get(f"{address}?lang=fr").body.decode()


@pytest.mark.parametrize(
    ("address", "detail", "hint"),
    [
        (
            "/loa/board/scenes.json?moves=b1",
            "b1 est illisible : ce n’est pas un coup",
            "écrivez les cases de départ et d’arrivée, comme b1b3, ou pass",
        ),
        (
            "/loa/board/scenes.json?moves=b1b4",
            "b1b4 est illégal",
            "cette ligne porte 2 pions : le pion avance de 2 cases",
        ),
        ("/loa/board/scenes.json?moves=d4d5%20a2c2", "coup 1 : d4d5 est illégal", "d4 est vide"),
        ("/play/0123456789abcdef/state.json", "pas de partie", ""),
    ],
)
def test_an_error_for_scripts_is_in_the_language_of_their_page(
    server: Server, address: str, detail: str, hint: str
) -> None:
    reply = server.get(address, headers={"Accept-Language": "fr"})
    assert reply.headers["Content-Type"] == "application/problem+json"
    assert reply.json["detail"].replace("\u202f", " ").startswith(detail)
    assert reply.json.get("hint", "").replace("\u202f", " ").startswith(hint)


def test_an_error_of_the_interface_is_in_english(server: Server) -> None:
    reply = server.get("/api/v1/games/0123456789abcdef", headers={"Accept-Language": "fr"})
    assert reply.json["title"] == "Not found"


def test_an_error_before_the_page_is_in_the_language_of_the_request(server: Server) -> None:
    reply = server.get("/" + "x" * 8_000, headers={"Accept-Language": "fr"})
    assert '<html lang="fr">' in reply.body.decode()


@pytest.mark.parametrize("family", families())
def test_all_errors_of_the_notations_of_a_family_are_translated(family: str) -> None:
    reader = inspect.getfile(load(family).notation.read_move)
    stems = ("notation", "start", "gametext")
    modules = [path for path in Path(reader).parent.glob("*.py") if path.stem.split("_")[0] in stems]
    said = [one for path in modules for one in catalogue.errors_of(path)]
    assert said
    with language.using("fr"):
        assert [one for one in said if language.translated(one) == one] == []


@pytest.mark.parametrize(
    ("english", "french"),
    [
        ("running", "en cours"),
        ("belgian-daisy", "Marguerite belge"),
        ("3 push 1, c3 is ejected", "3 en poussent 1, c3 est éjectée"),
        ("16 attackers, 8 defenders, king captured", "16 Moscovites, 8 Suédois, roi capturé"),
        ("Black 12 pieces, 2 groups", "Noirs\u202f: 12 pions, 2 groupes"),
        ("score 3-4 (to win: 6)", "score 3-4 (pour gagner\u202f: 6)"),
        ('no bot "zita"', "pas de bot «\u202fzita\u202f»"),
        ("0..10 except 1", "0..10 sauf 1"),
        ("zita v3", "zita v3"),
        (
            "too few bots: 1 may play, at least 2 are needed",
            "trop peu de bots\u202f: 1 peuvent jouer, il en faut au moins 2",
        ),
        ("zita: has no active version", "zita\u202f: n’a pas de version active"),
        (
            "unknown variant of loa 'zita'; known: scrambled",
            "variante de loa inconnue\u202f: «\u202fzita\u202f»\u202f; possibles\u202f: scrambled",
        ),
    ],
)
def test_words_from_below_the_pages_are_translated(english: str, french: str) -> None:
    assert language.translated(english) == english
    with language.using("fr"):
        assert language.translated(english) == french


@pytest.mark.parametrize("family", families())
@pytest.mark.parametrize("code", catalogue.translated())
def test_all_words_of_a_family_are_translated(family: str, code: str) -> None:
    rules = load(family)
    shown = [rules.title, rules.summary, *rules.sides]
    shown += [counter.replace("_", " ") for counter in getattr(rules.kernel, "COUNTERS", ())]
    shown += [option.meaning for option in rules.options] + [
        part for piece in rules.pieces for part in (piece.name, piece.note)
    ]
    shown += [part for mark in rules.marks for part in (mark.name, mark.meaning)]
    shown += [part for reason in rules.reasons for part in (reason.value, reason.sentence)]
    with language.using(code):
        # A sentence that merely contains known words is not translated.
        assert [text for text in shown if text and text not in language._messages(code)] == []
        notes = [variant.note for variant in rules.variants if variant.note]
        assert [note for note in notes if language.translated(note) == note] == []


def test_families_agree_on_common_words() -> None:
    found: dict[str, str] = {}
    for name in families():
        for english, french in load(name).words.translations["fr"].items():
            assert found.setdefault(english, french) == french


def test_words_of_families_keep_their_meaning_on_pages() -> None:
    """A message of the pages in the same words, such as `check`, would replace the family's own."""
    with language.using("fr"):
        for name in families():
            words = load(name).words.translations["fr"]
            assert {english: language.translated(english) for english in words} == words
