"""Update the catalogues of the pages: `python -m tests.catalogue` extracts, merges and compiles them.

Translate the empty messages of `arena/pages/locale/LANGUAGE/LC_MESSAGES/arena.po` afterwards, and run it again.
"""

from __future__ import annotations

import ast
import io
import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from arena import feature
from arena.pages.language import DOMAIN, FOLDER, LANGUAGES
from referee import validation
from tests import vocabulary

PAGES = FOLDER.parent
ROOT = PAGES.parents[1]
FEATURES = tuple(sorted(path.parent for path in (ROOT / "arena/features").glob("*/__init__.py")))
"""The folders of the features, whose texts are in the catalogue of the core."""
_DATE = datetime(2026, 1, 1, tzinfo=UTC)
_OPTIONS = {"extensions": "jinja2.ext.i18n", "trimmed": "true", "silent": "false", "newstyle_gettext": "true"}
_KINDS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "templates/*.html": ("jinja2.ext:babel_extract", {"gettext": None, "ngettext": (1, 2), "_": None}, _OPTIONS),
    "templates/*.atom": ("jinja2.ext:babel_extract", {"gettext": None, "ngettext": (1, 2), "_": None}, _OPTIONS),
    "**/*.py": ("python", {"text": None, "texts": (1, 2), "marked": None}, {}),
    "static/*.js": ("javascript", {"message": None, "messages": (1, 2)}, {"parse_template_string": "true"}),
}
"""Sources of messages: how to read them, and the functions that mark a message."""
_ERRORS = (
    "arena/http",
    "arena/pages",
    "arena/services",
    "arena/documents",
    "arena/tournaments",
    "arena/submission",
    "arena/features/notices",
    "arena/features/problems",
    "arena/features/versiontests",
    "arena/features/webhooks",
    "referee/tournament",
)
"""Folders whose errors pages show."""
_TABLES = ("arena/documents", "arena/collections", "arena/features", "arena/pages")
"""Folders with columns of tables that pages show."""
_NOTATIONS = (
    *(f"referee/rules/{one}.py" for one in ("gameparts", "gametext", "ply_reference", "position", "position_setup")),
    *("referee/rules/reversible.py", "referee/rules/variations.py", "referee/solver/proofs.py"),
    *("referee/game/spec.py", "referee/bot/bridge.py", "referee/bot/file.py", "referee/bot/command.py"),
)
"""Modules that read what people write for a page; each family reads its own positions, moves and games."""
_RETURNING = ("arena/tournaments", "arena/submission", "arena/services/study.py")
"""Folders and modules that return sentences which pages show: why a bot does not play, what is legal."""
_CHECKS = tuple(f"referee/check/{one}.py" for one in ("ability", "cause", "check", "examinee", "wrong_answer"))
"""Modules whose findings the page of a submission shows."""
_RAISING = ("Error", "Problem", "Unfit", "Cause", "not_found", "fail")
"""Ends of the names of what makes an error."""


def translated() -> tuple[str, ...]:
    """Return the languages with a catalogue: all but that of the source."""
    return tuple(LANGUAGES)[1:]


@cache
def template() -> Catalog:
    """Return all messages, without translations: read once, which takes seconds."""
    found = Catalog(project="bot-arena", copyright_holder="", msgid_bugs_address="", fuzzy=False)
    for path, message in (*_messages(), *_columns(), *_records(), *_sentences(), *_misfits(), *vocabulary.words()):
        found.add(message, locations=[(path, 0)])
    return found


def _messages() -> Iterator[tuple[str, str | tuple[str, ...]]]:
    """Return the marked messages of templates, code and scripts."""
    for root, (pattern, (method, keywords, options)) in product((PAGES, *FEATURES), _KINDS.items()):
        for path in sorted(root.glob(pattern)):
            if path.name.startswith("texts.") or _is_of_terminal(path):
                continue
            with open(path, "rb") as file:
                for _, message, _, _ in extract(method, file, keywords, options=options):
                    yield _shown(path), message


