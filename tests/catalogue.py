"""Update the catalogues of the pages: `python -m tests.catalogue` extracts, merges and compiles them.

Translate the empty messages of `arena/pages/locale/LANGUAGE/LC_MESSAGES/arena.po` afterwards, and run it again.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from arena.pages.language import DOMAIN, FOLDER, LANGUAGES, TRANSLATED

PAGES = FOLDER.parent
ALWAYS = ("languages.html",)
"""Parts of every page that is translated."""
_DATE = datetime(2026, 1, 1, tzinfo=UTC)
_OPTIONS = {"extensions": "jinja2.ext.i18n", "trimmed": "true", "silent": "false"}
_KEYWORDS = {"gettext": None, "ngettext": (1, 2), "_": None}


def translated() -> tuple[str, ...]:
    """Return the languages with a catalogue: all but that of the source."""
    return tuple(LANGUAGES)[1:]


def template() -> Catalog:
    """Return the messages of the marked templates, without translations."""
    found = Catalog(project="bot-arena", copyright_holder="", msgid_bugs_address="", fuzzy=False)
    for path, message, comments in _messages():
        found.add(message, locations=[(path, 0)], auto_comments=comments)
    return found


def _messages() -> Iterator[tuple[str, str | tuple[str, ...], list[str]]]:
    for name in sorted((*TRANSLATED, *ALWAYS)):
        with open(PAGES / "templates" / name, "rb") as file:
            for _, message, comments, _ in extract("jinja2.ext:babel_extract", file, _KEYWORDS, options=_OPTIONS):
                yield name, message, list(comments)


def po_file(language: str) -> Path:
    """Return the catalogue of a language, for translators."""
    return FOLDER / language / "LC_MESSAGES" / f"{DOMAIN}.po"


def read(language: str) -> Catalog:
    """Return the catalogue of a language as it is stored."""
    with open(po_file(language), "rb") as file:
        return read_po(file, locale=language, domain=DOMAIN)


def updated(language: str) -> Catalog:
    """Return the stored catalogue with all present messages and no former ones."""
    found = read(language) if po_file(language).exists() else Catalog(locale=language, fuzzy=False)
    found.update(template(), no_fuzzy_matching=True, update_creation_date=False)
    found.obsolete.clear()
    found.project, found.version, found.msgid_bugs_address = "bot-arena", "", ""
    found.header_comment = f"# Texts of the pages: {language}"
    return found


def as_po(catalogue: Catalog) -> bytes:
    """Return the text of a catalogue for translators, without dates: the same messages give the same text."""
    file = io.BytesIO()
    write_po(file, catalogue, width=120, omit_header=False, sort_output=True)
    dated = (b'"POT-Creation-Date', b'"PO-Revision-Date', b'"Generated-By', b'"Last-Translator', b'"Language-Team')
    return b"".join(line for line in file.getvalue().splitlines(keepends=True) if not line.startswith(dated))


def as_mo(catalogue: Catalog) -> bytes:
    """Return a catalogue as the server reads it, without the present date."""
    file = io.BytesIO()
    catalogue.creation_date = catalogue.revision_date = _DATE
    write_mo(file, catalogue)
    return file.getvalue()


def main() -> None:
    """Write all catalogues, and say what is not translated."""
    for language in translated():
        path = po_file(language)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(as_po(updated(language)))
        path.with_suffix(".mo").write_bytes(as_mo(read(language)))
        print(f"{language}: {len(read(language))} messages, {len(untranslated(read(language)))} not translated")


def untranslated(catalogue: Catalog) -> list[str]:
    """Return the messages that lack a translation or one of its plural forms."""

    def is_complete(string: str | tuple[str, ...] | list[str]) -> bool:
        return bool(string) if isinstance(string, str) else all(string)

    return [str(one.id) for one in catalogue if one.id and (one.fuzzy or not is_complete(one.string))]


if __name__ == "__main__":
    main()
