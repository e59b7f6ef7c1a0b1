"""`arena rules certify|new`: families of one's own, begun and examined."""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path

from arena.cli import choice, output
from arena.cli.actions import Actions
from arena.cli.exit import CommandError, Exit

_TEMPLATE = "template"
"""The name of the family in the files that a new one begins with."""


def add(actions: Actions) -> None:
    """Declare both."""
    certifying = actions.add(
        "certify",
        _certify,
        "whether a family keeps the laws the arena relies on",
        "arena rules certify loa",
        "arena rules certify mypackage --positions 1000 --seed 7",
        description="FAMILY is a family that is installed, or a module with RULES in this folder or on the path. "
        "A law that is broken is shown with the position it is broken in.",
    )
    certifying.add_argument("family", metavar="FAMILY")
    certifying.add_argument("--positions", metavar="N", type=choice.positive, default=200, help="default: %(default)s")
    certifying.add_argument("--seed", metavar="S", type=int, default=1, help="other positions (default: %(default)s)")
    certifying.add_argument("--json", action="store_true", help="one JSON document on stdout")

    beginning = actions.add(
        "new",
        _new,
        "begin a family of games as a package of your own",
        "arena rules new othello arena-othello",
        description="Writes a small playable family with its tests into DIR, which must not be there yet.",
    )
    beginning.add_argument("name", metavar="NAME", help="the family's name: lower case letters and digits")
    beginning.add_argument("folder", metavar="DIR", type=Path)


def _certify(arguments: argparse.Namespace) -> int:
    from referee.verify.conformance import certify, find

    sys.path.insert(0, os.getcwd())
    rules = find(arguments.family)
    found = []
    for one in certify(rules, arguments.positions, arguments.seed):
        found.append(one)
        if not arguments.json:
            verdict = "BROKEN" if one.problem else "holds "
            output.text(f"{verdict}  {one.law}" + (f" ({one.asked} positions)" if one.asked > 1 else ""))
            if one.problem:
                output.text(f"        {one.problem}")
    broken = [one.law for one in found if one.problem]
    if arguments.json:
        laws = [{"law": one.law, "asked": one.asked, "problem": one.problem} for one in found]
        output.document({"family": rules.family, "seed": arguments.seed, "laws": laws, "broken": len(broken)})
    elif broken:
        output.text(f"{rules.family}: {len(broken)} of {len(found)} laws are broken")
    else:
        output.text(f"{rules.family} keeps all {len(found)} laws")
    return Exit.FAILED if broken else Exit.DONE


def _new(arguments: argparse.Namespace) -> int:
    from referee import family_template
    from referee.rules.families import homes, is_name

    name, folder = arguments.name, arguments.folder
    if not is_name(name) or name == _TEMPLATE:
        raise CommandError(f"{name!r} cannot be the name of a family: lower case letters and digits, a letter first")
    if name in homes():
        raise CommandError(f"there is a family {name!r} already; choose another name")
    if folder.exists():
        raise CommandError(f"{folder} is there already; name a folder that is not")
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
    output.text(
        f"{folder}: the family {name}, three pawns a side to begin with; {folder / 'README.md'} says how to go on"
    )
    return Exit.DONE


def _named(text: str, name: str) -> str:
    return re.sub(_TEMPLATE, name, re.sub(_TEMPLATE.title(), name.title(), text))
