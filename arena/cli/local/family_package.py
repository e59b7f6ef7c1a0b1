"""`arena rules conformance|new`: create a family as a package, and test whether it keeps the invariants."""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path

from arena.cli.terminal import argument, output
from arena.cli.terminal.actions import Actions
from arena.cli.terminal.exit import CommandError, Exit
from arena.cli.terminal.printer import Printer, add_output

_TEMPLATE = "template"
"""Family name in the template files, replaced by the name of the new family."""


def add(actions: Actions) -> None:
    """Declare both subcommands."""
    conformance = actions.add(
        "conformance",
        _conformance,
        "test whether a family keeps the invariants that the arena relies on",
        "arena rules conformance loa",
        "arena rules conformance mypackage --positions 1000 --seed 7",
        description="Check every invariant at positions of random games, and print a position where one is broken.",
    )
    conformance.add_argument(
        "family",
        metavar="FAMILY",
        help="an installed family, or a module with RULES in this folder or on the Python path",
    )
    conformance.add_argument(
        "--positions",
        metavar="COUNT",
        type=argument.positive,
        default=200,
        help="number of positions to check (default: %(default)s)",
    )
    conformance.add_argument(
        "--seed", metavar="SEED", type=int, default=1, help="seed of the random positions (default: %(default)s)"
    )
    add_output(conformance)

    new = actions.add(
        "new",
        _new,
        "create a family of games as a package of your own",
        "arena rules new othello arena-othello",
        description="Write a small playable family with its tests into DIR.",
    )
    new.add_argument("name", metavar="NAME", help="name of the family: lower-case letters and digits")
    new.add_argument("folder", metavar="DIR", type=Path, help="folder to create; it must not exist yet")


def _conformance(arguments: argparse.Namespace) -> int:
    from referee.verify.conformance import check_conformance, find

    sys.path.insert(0, os.getcwd())
    rules = find(arguments.family)
    printer, found = Printer(arguments), []
    for one in check_conformance(rules, arguments.positions, arguments.seed):
        found.append(one)
        if printer.is_for_people:
            verdict = "BROKEN" if one.problem else "holds "
            output.text(f"{verdict}  {one.invariant}" + (f" ({one.positions} positions)" if one.positions > 1 else ""))
            if one.problem:
                output.text(f"        {one.problem}")
    broken = [one.invariant for one in found if one.problem]
    verdict = f"{len(broken)} of {len(found)} invariants are broken" if broken else f"all {len(found)} invariants hold"
    laws = [{"law": one.invariant, "asked": one.positions, "problem": one.problem} for one in found]
    printer.result(
        {"family": rules.family, "seed": arguments.seed, "laws": laws, "broken": len(broken)},
        lambda: output.text(f"{rules.family}: {verdict}"),
        "laws",
    )
    return Exit.FAILED if broken else Exit.DONE


def _new(arguments: argparse.Namespace) -> int:
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
    return Exit.DONE


def _named(text: str, name: str) -> str:
    return re.sub(_TEMPLATE, name, re.sub(_TEMPLATE.title(), name.title(), text))
