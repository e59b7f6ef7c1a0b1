"""The language of a page: `?lang=`, else a cookie, else `Accept-Language`; its catalogue, numbers and dates.

Every text of a page is a message of the catalogue:

- Templates mark their texts with `{% trans %}` and `_()`.
- Code that makes a page calls `text` and `texts`.
- A constant, such as the title of a column, is `marked`; the template shows it with the filter `translated`.
- Words and sentences from lower layers (states, terminations, errors, the families' own words) are in English, as
  the JSON interface sends them; the filter `translated` finds their message, with values in the place of `{}`. It also
  writes terminations, such as `king-escaped`, as English words.
- Scripts call `message` of `static/text.js`.
"""

from __future__ import annotations

import datetime
import gettext
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from functools import cache, lru_cache
from pathlib import Path

import jinja2
from aiohttp import web
from babel import Locale
from babel.dates import format_date, format_datetime
from babel.messages.mofile import read_mo
from babel.numbers import get_decimal_symbol, get_group_symbol
from yarl import URL

from arena import feature
from arena.http.identity import give_cookie, read_cookie
from arena.http.request_context import CONTEXT
from arena.http.response_cache import preferred_language
from referee.rules import families, load, terminations

LANGUAGES: Mapping[str, str] = {"en": "English", "fr": "Français"}
"""The languages of the pages with their own names; the first one is that of the source."""
LANGUAGE_COOKIE = "arena-language"
PARAMETER = "lang"
DOMAIN, FOLDER = "arena", Path(__file__).parent / "locale"
_DEFAULT = "en"
_CURRENT: ContextVar[str] = ContextVar("language", default=_DEFAULT)
_YEAR_S = 365 * 24 * 3600
_MOST_DECIMALS = 3
"""Decimals of a number without a fixed count of them."""


def language_of(request: web.Request) -> str:
    """Return the language in which to answer a request."""
    wish = request.query.get(PARAMETER, "")
    if wish in LANGUAGES:
        return wish
    kept = read_cookie(request, LANGUAGE_COOKIE)
    if kept in LANGUAGES:
        return kept
    return preferred_language(request.headers.get("Accept-Language", ""), tuple(LANGUAGES))


def choose(request: web.Request) -> None:
    """Set the current language to that of a request."""
    _CURRENT.set(language_of(request))


@contextmanager
def using(language: str) -> Iterator[None]:
    """Make `language` the current one within the block."""
    token = _CURRENT.set(language)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current() -> str:
    """Return the language of the page that is being made."""
    return _CURRENT.get()


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    """Return the translations into a language; the texts of the source for English."""
    if language == _DEFAULT:
        return gettext.NullTranslations()
    found = gettext.translation(DOMAIN, FOLDER, [language])
    for name, folder in _of_features():
        found.add_fallback(gettext.translation(name, folder, [language], fallback=True))
    return found


def _of_features() -> Iterator[tuple[str, Path]]:
    """Yield the name and the folder of the catalogues of features that bring their own."""
    yield from ((one.name, one.folder("locale")) for one in feature.installed() if one.feature)


def family_titles() -> dict[str, str]:
    """Return the titles of all families in the language of the page, by name."""
    return {name: translated(load(name).title) for name in families()}


def marked(message: str) -> str:
    """Return a constant unchanged, which makes it a message of the catalogue; show it with `translated`."""
    return message


def text(message: str) -> str:
    """Return a text of the catalogue in the language of the page."""
    return catalogue(current()).gettext(message)


def texts(one: str, many: str, count: int) -> str:
    """Return the singular or plural form of a text in the language of the page."""
    return catalogue(current()).ngettext(one, many, count)


def headed(head: str, words: str) -> str:
    """Put a head before words, with a colon as the current language writes it."""
    colon = text(":")
    return f"{head}{colon} {words}"


