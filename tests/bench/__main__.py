"""`make bench`: every performance figure with its ratio to a baseline measured in the same run.

    python -m tests.bench [--quick] [--only SECTION] [--json FILE]

Absolute times mean little on shared machines; the ratios hold. Goals are printed beside the figures, never asserted.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from dataclasses import asdict
from pathlib import Path

from tests.bench import kernels, overhead, pages, sandbox, starting, tables
from tests.bench.figure import Figure

SECTIONS = {
    "kernels": kernels.run,
    "referee": overhead.run,
    "starting": starting.run,
    "sandbox": sandbox.run,
    "tables": tables.run,
    "pages": pages.run,
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer repeats: under two minutes")
    parser.add_argument("--only", action="append", choices=SECTIONS, help="only this section; may be repeated")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    arguments = parser.parse_args()
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    print(f"{machine}, load {os.getloadavg()[0]:.1f}")
    figures: list[Figure] = []
    for name in arguments.only or SECTIONS:
        for figure in SECTIONS[name](arguments.quick):
            figures.append(figure)
            _show(figure)
    if arguments.json:
        data = [{**asdict(figure), "ratio": figure.ratio} for figure in figures]
        arguments.json.write_text(json.dumps({"quick": arguments.quick, "figures": data}, indent=1))


def _show(figure: Figure) -> None:
    ratio = f"{figure.ratio:>9.3g} x {figure.baseline} ({figure.baseline_value:.3g})" if figure.ratio else ""
    goal = f"goal {figure.goal}" if figure.goal else ""
    print(f"{figure.section:<9} {figure.name:<52} {figure.value:>12,.2f} {figure.unit:<11} {goal:<16} {ratio}")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
