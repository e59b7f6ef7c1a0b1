"""Dataclass fields with their attribute docstrings, for generated reference tables."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from pydantic import ConfigDict, create_model

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
            for unit, size in ((text("MiB"), 2**20), (text("KiB"), 2**10)):
                if self.default >= size and self.default % size == 0:
                    return f"{self.default // size} {unit}"
            return number(self.default) + " " + text("bytes")
        return number(int(self.default)) if isinstance(self.default, int) else str(self.default)

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