def translated(english: str) -> str:
    """Return a word or sentence from a lower layer in the language of the page; an unknown one stays as it is.

    A sentence with values, such as `White to move`, is found by its message `{} to move`, and its values are translated
    too, except for those that people type as they stand: in quotation marks, and names to choose from. Numbers are
    written as in that language. The parts of a list, between commas, colons or semicolons, are translated one by one.
    """
    language = current()
    if language == _DEFAULT:
        return _english_words().get(english, english)
    return _translated(str(english), language) if english else english


@cache
def _english_words() -> Mapping[str, str]:
    """Return what people read for the words with hyphens that records and the JSON interface have for terminations."""
    return {word: _ENGLISH.get(word, word.replace("-", " ")) for word in terminations()}


_ENGLISH: Mapping[str, str] = {
    "draw-by-score": "drawn by score",
    "max-plies": "maximum length",
    "win-by-score": "won by score",
}
"""Words for terminations that are more than their blanks for hyphens."""


@lru_cache(8192)
def _translated(english: str, language: str) -> str:
    if (known := _messages(language).get(english)) is not None:
        return known
    if len(english) > _MAX_SENTENCE:
        return english
    if amount := _AMOUNT.fullmatch(english):
        unit = amount["unit"] and f" {_messages(language).get(amount['unit'], amount['unit'])}"
        return amount["number"].translate(_number_signs(_locale_of(language))) + (unit or "")
    if quoted := _QUOTED.fullmatch(english):
        return f"«\u202f{quoted[2]}\u202f»"
    return _by_pattern(english, language) or _by_parts(english, language) or english


def _by_pattern(english: str, language: str) -> str:
    """Return the translation of a sentence with values; empty if no message fits."""
    for pattern, form in _patterns(language):
        if match := pattern.fullmatch(english):
            values = ((group, english[: match.start(n)]) for n, group in enumerate(match.groups(), 1))
            return form.format(
                *(group if before.endswith(_LITERAL) else _translated(group, language) for group, before in values)
            )
    return ""


def _by_parts(english: str, language: str) -> str:
    """Return a list of sentences with those translated that are known; empty if none is."""
    separators = [separator for separator in ("; ", ", ", ": ") if separator in english]
    # A sentence may contain the separator of a list. In a long text each one that is tried doubles the work.
    if sum(map(english.count, separators)) > _MAX_SEPARATORS:
        del separators[1:]
    for separator in separators:
        parts = english.split(separator, 1)
        head, tail = (_translated(part, language) for part in parts)
        if [head, tail] != parts:
            return head + separator.replace(";", "\u202f;").replace(":", "\u202f:") + tail
    return ""


_AMOUNT = re.compile(r"(?P<number>[+-]?\d{1,3}(,\d{3})*(\.\d+)?)( (?P<unit>s|ms|MB|bytes|[KMG]iB|%))?", re.ASCII)
"""A number of a sentence, as English writes it, with its unit."""
_QUOTED = re.compile(r"""(["'])([^"']+)\1""")
_LITERAL = ('"', "'", "`", "choose from ", "allowed: ", "did you mean ", "known: ")
"""What stands before a value that people type as it stands."""
_MAX_SEPARATORS = 8
"""A list with more separators is taken apart in one way only."""
_MAX_SENTENCE = 600
"""Longer texts are not sentences of the program, so they are not searched for messages with values."""


@cache
def family_words(language: str) -> Mapping[str, str]:
    """Return the words and sentences of all families in a language; the keys are in English."""
    translations: dict[str, str] = {}
    for name in families():
        words = load(name).words
        if language == "fr":
            translations = {variant: names[0] for variant, names in words.variants.items()} | translations
        translations |= words.translations.get(language, {})
    return translations


@cache
def _messages(language: str) -> Mapping[str, str]:
    """Return all messages without plural forms, those of the families included."""
    messages = dict(family_words(language))
    for name, folder in (*_of_features(), (DOMAIN, FOLDER)):
        path = folder / language / "LC_MESSAGES" / f"{name}.mo"
        if path.exists():
            with open(path, "rb") as file:
                messages |= {
                    message.id: str(message.string)
                    for message in read_mo(file)
                    if isinstance(message.id, str) and message.id
                }
    return messages


