"""The language of a page: `?lang=`, else a cookie, else `Accept-Language`; its catalogue, numbers and dates.

Templates mark their texts with `{% trans %}` and `_()`. A page whose texts are not marked stays in English.
"""

from __future__ import annotations

import gettext
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from functools import cache
from pathlib import Path

import jinja2
from aiohttp import web
from babel import Locale
from babel.dates import format_datetime
from babel.numbers import format_decimal
from yarl import URL

from arena.http.content_negotiation import preferred_language
from arena.http.identity import give_cookie, read_cookie
from arena.http.request_context import CONTEXT

LANGUAGES: Mapping[str, str] = {"en": "English", "fr": "Français"}
"""The languages of the pages with their own names; the first one is that of the source."""
LANGUAGE_COOKIE = "arena-language"
PARAMETER = "lang"
DOMAIN, FOLDER = "arena", Path(__file__).parent / "locale"
TRANSLATED = frozenset(
    ("import.html", "imports.html", "login.html", "register.html", "reset.html", "submission.html", "submit.html")
)
"""The templates whose texts are all in the catalogue."""
_DEFAULT = "en"
_CURRENT: ContextVar[str] = ContextVar("language", default=_DEFAULT)
_YEAR_S = 365 * 24 * 3600


def language_of(request: web.Request) -> str:
    """Return the language in which to answer a request."""
    wish = request.query.get(PARAMETER, "")
    if wish in LANGUAGES:
        return wish
    kept = read_cookie(request, LANGUAGE_COOKIE)
    if kept in LANGUAGES:
        return kept
    return preferred_language(request.headers.get("Accept-Language", ""), tuple(LANGUAGES))


def current() -> str:
    """Return the language of the page that is being made."""
    return _CURRENT.get()


@contextmanager
def speaking(template: str) -> Iterator[None]:
    """Make a page from a template: in the language of the request if it is translated, else in English."""
    token = _CURRENT.set(current() if template in TRANSLATED else _DEFAULT)
    try:
        yield
    finally:
        _CURRENT.reset(token)


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    """Return the translations into a language; the texts of the source for English."""
    if language == _DEFAULT:
        return gettext.NullTranslations()
    return gettext.translation(DOMAIN, FOLDER, [language])


def text(message: str) -> str:
    """Return a text of the catalogue in the language of the page."""
    return catalogue(current()).gettext(message)


def texts(one: str, many: str, count: int) -> str:
    """Return the singular or plural form of a text in the language of the page."""
    return catalogue(current()).ngettext(one, many, count)


def number(value: float) -> str:
    """Format a number: `1,000.5`, in French `1 000,5`."""
    return format_decimal(value, locale=_locale(current()))


def date(at: datetime) -> str:
    """Format a moment in UTC with its date and time: `Nov 27, 2026, 8:00 PM`, in French `27 nov. 2026, 20:00`."""
    return format_datetime(at, "medium", locale=_locale(current()))


@cache
def _locale(language: str) -> Locale:
    return Locale.parse(language)


def install(environment: jinja2.Environment) -> None:
    """Add the catalogues, and the formats of numbers and dates, to a template environment."""
    environment.add_extension("jinja2.ext.i18n")
    environment.install_gettext_callables(text, texts, newstyle=True)  # type: ignore[attr-defined]
    environment.policies["ext.i18n.trimmed"] = True
    environment.filters |= {"number": number, "date": date, "translated": text, "in_language": in_language}
    environment.globals |= {"language": current, "languages": LANGUAGES}


def in_language(url: URL | str, language: str) -> str:
    """Return the address of a page in a language."""
    return str(URL(str(url)).update_query({PARAMETER: language}))


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@web.middleware
async def language_middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer in the language of the request, and remember one that its address names."""
    _CURRENT.set(language_of(request))
    response = await handler(request)
    wish = request.query.get(PARAMETER, "")
    if wish in LANGUAGES and not response.prepared:
        give_cookie(response, request.app[CONTEXT], LANGUAGE_COOKIE, wish, _YEAR_S)
    return response