def _shown(path: Path) -> str:
    """Return the path of a source of messages, shortened for translators."""
    if path.is_relative_to(PAGES):
        return path.relative_to(PAGES).as_posix().removeprefix("templates/")
    return path.relative_to(ROOT / "arena/features").as_posix().replace("/templates/", "/")


def _is_of_terminal(path: Path) -> bool:
    """Return whether a module belongs to the commands of a feature, whose words are in English."""
    return path.is_relative_to(ROOT / "arena/features") and "cli" in path.parts


def _records() -> Iterator[tuple[str, str]]:
    """Return the titles of features, and what their entries of the navigation say."""
    for one in feature.installed():
        if one.feature and one.module.startswith(feature.BUILT_IN):
            places = (said for place in one.feature.places for said in (place.title, place.text) if said)
            yield from ((f"arena/features/{one.name}", said) for said in (one.feature.title, *places))


def _modules(folders: Iterable[str]) -> list[Path]:
    """Return the modules in folders that make pages."""
    return sorted(one for folder in folders for one in (ROOT / folder).rglob("*.py") if not _is_of_terminal(one))


def _columns() -> Iterator[tuple[str, str]]:
    """Return the titles and hints of the columns of tables."""
    for path in _modules(_TABLES):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Column", "text_column"):
                for argument in (*node.args[1:2], *(one.value for one in node.keywords if one.arg == "hint")):
                    if title := _as_pattern(argument):
                        yield path.relative_to(ROOT).as_posix(), title


