"""`make bench`: every performance figure with its ratio to a baseline measured in the same run.

    python -m tests.tools.bench [--quick] [--only SECTION] [--json FILE] [--table FILE] [--keep]

Absolute times mean little on shared machines; the ratios hold. Goals are printed beside the figures, never asserted.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from tests.tools.bench.figure import Figure

SECTIONS = {
    "kernels": "kernels",
    "search": "search",
    "referee": "overhead",
    "peers": "peers",
    "many": "many",
    "gains": "gains",
    "starting": "starting",
    "sandbox": "sandbox",
    "pondering": "pondering",
    "tables": "tables",
    "ratings": "ratings",
    "throttle": "throttle",
    "store": "store",
    "plans": "plans",
    "archive": "archive",
    "pages": "pages",
    "routes": "routes",
    "memory": "memory",
    "live": "live",
    "people": "people",
    "visitors": "visitors",
    "remote": "remote",
    "cluster": "cluster",
    "referees": "referees",
    "recovery": "recovery",
    "analysis": "analysis",
}
"""Section -> module of this package whose `run(quick)` yields figures."""
ASKED_FOR = ("routes", "referees", "recovery", "analysis")
"""Many minutes: measured when they are named only."""
BUILD = Path("build")


def main() -> int:
    """Measure, print, and write both files; 1 if a section could not be measured."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats: under two minutes")
    parser.add_argument("--only", action="append", choices=SECTIONS, help="only this section; may be repeated")
    parser.add_argument("--json", type=Path, metavar="FILE", default=BUILD / "bench.json", help="[build/bench.json]")
    parser.add_argument("--table", type=Path, metavar="FILE", default=BUILD / "bench.txt", help="[build/bench.txt]")
    parser.add_argument("--keep", action="store_true", help="keep the sections of the JSON that are not measured now")
    arguments = parser.parse_args()
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    lines = [f"{machine}, load {os.getloadavg()[0]:.1f}"]
    print(lines[0])
    is_kept = arguments.keep and arguments.json.exists()
    sections: dict[str, Any] = json.loads(arguments.json.read_text()) if is_kept else {}
    broken = False
    seconds: dict[str, float] = {}
    for name in arguments.only or [name for name in SECTIONS if name not in ASKED_FOR]:
        begin, load, figures = time.monotonic(), os.getloadavg()[0], list[Figure]()
        try:
            run: Callable[[bool], Iterator[Figure]] = importlib.import_module(f"tests.tools.bench.{SECTIONS[name]}").run
            for figure in run(arguments.quick):
                figures.append(figure)
                lines.append(_line(figure))
                print(lines[-1], flush=True)
        except Exception as error:  # the others are worth having
            traceback.print_exc()
            broken = True
            lines.append(f"{name:<9} not measured: {type(error).__name__}: {error}")
        else:
            sections[name] = {
                "date": date.today().isoformat(),
                "machine": machine,
                "load": round(load, 1),
                "quick": arguments.quick,
                "figures": [{**asdict(figure), "ratio": figure.ratio} for figure in figures],
            }
        seconds[name] = round(time.monotonic() - begin, 1)
        # After each section: an interrupt loses one section, not an hour.
        ordered = {name: sections[name] for name in SECTIONS if name in sections}
        _write(arguments.json, json.dumps(ordered, indent=1, ensure_ascii=False))
        _write(arguments.table, "\n".join(lines))
    lines.append("seconds: " + ", ".join(f"{name} {taken:g}" for name, taken in seconds.items()))
    print(lines[-1])
    _write(arguments.table, "\n".join(lines))
    for path in (arguments.json, arguments.table):
        print(f"written: {path}", file=sys.stderr)
    return 1 if broken else 0


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


def _line(figure: Figure) -> str:
    ratio = f"{figure.ratio:>9.3g} x {figure.baseline} ({figure.baseline_value:.3g})" if figure.ratio else ""
    if figure.interval:
        ratio += " [{:.3g} to {:.3g}]".format(*figure.interval)
    goal = f"goal {figure.goal}" if figure.goal else ""
    return f"{figure.section:<9} {figure.name:<58} {figure.value:>12,.2f} {figure.unit:<12} {goal:<17} {ratio}".rstrip()


if __name__ == "__main__":
    sys.exit(main())
