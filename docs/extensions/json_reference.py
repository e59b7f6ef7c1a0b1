"""Reference pages of the JSON interface, made from its OpenAPI document: operations, and the objects they exchange."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from docs.extensions.file_reference import SCALARS, cell

OPERATIONS = """\
# JSON interface

What the pages show and do, for programs. A server describes its interface at `/api/v1/openapi.json`, and shows it
with examples at `/api/v1/docs`. The commands that talk to a server, such as `arena bot submit`, use it too.

```
export ARENA_SERVER=http://127.0.0.1:8000
export ARENA_TOKEN=arena_…
curl "$ARENA_SERVER/api/v1/leaderboards/loa?limit=3"
```

- **Tokens.** Reading needs none. An operation with a *scope* needs the header `Authorization: Bearer TOKEN`, with a
  token of that scope: create one on your account page or with `arena user token`
  ([scopes](../how-to/give-roles-and-scopes.md)).
- **Lists** are `{{"items": […], "next": …}}`. Pass `next` as `after` to get the next part; it is `null` in the last
  one.
- **Errors** are [problem documents](json-objects.md#problem) (RFC 9457): `title` and `detail` say what is wrong,
  `hint` what to do, `field` which parameter or member it concerns.
- **Caching.** Responses to GET have an `ETag`, except for live data. Send it as `If-None-Match`, and an unchanged
  answer is 304 without a body.
- **Repeating.** With an `Idempotency-Key`, a POST that you repeat after a lost connection is executed once.
- **Times** are UTC, as in `2027-01-31T20:00:00Z`.
- **Compatibility.** New fields may be added at any time, so ignore those you do not know. A field is removed, or its
  meaning changed, only with a new version of the interface (`/api/v2`).

Every operation can answer with these, which are not repeated below:

| status | meaning |
|---|---|
{common}

{operations}
"""
OBJECTS = """\
# Objects of the JSON interface

Bodies and answers of the [operations](json-interface.md). In an answer every field is present; in a body those marked
*Required* must be.

These fields mean the same in all objects, unless an object says otherwise:

| field | meaning |
|---|---|
| `family`, `variant` | Names of a [family and of one of its variants](variants.md), such as `loa` and `standard`. |
| `pool` | A set of comparable ratings: the family, then its unusual rules and players, as in `loa/zen`, `loa/remote`. |
| `bot` | Name of a bot; `zeta v3` is the full name of its version 3. |
| `first`, `second` | The side that moves first, and the other one; as text, the name of its player. |
| `move`, `moves` | Moves in the canonical notation of the family. |
| `position` | Position in the notation of the family, as its [rules](rules.md) define it. |
| `plies` | Number of moves of both sides together. |
| `games`, `wins`, `draws`, `losses` | Numbers of single games, not of pairs. |
| `mu`, `sigma` | [Strength](../explanation/ratings.md) and its standard error; new bots have 25 and 8.33. |
| `conservative` | The bound mu - 3 sigma: the bot is at least that strong with 99.9 % confidence. |
| `is_provisional` | True: too few games or too large a sigma for a rank. |
| `termination` | Reason of the end of a game, one of the [terminations](terminations.md). |
| a time | UTC, as in `2027-01-31T20:00:00Z`; `null` if it has not happened. |

{objects}
"""
_LIST = re.compile(r"PageResponse_(\w+)_")


@cache
def _document() -> Mapping[str, Any]:
    from arena.api import openapi
    from arena.api.routes import table

    return openapi.document(table())


def _operations() -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for path, methods in _document()["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def operations() -> str:
    """Return the page of all operations, by subject."""
    shared = set.intersection(*(set(operation["responses"]) for _, _, operation in _operations())) | {"304"}
    meanings = {
        code: answer["description"]
        for _, _, operation in _operations()
        for code, answer in operation["responses"].items()
    }
    by_tag: dict[str, list[str]] = {}
    for path, method, operation in _operations():
        by_tag.setdefault(operation["tags"][0], []).extend(_operation(path, method, operation, shared))
    lines = [line for tag, entries in by_tag.items() for line in (f"## {tag.capitalize()}", "", *entries)]
    common = "\n".join(f"| {code} | {cell(meanings[code])} |" for code in sorted(shared))
    return OPERATIONS.format(common=common, operations="\n".join(lines))


def _operation(path: str, method: str, operation: Mapping[str, Any], shared: set[str]) -> Iterator[str]:
    yield from (f"### `{method.upper()} {path}`", "", operation["description"].strip("\n"), "")
    parameters = operation["parameters"]
    if rows := [
        f"| `{field['name']}` | {field['in']} | {_kind(field['schema'])} | {cell(field.get('description', ''))} |"
        for field in parameters
    ]:
        yield from ("| parameter | in | value | meaning |", "|---|---|---|---|", *rows, "")
    if scope := operation.get("x-scope"):
        yield from (f"- Scope: `{scope}`",)
    if body := operation.get("requestBody"):
        about = body.get("description") or " or ".join(_kind(content["schema"]) for content in body["content"].values())
        yield f"- Body: {about}"
    others = []
    for code, answer in operation["responses"].items():
        if code.startswith("2"):
            kinds = [_content(kind, media["schema"]) for kind, media in answer.get("content", {}).items()]
            yield f"- Answer {code}: {'; or '.join(kinds) or 'no body'}"
        elif code not in shared:
            others.append(f"{code} {answer['description'].rstrip('.')}")
    if others:
        yield f"- Errors: {', '.join(others)}"
    yield ""


def _content(kind: str, schema: Mapping[str, Any]) -> str:
    return _kind(schema) if kind == "application/json" else f"as `{kind}`, {schema['description']}"


def objects() -> str:
    """Return the page of the objects in bodies and answers."""
    schemas = _document()["components"]["schemas"]
    answered = _reached([each["responses"] for _, _, each in _operations()])
    sent = _reached([each.get("requestBody", {}) for _, _, each in _operations()])
    names = sorted(name for name in sent | answered if not _LIST.fullmatch(name))
    lines = [line for name in names for line in _object(name, schemas[name], is_answer=name in answered)]
    return OBJECTS.format(objects="\n".join(lines))


def _reached(start: Any) -> set[str]:
    """Return the names of the schemas that `start` refers to, directly or through other schemas."""
    schemas = _document()["components"]["schemas"]
    reached: set[str] = set()
    left = _names(start)
    while left:
        name = left.pop()
        reached.add(name)
        left |= _names(schemas[name]) - reached
    return reached


def _names(schema: Any) -> set[str]:
    """Return the names of the schemas to which a part of the document refers directly."""
    if isinstance(schema, Mapping):
        own = {schema["$ref"].rpartition("/")[2]} if isinstance(schema.get("$ref"), str) else set()
        return own.union(*(map(_names, schema.values())))
    return set().union(*map(_names, schema)) if isinstance(schema, list) else set()


def _object(name: str, schema: Mapping[str, Any], *, is_answer: bool) -> Iterator[str]:
    yield from (f"## {name}", "", schema.get("description", "").strip(), "")
    required = () if is_answer else schema.get("required", ())
    rows = [
        (
            field,
            _kind(content),
            " ".join(filter(None, ("*Required.*" * (field in required), cell(content.get("description", ""))))),
        )
        for field, content in schema.get("properties", {}).items()
    ]
    has_meanings = any(meaning for _, _, meaning in rows)
    yield from ("| field | value | meaning |", "|---|---|---|") if has_meanings else ("| field | value |", "|---|---|")
    for field, kind, meaning in rows:
        yield f"| `{field}` | {kind} |" + f" {meaning} |" * has_meanings
    yield ""


def _kind(schema: Mapping[str, Any]) -> str:
    """Describe the values of a schema; objects are links."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        listed = _LIST.fullmatch(name)
        return f"list of {_link(listed[1])}, with `next`" if listed else _link(name)
    if kinds := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(dict.fromkeys(map(_kind, kinds)))
    if words := schema.get("enum") or ([schema["const"]] if "const" in schema else []):
        return ", ".join(f"`{word}`" for word in words)
    kind = schema.get("type", "")
    if kind == "array":
        return f"list of {_kind(schema['items'])}" if schema.get("items") else "list"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"object with values: {_kind(values)}" if isinstance(values, Mapping) and values else "object"
    if schema.get("format") == "date-time":
        return "time"
    return {**SCALARS, "null": "`null`"}.get(kind, "any value") + _bounds(schema)


def _bounds(schema: Mapping[str, Any]) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None and most < 2**31 - 1:
        return f" from {least:,} to {most:,}"
    return f" from {least:,}" if least is not None else ""


def _link(name: str) -> str:
    return f"[{name}](json-objects.md#{name.lower()})"
