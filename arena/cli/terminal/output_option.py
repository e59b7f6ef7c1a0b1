"""`-o/--output FORM` of commands that print a result, with `--json` and `--ndjson` as short forms of two of them."""

from __future__ import annotations

import argparse
from typing import Any

_MEANINGS = {"json": "one JSON document on stdout", "ndjson": "one JSON document a line on stdout"}


class _Form(argparse.Action):
    """Keeps the form, and sets what its short form sets."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, *_: Any) -> None:
        """Take the form down."""
        setattr(namespace, self.dest, values)
        for form in _MEANINGS:
            if hasattr(namespace, form):
                setattr(namespace, form, values == form)


def add_output(parser: argparse.ArgumentParser, *forms: str) -> None:
    """`--output` with these forms, of which `table` is the default, and their short forms."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "-o", "--output", action=_Form, choices=("table", *forms), default="table", help="the form (default table)"
    )
    for form, meaning in _MEANINGS.items():
        if form in forms:
            group.add_argument(f"--{form}", action="store_true", help=f"{meaning}, as -o {form}")
