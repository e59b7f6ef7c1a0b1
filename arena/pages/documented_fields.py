"""The fields of a dataclass with the texts that stand below them: pages tell what the code tells."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from pydantic import ConfigDict, create_model


@dataclass(frozen=True, slots=True)
class DocumentedField:
    """A field with its default and the text below it in the source."""

    name: str
    default: Any
    text: str

    @property
    def value(self) -> str:
        """The default with its unit, from the unit in the name."""
        if self.name.endswith("_ms"):
            return f"{self.default / 1000:g} s" if self.default >= 1000 else f"{self.default:g} ms"
        if self.name.endswith("_bytes"):
            for unit, size in (("MiB", 2**20), ("KiB", 2**10)):
                if self.default >= size and self.default % size == 0:
                    return f"{self.default // size} {unit}"
            return f"{self.default:,} bytes"
        return f"{self.default:,}" if isinstance(self.default, int) else str(self.default)

    @property
    def title(self) -> str:
        """The name in words, without its unit."""
        return self.name.removesuffix("_ms").removesuffix("_bytes").replace("_", " ")


def documented_fields(kind: type) -> list[DocumentedField]:
    """The fields of a dataclass in order; a text is empty where there is none."""
    model = create_model("Documented", __config__=ConfigDict(use_attribute_docstrings=True), of=(kind, ...))
    known = model.model_json_schema()["$defs"][kind.__name__]["properties"]
    return [
        DocumentedField(one.name, one.default, " ".join(known[one.name].get("description", "").split()))
        for one in fields(kind)
    ]
