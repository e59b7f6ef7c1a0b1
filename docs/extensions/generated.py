"""Reference pages made from the code: command line, files, JSON interface, terminations and more.

`make reference` writes these pages below `reference/`. They are committed, so that links lead to them in a clone and a
change of the code shows what it changes for readers. Documents kept with the code are copied for the site only, before
Sphinx reads the sources: links of other pages lead to the document itself.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

from docs.extensions import architecture, file_reference, json_reference
from docs.extensions.file_reference import cell

ROOT = Path(__file__).parents[2]
FAMILIES = ("abalone", "baroque", "loa", "pijersi", "tablut")
_METRICS = ROOT / "arena" / "metrics.py"
_METRIC_TYPES = ("Counter", "Gauge", "Histogram")


COMMAND_LINE = """\
# Command line

Every command prints this text with `--help`. Results go to standard output, notes and progress to standard error.

Commands with a result take `-o`, `--output` with one of the formats in their help; `--json` is short for `-o json`, and
its [documents](json-documents.md) have a schema number. [Environment variables](environment-variables.md) set defaults.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | the command ran, and what it checked is not right |
| 2 | invalid command line or input |
| 3 | not found |
| 4 | refused: not allowed, or a limit is exceeded |
| 5 | a server or a service does not answer |
| 130 | interrupted by Ctrl-C |
| 141 | the reader of the output, such as `head`, has closed it |
"""


def command_line() -> str:
    """Return the page of all commands, each as `--help` prints it."""
    from arena.cli.terminal.commands import GROUPS, every
    from arena.cli.terminal.parser import build

    os.environ["COLUMNS"] = "88"
    parser = build()
    parser.fill_all()
    commands = _subparsers(parser)
    lines = [COMMAND_LINE]
    for group, title in GROUPS.items():
        lines += [f"## {title[0].upper()}{title[1:]}", ""]
        for command in every():
            if command.group == group:
                lines += _command(f"arena {command.name}", commands[command.name])
    return "\n".join(lines)


def _subparsers(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    """Return the parsers of a parser's commands by name."""
    # argparse has no public way to walk its commands.
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return action.choices
    return {}


def _command(name: str, parser: argparse.ArgumentParser, level: int = 3) -> Iterator[str]:
    yield from (f"{'#' * level} {name}", "", "```text", parser.format_help().rstrip(), "```", "")
    for inner, one in _subparsers(parser).items():
        yield from _command(f"{name} {inner}", one, level + 1)


def variants() -> str:
    """Return the page of the variants and rule options of all families."""
    from referee.rules import load
    from referee.rules.core import value_text

    lines = [
        "# Variants and rule options",
        "",
        "`variant` and `rule_options` of a tournament, `--variant` and `--option` of `arena play`.",
        "",
    ]
    for name in FAMILIES:
        rules = load(name)
        lines += [
            f"## {rules.title}",
            "",
            f"Family `{name}`.",
            "",
            "| variant | meaning | differs in |",
            "|---|---|---|",
        ]
        for variant in rules.variants:
            differs = ", ".join(f"`{option} = {value_text(value)}`" for option, value in variant.options.items())
            lines.append(f"| `{variant.name}` | {variant.note} | {differs} |")
        lines += ["", "| rule option | values | default | meaning |", "|---|---|---|---|"]
        for option in rules.options:
            choices = {"check": "`true`, `false`", "spin": f"{option.minimum} to {option.maximum:,}"}
            values = choices.get(option.type) or ", ".join(f"`{value}`" for value in option.values)
            default = value_text(option.default)
            lines.append(f"| `{option.name}` | {values} | `{default}` | {option.meaning} |")
        lines.append("")
    return "\n".join(lines)


def metrics() -> str:
    """Return the page of all metrics for Prometheus, from the sources that declare them."""
    lines = [
        "# Metrics",
        "",
        "[Monitor](../how-to/monitor.md) explains how to collect them, and which ones need attention.",
        "",
    ]
    holders = {
        node.name: node for node in ast.parse(_METRICS.read_text("utf-8")).body if isinstance(node, ast.ClassDef)
    }
    for title, holder in (("Every process", "Metrics"), ("The referee", "CoordinatorMetrics")):
        lines += [f"## {title}", "", "| metric | type | labels | meaning |", "|---|---|---|---|"]
        for call in ast.walk(holders[holder]):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in _METRIC_TYPES:
                name, meaning, *others = map(ast.literal_eval, call.args)
                labels = ", ".join(f"`{label}`" for label in chain.from_iterable(others))
                lines.append(f"| `{name}` | {call.func.id.lower()} | {labels} | {meaning} |")
        lines.append("")
    return "\n".join(lines)


def terminations() -> str:
    """Return the page of all words for the end of a game."""
    from referee.rules import terminations as all_terminations
    from referee.rules.core import Kind

    lines = ["# Terminations", "", "How a game can end. Records and the JSON interface use these words.", ""]
    for kind in Kind:
        rows = [
            f"| `{word}` | {cell(termination.sentence)} |"
            for word, termination in all_terminations().items()
            if termination.kind is kind
        ]
        lines += [f"## {kind.value.capitalize()}", "", kind.sentence, "", "| word | meaning |", "|---|---|", *rows, ""]
    return "\n".join(lines)