@cache
def _patterns(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return the messages with values, as patterns of the English sentence; those with the most text come first."""
    forms = _messages(language)
    messages = sorted(
        (message for message in forms if "{}" in message), key=lambda words: -len(words.replace("{}", ""))
    )
    return tuple((_pattern_of(message), forms[message]) for message in messages)


def _pattern_of(message: str) -> re.Pattern[str]:
    first, *between, last = map(re.escape, message.split("{}"))
    # A value ends where the words after it stand first. Without atomic groups every place would be tried for each
    # value, if the last words are missing: a text of 500 characters from a bot took 9 s.
    return re.compile(first + "".join(f"(?>(.+?){words})" for words in between) + f"(.+?){last}", re.DOTALL)


def number(value: float, decimals: int | None = None, *, is_signed: bool = False) -> str:
    """Format a number: `1,000.5`, in French `1 000,5`; `decimals` fixes the number of decimals."""
    # Babel's `format_decimal` rounds and groups alike, but takes ten times as long: a page has a thousand numbers.
    written = f"{Decimal(str(value)):{'+' if is_signed else ''}z,.{_MOST_DECIMALS if decimals is None else decimals}f}"
    if decimals is None:
        written = written.rstrip("0").rstrip(".")
    return written.translate(_number_signs(locale()))


@cache
def _number_signs(place: Locale) -> Mapping[int, str]:
    """Return the signs of numbers in a locale, by those of Python."""
    return str.maketrans({",": get_group_symbol(place), ".": get_decimal_symbol(place), "-": "\N{MINUS SIGN}"})


def digits(value: float, most: int = 6) -> str:
    """Format a number in at most `most` significant digits, without trailing zeros: `0.0025`, in French `0,0025`."""
    return f"{value:.{most}g}".replace(".", get_decimal_symbol(locale())).replace("-", "\N{MINUS SIGN}")


def date(at: datetime.datetime) -> str:
    """Format a moment in UTC with its date and time: `Nov 27, 2026, 8:00 PM`, in French `27 nov. 2026, 20:00`."""
    return format_datetime(at, "medium", locale=locale())


def day(at: datetime.date) -> str:
    """Format a day with its weekday: `Fri, Nov 27`, in French `ven. 27 nov.`."""
    return format_date(at, "EEE, MMM d" if current() == _DEFAULT else "EEE d MMM", locale=locale())


def month_name(month: str) -> str:
    """Format a month such as `2026-11`: `November 2026`, in French `novembre 2026`."""
    return format_date(datetime.date.fromisoformat(f"{month}-01"), "MMMM y", locale=locale())


def locale() -> Locale:
    """Return the locale of the page."""
    return _locale_of(current())


_locale_of = cache(Locale.parse)


def install(environment: jinja2.Environment) -> None:
    """Add the catalogues, and the formats of numbers and dates, to a template environment."""
    environment.add_extension("jinja2.ext.i18n")
    environment.install_gettext_callables(text, texts, newstyle=True)  # type: ignore[attr-defined]
    environment.policies["ext.i18n.trimmed"] = True
    environment.filters |= {
        "number": number,
        "date": date,
        "day": day,
        "month_name": month_name,
        "translated": translated,
        "in_language": in_language,
    }
    environment.globals |= {"language": current, "languages": LANGUAGES}


def in_language(url: URL | str, language: str) -> str:
    """Return the address of a page in a language."""
    return str(URL(str(url)).update_query({PARAMETER: language}))


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@web.middleware
async def language_middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer in the language of the request. A language in its address (`?lang=`) is remembered in a cookie."""
    choose(request)
    response = await handler(request)
    if not response.prepared:
        remember(request, response)
    return response


def remember(request: web.Request, response: web.StreamResponse) -> None:
    """Keep the language in the address of a request in a cookie."""
    wish = request.query.get(PARAMETER, "")
    if wish in LANGUAGES:
        give_cookie(response, request.app[CONTEXT], LANGUAGE_COOKIE, wish, _YEAR_S)
