"""Fields and types for generated reference tables: dataclass fields with their attribute docstrings, JSON schema types
in a few words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from markupsafe import Markup, escape
from pydantic import ConfigDict, create_model

from arena.pages.filters import size
from arena.pages.language import number, text


@dataclass(frozen=True, slots=True)
class DocumentedField:
    """A field with its default and its attribute docstring."""

    name: str
    default: Any
    text: str

    @property
    def value(self) -> str:
        """The default with its unit, which the name's suffix gives."""
        if self.name.endswith("_ms"):
            return f"{number(self.default / 1000)} s" if self.default >= 1000 else f"{self.default:g} ms"
        if self.name.endswith("_bytes"):
            return size(self.default)
        if isinstance(self.default, bool):
            return text("yes") if self.default else text("no")
        return number(self.default) if isinstance(self.default, int) else str(self.default)

    @property
    def title(self) -> str:
        """The name in words, without its unit."""
        return self.name.removesuffix("_ms").removesuffix("_bytes").replace("_", " ")


def documented_fields(kind: type) -> list[DocumentedField]:
    """Return the fields of a dataclass in order; the text is empty for a field without a docstring."""
    model = create_model("Documented", __config__=ConfigDict(use_attribute_docstrings=True), of=(kind, ...))
    known = model.model_json_schema()["$defs"][kind.__name__]["properties"]
    return [
        DocumentedField(one.name, one.default, " ".join(known[one.name].get("description", "").split()))
        for one in fields(kind)
    ]


def type_name(schema: Mapping[str, Any]) -> str:
    """Describe a type in a few words: `integer ≥ 1`, `one of a, b`, `list of string`."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    if "const" in schema:
        return json.dumps(schema["const"])
    if "anyOf" in schema:
        return " or ".join(type_name(part) for part in schema["anyOf"])
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
        return Markup(" or ").join(type_link(part) for part in schema["anyOf"])
    if schema.get("type") == "array":
        return Markup("list of {}").format(type_link(schema.get("items", {})))
    return escape(type_name(schema))
