"""Template filters that describe JSON schema types in a few words, for the page of the API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup, escape


def type_name(schema: Mapping[str, Any]) -> str:
    """Describe a type in a few words: `integer ≥ 1`, `one of a, b`, `list of string`."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    if "const" in schema:
        return json.dumps(schema["const"])
    if "anyOf" in schema:
        return " or ".join(type_name(one) for one in schema["anyOf"])
    kind = str(schema.get("type", "anything"))
    if kind == "array":
        return f"list of {type_name(schema.get('items', {}))}"
    words = [str(schema.get("format", kind))]
    words += [f"≥ {schema['minimum']}"] if "minimum" in schema else []
    words += [f"≤ {schema['maximum']}"] if "maximum" in schema else []
    words += [f"≤ {schema['maxLength']} characters"] if "maxLength" in schema else []
    return " ".join(words)


def type_link(schema: Mapping[str, Any]) -> Markup:
    """Describe a type like `type_name`, with links to schemas."""
    if "$ref" in schema:
        name = type_name(schema)
        return Markup('<a href="#schema-{0}">{0}</a>').format(name)
    if "anyOf" in schema:
        return Markup(" or ").join(type_link(one) for one in schema["anyOf"])
    if schema.get("type") == "array":
        return Markup("list of {}").format(type_link(schema.get("items", {})))
    return escape(type_name(schema))
