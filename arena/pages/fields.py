"""The fields of a settings class with what its source says of them: pages tell what the code tells."""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Field:
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


def documented(kind: type) -> list[Field]:
    """The fields of a dataclass in order; a text is empty where the source has none."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    body = tree.body[0].body  # type: ignore[attr-defined]
    texts: dict[str, str] = {}
    for line, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and isinstance(following, ast.Expr):
            if isinstance(following.value, ast.Constant) and isinstance(following.value.value, str):
                texts[line.target.id] = " ".join(following.value.value.split())
    return [Field(one.name, one.default, texts.get(one.name, "")) for one in fields(kind)]
