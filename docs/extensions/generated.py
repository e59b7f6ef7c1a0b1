"""Reference pages made from the code: command line, files, JSON interface, terminations and more.

The pages are written below `reference/` before Sphinx reads the sources, and are never committed.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
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
    from arena.cli.terminal.commands import COMMANDS, GROUPS
    from arena.cli.terminal.parser import build

    os.environ["COLUMNS"] = "88"
    parser = build()
    parser.fill_all()
    commands = _subparsers(parser)
    lines = [COMMAND_LINE]
    for group, title in GROUPS.items():
        lines += [f"## {title[0].upper()}{title[1:]}", ""]
        for command in COMMANDS:
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
        for one in rules.variants:
            differs = ", ".join(f"`{option} = {value_text(value)}`" for option, value in one.options.items())
            lines.append(f"| `{one.name}` | {one.note} | {differs} |")
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
    holders = {one.name: one for one in ast.parse(_METRICS.read_text("utf-8")).body if isinstance(one, ast.ClassDef)}
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
        rows = [f"| `{word}` | {cell(one.sentence)} |" for word, one in all_terminations().items() if one.kind is kind]
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
                for one in re.split(r" [|:] ", layer):
                    module = ".".join(filter(None, (container, one.strip("() "))))
                    lines.append(f"| `{module}` | {cell(_summary(module))} |")
            lines.append("")
    return "\n".join(lines)


def _summary(module: str) -> str:
    """Return the first sentence of a module's docstring."""
    place = ROOT.joinpath(*module.split("."))
    path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return re.split(r"(?<=[.:])\s", text + " ")[0]


PAGES: Mapping[str, Callable[[], str]] = {
    "rooms": rooms,
    "command-line": command_line,
    "tournament-files": file_reference.tournament_files,
    "settings": file_reference.settings,
    "json-documents": file_reference.json_documents,
    "json-interface": json_reference.operations,
    "json-objects": json_reference.objects,
    "terminations": terminations,
    "metrics": metrics,
    "variants": variants,
}
"""The generated pages of `reference/`."""


COPIES: Mapping[str, str] = {
    "protocol/SPEC.md": "reference/protocol.md",
    "SECURITY.md": "explanation/security.md",
    "CHANGELOG.md": "reports/changelog.md",
    **{f"protocol/dialects/{name}.md": f"reference/dialects/{name}.md" for name in FAMILIES},
    **{f"referee/rules/{name}/RULES.md": f"reference/rules/{name}.md" for name in FAMILIES},
}
"""Documents kept with the code that they describe, and the page of each."""

_LINK = re.compile(r"\[([^\[\]]*)\]\((?!https?:|#|mailto:)([^()#\s]+)(#[^()\s]*)?\)")


def copy(source: str) -> str:
    """Return a document with links to the pages of this site; a link to any other file becomes its name."""

    def link(found: re.Match[str]) -> str:
        text, target, anchor = found[1], found[2], found[3] or ""
        place = os.path.normpath(Path(source).parent / target)
        page = COPIES.get(place) or (place.removeprefix("docs/") if re.match(r"docs/.*\.md$", place) else None)
        return f"[{text}]({os.path.relpath(page, Path(COPIES[source]).parent)}{anchor})" if page else text

    return _LINK.sub(link, (ROOT / source).read_text(encoding="utf-8"))


def write(app: Sphinx) -> None:
    """Write the pages that changed since the last build."""
    pages = {f"reference/{name}.md": make for name, make in PAGES.items()}
    pages |= {page: partial(copy, source) for source, page in COPIES.items()}
    for name, make in pages.items():
        path, text = Path(app.srcdir) / name, make()
        path.parent.mkdir(exist_ok=True)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx looks for sources."""
    app.add_lexer("transcript", TextLexer)
    if app.config.language == "en":
        app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