def _sentences() -> Iterator[tuple[str, str]]:
    """Return the sentences and hints of errors, with `{}` for values."""
    for path in _modules(_ERRORS):
        yield from ((path.relative_to(ROOT).as_posix(), sentence) for sentence in errors_of(path))
    for name in (*_NOTATIONS, *_CHECKS):
        yield from ((name, said) for said in errors_of(ROOT / name) if any(map(str.isalpha, said)))
    for name in _CHECKS:
        # Optional parts that follow one another are messages of their own, in `tests.vocabulary`.
        yield from ((name, said) for said in returned_of(ROOT / name) if "{}{}" not in said)
    yield from (
        ("referee/rules/move_input.py", sentence) for sentence in returned_of(ROOT / "referee/rules/move_input.py")
    )
    for path in sorted((ROOT / "arena").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        yield from ((name, sentence) for sentence in nouns_of(path))
        if name.startswith(_RETURNING):
            yield from ((name, sentence) for sentence in returned_of(path))


def _misfits() -> Iterator[tuple[str, str]]:
    """Return what is said of values that do not fit: pairs of a problem and what to write, and the kinds of values."""
    name = "referee/validation.py"
    for node in ast.walk(ast.parse((ROOT / name).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Tuple) and len(node.elts) == 2:
            yield from (
                (name, said)
                for said in map(_as_pattern, node.elts)
                if " " in said and said not in ("{} is not {}", "write {}")
            )
    for expected in validation._KINDS:
        yield from ((name, said) for said in (f"{{}} is not {expected}", f"write {expected}"))


def nouns_of(path: Path) -> Iterator[str]:
    """Return what is said not to exist by a module: `bot` of `NotFoundError("bot", name)`."""
    places = {"NotFoundError": 0, "not_found": 0, "path_number": 2}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in places:
            for argument in node.args[places[node.func.id] :][:1]:
                if noun := _as_pattern(argument):
                    yield noun


def returned_of(path: Path) -> Iterator[str]:
    """Return the sentences that functions of a module return, also as the reason of an `Eligibility`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Return(value=ast.IfExp(body=body, orelse=otherwise)):
                sentences = [body, otherwise]
            case ast.Return(value=ast.expr() as value):
                sentences = [value]
            case ast.Call(func=ast.Name("Eligibility"), args=[_, reason]):
                sentences = [reason]
            case _:
                continue
        yield from (said for said in map(_as_pattern, sentences) if " " in said and any(map(str.isalpha, said)))


def errors_of(path: Path) -> Iterator[str]:
    """Return the sentences and hints of the errors of a module, with `{}` for values.

    A sentence may be in a constant or variable of the module.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    named: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        match node:
            case (
                ast.Assign(targets=[ast.Name(name)], value=value)
                | ast.AnnAssign(target=ast.Name(name), value=ast.expr() as value)
            ):
                named.setdefault(name, []).extend(value.values if isinstance(value, ast.BoolOp) else [value])
    yield from (pattern for pattern in map(_as_pattern, named.get("hint", ())) if any(map(str.isalpha, pattern)))
    for node in ast.walk(tree):
        name = getattr(node.func, "id", getattr(node.func, "attr", "")) if isinstance(node, ast.Call) else ""
        if not isinstance(node, ast.Call) or not name.endswith(_RAISING) or name == "UnknownNameError":
            continue  # the sentences of an unknown name are in `tests.vocabulary`
        hints = [keyword.value for keyword in node.keywords if keyword.arg == "hint"]
        is_noun = name in ("NotFoundError", "not_found")  # of `nouns_of`
        for argument in (*node.args[: 0 if is_noun else None if name == "fail" else 2], *hints):
            for meant in named.get(argument.id, []) if isinstance(argument, ast.Name) else [argument]:
                sentence = _as_pattern(meant)
                if " " in sentence and sentence.replace("{}", "").strip(" ,;:"):
                    yield sentence


def _as_pattern(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(said)):
            return said
        case ast.JoinedStr():
            return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return (_as_pattern(left) or "{}") + (_as_pattern(right) or "{}")
    return ""


def script_texts(language: str) -> bytes:
    """Return the script with the texts of all scripts in a language."""
    found = {
        one.id[0] if isinstance(one.id, tuple) else one.id: one.string
        for one in read(language)
        if one.id and any(path.endswith(".js") for path, _ in one.locations)
    }
    return f"globalThis.arenaTexts = {json.dumps(found, ensure_ascii=False, indent=0, sort_keys=True)};\n".encode()


def script_file(language: str) -> Path:
    """Return the file of `script_texts`."""
    return PAGES / "static" / f"texts.{language}.js"


def po_file(language: str) -> Path:
    """Return the catalogue of a language, for translators."""
    return FOLDER / language / "LC_MESSAGES" / f"{DOMAIN}.po"


def read(language: str) -> Catalog:
    """Return the catalogue of a language as it is stored."""
    with open(po_file(language), "rb") as file:
        return read_po(file, locale=language, domain=DOMAIN)


def updated(language: str) -> Catalog:
    """Return the stored catalogue with all present messages and no former ones."""
    catalogue = read(language) if po_file(language).exists() else Catalog(locale=language, fuzzy=False)
    catalogue.update(template(), no_fuzzy_matching=True, update_creation_date=False)
    catalogue.obsolete.clear()
    for message in catalogue if language == "fr" else ():
        if message.string:
            message.string = (
                typeset(message.string) if isinstance(message.string, str) else tuple(map(typeset, message.string))
            )
    catalogue.project, catalogue.version, catalogue.msgid_bugs_address = "bot-arena", "", ""
    catalogue.header_comment = f"# Texts of the pages: {language}"
    return catalogue


def typeset(french: str) -> str:
    """Return a text with the signs of French: curved apostrophes, and narrow no-break spaces before `; : ! ?` and in
    quotation marks.
    """
    return _APOSTROPHE.sub("’", _QUOTED.sub("«\u202f", _BEFORE_SIGN.sub("\u202f", french)))


_BEFORE_SIGN, _QUOTED = re.compile(r"(?<=\S)[ \xa0](?=[;:!?»](?!\w))"), re.compile("«[ \xa0]")
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])'(?=[^\W\d_])")


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
        script_file(language).write_bytes(script_texts(language))
        print(f"{language}: {len(read(language))} messages, {len(untranslated(read(language)))} not translated")


def untranslated(catalogue: Catalog) -> list[str]:
    """Return the messages that lack a translation or one of its plural forms."""

    def is_complete(string: str | tuple[str, ...] | list[str] | None) -> bool:
        return bool(string) and all(string)

    return [str(one.id) for one in catalogue if one.id and (one.fuzzy or not is_complete(one.string))]


if __name__ == "__main__":
    main()
