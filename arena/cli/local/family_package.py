"""`arena rules conformance|new`: create a family as a package, and test whether it keeps the invariants."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from arena.cli.terminal import argument, output
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.fields import Actions, option, positional
from arena.cli.terminal.printer import Output, Printer

_TEMPLATE = "template"
"""Family name in the template files, replaced by the name of the new family."""


@dataclass(frozen=True, kw_only=True)
class ConformanceArguments(Output):
    family: str = positional(
        "an installed family, or a module with RULES in this folder or on the Python path", "FAMILY"
    )
    positions: int = option("number of positions to check", metavar="COUNT", type=argument.positive, default=200)
    seed: int = option("seed of the random positions", metavar="SEED", type=int, default=1)


@dataclass(frozen=True, kw_only=True)
class NewArguments:
    name: str = positional("name of the family: lower-case letters and digits", "NAME")
    folder: Path = positional("folder to create; it must not exist yet", "DIR")


def add(actions: Actions) -> None:
    """Declare both subcommands."""
    actions.add(
        "conformance",
        _conformance,
        "test whether a family keeps the invariants that the arena relies on",
        "arena rules conformance loa",
        "arena rules conformance mypackage --positions 1000 --seed 7",
        description="Check every invariant at positions of random games, and print a position where one is broken.",
    )
    actions.add(
        "new",
        _new,
        "create a family of games as a package of your own",
        "arena rules new othello arena-othello",
        description="Write a small playable family with its tests into DIR.",
    )


def _conformance(arguments: ConformanceArguments) -> int:
    from referee.verify.conformance import check_conformance, find

    sys.path.insert(0, os.getcwd())
    rules = find(arguments.family)
    printer, verdicts = Printer(arguments), []
    for law in check_conformance(rules, arguments.positions, arguments.seed):
        verdicts.append(law)
        if printer.is_for_people:
            verdict = "BROKEN" if law.problem else "holds "
            output.text(f"{verdict}  {law.invariant}" + (f" ({law.positions} positions)" if law.positions > 1 else ""))
            if law.problem:
                output.text(f"        {law.problem}")
    broken = [law.invariant for law in verdicts if law.problem]
    verdict = (
        f"{len(broken)} of {len(verdicts)} invariants are broken" if broken else f"all {len(verdicts)} invariants hold"
    )
    laws = [{"law": law.invariant, "asked": law.positions, "problem": law.problem} for law in verdicts]
    printer.result(
        {"family": rules.family, "seed": arguments.seed, "laws": laws, "broken": len(broken)},
        lambda: output.text(f"{rules.family}: {verdict}"),
        "laws",
    )
    return Exit.FAILED if broken else Exit.DONE


def _new(arguments: NewArguments) -> None:
    from referee import family_template
    from referee.families import homes, is_name

    name, folder = arguments.name, arguments.folder
    if not is_name(name) or name == _TEMPLATE:
        raise CommandError(
            f'invalid family name "{name}": expected 2 to 31 lower-case letters and digits, a letter first, '
            f"and not {_TEMPLATE}"
        )
    if name in homes():
        raise CommandError(f'the family "{name}" already exists; choose another name')
    if folder.exists():
        raise CommandError(f"{folder} already exists; choose another folder")
    places = {"family": f"arena_{name}", "tests": "tests"}
    source = Path(family_template.__file__).parent
    for file in sorted(source.rglob("*")):
        inside = file.relative_to(source)
        if file.is_dir() or "__pycache__" in inside.parts or inside == Path("__init__.py"):
            continue
        parts = [places.get(part, part) for part in inside.parts]
        target = folder.joinpath(*parts).with_name(_named(inside.name.removesuffix(".txt"), name))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_named(file.read_text(encoding="utf-8"), name), encoding="utf-8")
    output.text(f"created {folder}: the family {name}, three pawns a side; next: read {folder / 'README.md'}")


def _named(text: str, name: str) -> str:
    return re.sub(_TEMPLATE, name, re.sub(_TEMPLATE.title(), name.title(), text))