def rooms() -> str:
    """Return the page of the rooms (parts) of the code, from the import contracts that name them."""
    lines = ["# Rooms of the code", "", "`make lint` checks these layers: each imports only those below it.", ""]
    for contract in architecture.settings()["contracts"]:
        if contract["type"] == "layers":
            lines += [f"## {contract['name']}", "", "| room | contents |", "|---|---|"]
            container = contract.get("containers", [""])[0]
            for layer in contract["layers"]:
                for entry in re.split(r" [|:] ", layer):
                    module = ".".join(filter(None, (container, entry.strip("() "))))
                    lines.append(f"| `{module}` | {cell(_summary(module))} |")
            lines.append("")
    lines += ["## Features", "", "They never import each other.", "", "| room | contents |", "|---|---|"]
    rooms = [f"arena.{room}" for room in architecture.features()]
    return "\n".join([*lines, *(f"| `{room}` | {cell(_summary(room))} |" for room in rooms), ""])


FIGURES = """\
# Measured figures

The last measurement of each section of the [bench](../contributing/measure-speed.md), whose page says what each section
is. This command measures them and makes this page again:

    make figures

Times on a busy machine are longer than on an idle one: trust the ratios, whose baselines were measured in the same run.
Brackets have the interval of 95 % of a ratio.
"""


def figures() -> str:
    """Return the page of measured figures, from the committed JSON of the bench."""
    lines = [FIGURES]
    for name, section in json.loads((REFERENCE / "figures.json").read_text(encoding="utf-8")).items():
        repeats = ", with fewer repeats" if section["quick"] else ""
        lines += [f"## {name.capitalize()}", ""]
        lines += [f"{section['date']}: {section['machine']}, load {section['load']}{repeats}.", ""]
        lines += ["| what | value | goal | ratio to its baseline |", "|---|---|---|---|"]
        for figure in section["figures"]:
            ratio = f"{_number(figure['ratio'])} × {figure['baseline']}" if figure["ratio"] else ""
            if figure["interval"]:
                ratio += " [{} to {}]".format(*map(_number, figure["interval"]))
            cells = figure["name"], f"{_number(figure['value'])} {figure['unit']}", figure["goal"], ratio
            lines.append("| " + " | ".join(map(cell, cells)) + " |")
        lines.append("")
    return "\n".join(lines)


def _number(value: float) -> str:
    """Return a number with three digits, and all those before its point."""
    return f"{value:,.3g}" if abs(value) < 999.5 else f"{value:,.0f}"


def _summary(module: str) -> str:
    """Return the first sentence of a module's docstring."""
    place = ROOT.joinpath(*module.split("."))
    path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return re.split(r"(?<=[.:])\s", text + " ")[0]


PAGES: Mapping[str, Callable[[], str]] = {
    "rooms": rooms,
    "command-line": command_line,
    "bot-file-keys": file_reference.bot_file_keys,
    "tournament-files": file_reference.tournament_files,
    "settings": file_reference.settings,
    "json-documents": file_reference.json_documents,
    "json-interface": json_reference.operations,
    "json-objects": json_reference.objects,
    "terminations": terminations,
    "metrics": metrics,
    "figures": figures,
    "variants": variants,
}
"""The generated pages of `reference/`. The keys of bot files are part of `bot-files.md`."""
REFERENCE = ROOT / "docs" / "reference"


COPIES: Mapping[str, str] = {
    "protocol/SPEC.md": "reference/protocol.md",
    "SECURITY.md": "explanation/security.md",
    "CHANGELOG.md": "reports/changelog.md",
    **{f"protocol/dialects/{name}.md": f"reference/dialects/{name}.md" for name in FAMILIES},
    **{f"referee/rules/{name}/RULES.md": f"reference/rules/{name}.md" for name in FAMILIES},
}
"""Documents kept with the code that they describe, and the page of each."""

_LINK = re.compile(r"\[([^\[\]]*)\]\((?!https?:|#|mailto:)([^()#\s]+)(#[^()\s]*)?\)")


def linked(text: str, source: str, page: str) -> str:
    """Return a document, kept in the file `source`, for its page of the site: documents with the code are pages there.

    A link to a file that is on no page becomes its name.
    """

    def link(match: re.Match[str]) -> str:
        name, target, anchor = match[1], match[2], match[3] or ""
        place = os.path.normpath(Path(source).parent / target)
        linked_page = COPIES.get(place) or (place.removeprefix("docs/") if place.startswith("docs/") else None)
        return f"[{name}]({os.path.relpath(linked_page, Path(page).parent)}{anchor})" if linked_page else name

    return _LINK.sub(link, text)


def write(app: Sphinx) -> None:
    """Write the copies that changed since the last build."""
    for source, page in COPIES.items():
        _write(Path(app.srcdir) / page, linked((ROOT / source).read_text(encoding="utf-8"), source, page))


def _write(path: Path, text: str) -> None:
    """Write a page; an unchanged one is left alone, which Sphinx then need not read again."""
    path.parent.mkdir(exist_ok=True)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def read(_: Sphinx, name: str, content: list[str]) -> None:
    """Lead the links of a page that Sphinx reads to the pages of the site."""
    page = f"{name}.md"
    if page not in COPIES.values():
        content[0] = linked(content[0], f"docs/{page}", page)


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx looks for sources."""
    app.add_lexer("transcript", TextLexer)
    if app.config.language == "en":
        app.connect("builder-inited", write)
        app.connect("source-read", read)
    return {"parallel_read_safe": True}


def main() -> None:
    for name, make in PAGES.items():
        _write(REFERENCE / f"{name}.md", make())


if __name__ == "__main__":
    main()
