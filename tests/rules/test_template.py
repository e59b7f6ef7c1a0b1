"""Every family's folder has the same structure: the same files for the same things, and the same names in them."""

import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest

from referee.rules import families, load
from referee.rules.kernel_protocol import Kernel
from referee.rules.rules import GameFormat, Notation, Option, Piece, Rules, Variant

FILES = {
    "__init__.py",
    "RULES.md",
    "gametext.py",
    "kernel.py",
    "layout.py",
    "notation.py",
    "playthrough.txt",
    "rules.py",
    "start.py",
    "state.py",
    "symmetry.py",
    "tables.py",
    "words.py",
}
"""Files of every folder. Kernels and texts may have parts (`kernel_*.py`, `gametext_*.py`); features for a learned
evaluation, French words and test vectors are optional.
"""


def part(family: str, name: str):
    """Import a module of a family."""
    return importlib.import_module(f"referee.rules.{family}.{name}")


def are(values, kind) -> bool:
    """Return whether a tuple contains only values of this type."""
    return isinstance(values, tuple) and all(isinstance(one, kind) for one in values)


@pytest.mark.parametrize("family", families())
def test_the_files(family):
    load(family)
    folder = Path(str(sys.modules[f"referee.rules.{family}"].__file__)).parent
    found = {path.name for path in folder.iterdir() if path.name != "__pycache__"}
    optional = r"(?:kernel|gametext)_\w+\.py|(?:features|french|refusal)\.py|vectors\.json"
    more = {name for name in found - FILES if not re.fullmatch(optional, name)}
    assert (FILES - found, more) == (set(), set())


@pytest.mark.parametrize("family", families())
def test_the_names(family):
    rules = load(family)
    assert isinstance(rules, Rules)
    assert rules.family == family
    assert rules.kernel_module == f"referee.rules.{family}.kernel"
    assert rules is part(family, "rules").RULES
    assert rules.options is part(family, "rules").OPTIONS
    assert rules.reasons is part(family, "rules").REASONS
    assert rules.variants is part(family, "start").VARIANTS
    assert rules.notation is part(family, "notation").NOTATION
    assert rules.formats is part(family, "gametext").FORMATS
    assert rules.pieces is part(family, "layout").PIECES
    assert rules.marks is part(family, "layout").MARKS
    assert rules.words is part(family, "words").WORDS
    assert rules.emblem is part(family, "layout").EMBLEM
    assert rules.board is part(family, "layout").board
    assert rules.side is part(family, "state").side
    assert rules.symmetry is part(family, "symmetry").SYMMETRY
    assert are(rules.options, Option)
    assert are(rules.variants, Variant)
    assert are(rules.formats, GameFormat)
    assert are(rules.pieces, Piece)
    assert isinstance(rules.notation, Notation)
    for name in ("resolve", "draw"):
        if getattr(rules, name) not in (None, Rules.resolve):
            assert getattr(rules, name) is getattr(part(family, "start"), name)


@pytest.mark.parametrize("family", families())
def test_the_kernel(family):
    kernel, state = load(family).kernel, part(family, "state")
    wanted = set(Kernel.__annotations__) | {name for name, _ in inspect.getmembers(Kernel, inspect.isfunction)}
    wanted = {name for name in wanted if not name.startswith("_")}
    assert wanted <= set(kernel.__all__)  # type: ignore[attr-defined]
    assert kernel.STATE_SIZE == state.STATE_SIZE
    assert kernel.KEY_SIZE == state.KEY_SIZE


@pytest.mark.parametrize("family", families())
def test_state_names_the_index_of_every_option(family):
    state = part(family, "state")
    names = [option.name.upper() for option in load(family).options]
    assert {name: getattr(state, name, None) for name in names} == {name: index for index, name in enumerate(names)}
