"""Reference pages of the arena's files, made from the models that read them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from arena.cli.terminal.output import SCHEMA
from arena.config import PREFIX, Settings
from arena.pages.schema import documented_fields
from docs.extensions.json_documents import table
from referee.bot import file as bot_file
from referee.tournament.document import Document

SCALARS = {"integer": "whole number", "number": "number", "boolean": "`true`, `false`", "string": "text"}
"""Words for the simple types of JSON schema."""
TOURNAMENT = """\
# Tournament files

`arena tournament create FILE.toml` reads them. `--example FORMAT` prints an example of a format; `--check` lists all
faults of a file. The JSON interface uses the same keys.

{tables}

## An example with odds

A handicap applies to one bot, in all its games or in one pairing. Tournaments with handicaps are unrated:

```toml
name = "odds"
family = "loa"
time_control = "10+0.1"
entries = {{ bots = ["zeta", "eta", "theta v3"] }}

[[handicaps]]
bot = "zeta"                                 # named as in entries.bots
time_control = "2+0.02"

[[handicaps]]
bot = "zeta"
against = "theta v3"                         # in this pairing only; overrides the handicap above
engine_options = {{ Threads = 1 }}
```
"""
SETTINGS = f"""\
# Settings

Settings of `arena serve`, `arena referee` and `arena worker`: keys of `arena.toml` in the data folder, or environment
variables `{PREFIX}NAME`, which take precedence. `arena init` writes the file.

{{table}}
"""
DOCUMENTS = """\
# JSON documents of the command line

With `--json` a command prints one document on standard output. Each has the key `schema`, the version of all these
documents. It is raised when a key is removed or changes its meaning; the current version is {schema}. New keys
may be added at any time, so ignore those you do not know. Lines of `-o ndjson` have no `schema`. Documents of a server
(`bot show`, `game show` …) are those of the [JSON interface](json-interface.md), plus `schema`.

{table}
"""


def tournament_files() -> str:
    return TOURNAMENT.format(tables="\n".join(_tables(Document)))


def settings() -> str:
    return SETTINGS.format(table="\n".join(_table(Settings)))


def bot_file_keys() -> str:
    """Return the table of all keys of bots' files: the fields of `BotFile` with the texts below them."""
    texts = {field.name: field.text for field in documented_fields(bot_file.BotFile)}
    for key, text in bot_file.REMARKS.items():
        texts[key] = f"{text} Shown with the version, up to {bot_file.MAX_WORD} characters."
    rows = (f"| `{key}` | {cell(texts[key])} |" for key in bot_file.KEYS)
    return "\n".join(["| key | meaning |", "|---|---|", *rows, ""])


def json_documents() -> str:
    """Return the page of the JSON documents that commands print."""
    return DOCUMENTS.format(schema=SCHEMA, table="\n".join(table()))


def cell(text: str) -> str:
    """Return a text on one line that a cell of a Markdown table can hold."""
    return " ".join(text.split()).replace("|", "\\|")


def _tables(model: type[BaseModel]) -> list[str]:
    """Return the keys of a model, then those of each of its tables."""
    schema = model.model_json_schema()
    lines = _rows(schema, schema)
    for name, field in schema["properties"].items():
        inner = _inner(schema, field)
        if inner is not None:
            is_list = field.get("type") == "array"
            heading = f"`[[{name}]]`" if is_list else f"`[{name}]`"
            lines += ["", f"## {heading}", "", cell(inner.get("description", "")), "", *_rows(inner, schema)]
    return lines


def _table(model: type[BaseModel]) -> list[str]:
    schema = model.model_json_schema()
    return _rows(schema, schema)


def _rows(table: dict[str, Any], schema: dict[str, Any]) -> list[str]:
    lines = ["| key | value | default | meaning |", "|---|---|---|---|"]
    for name, field in table["properties"].items():
        about = field.get("description", "")
        if (inner := _inner(schema, field)) is not None:
            about = about or inner.get("description", "")
        assert about, f"{name} has no text below it"
        default = "required" if name in table.get("required", ()) else _default(field)
        lines.append(f"| `{name}` | {_kind(schema, field)} | {default} | {cell(about)} |")
    return lines


def _inner(schema: dict[str, Any], field: dict[str, Any]) -> dict[str, Any] | None:
    """Return the schema of the table, or of each table in the list, that a key holds; None for other values."""
    for one in (field, field.get("items", {}), *field.get("anyOf", [])):
        if "$ref" in one:
            found: dict[str, Any] = schema["$defs"][one["$ref"].rpartition("/")[2]]
            return found
    return None


def _kind(schema: dict[str, Any], field: dict[str, Any]) -> str:
    """Describe the valid values of a key."""
    if _inner(schema, field) is not None:
        return "list of tables" if field.get("type") == "array" else "table"
    if "anyOf" in field:
        kinds = [_kind(schema, choice) for choice in field["anyOf"] if choice.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if "enum" in field:
        return ", ".join(f"`{word}`" for word in field["enum"])
    if field.get("format") == "date-time":
        return "time"
    kind = {**SCALARS, "array": "list of texts", "object": "table"}[field["type"]]
    least, most = field.get("minimum"), field.get("maximum")
    above, below = field.get("exclusiveMinimum"), field.get("exclusiveMaximum")
    if above is not None and below is not None:
        return f"{kind} between {above:,} and {below:,}"
    if least is not None and most is not None:
        return f"{kind} from {least:,} to {most:,}"
    if least is not None or above is not None:
        return f"{kind} from {least:,}" if least is not None else f"{kind} above {above:,}"
    return kind


def _default(field: dict[str, Any]) -> str:
    value = field.get("default")
    if value in (None, "", [], {}):
        return ""
    if isinstance(value, dict):
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"
