"""`python -m tests.e2e.drill`: the drill from the command line. Exit code 0 when everything holds, 1 when not.

Without arguments it is the whole drill: every fault in both topologies, then remote bots, and a report in docs/reports.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from referee.sandbox import LEVELS
from tests.e2e.drill.contest import ROOT, DrillError
from tests.e2e.drill.exercise import drill, tell
from tests.e2e.drill.machine import prepare
from tests.e2e.drill.remote import remote_drill
from tests.e2e.drill.report import write
from tests.e2e.drill.scaled import Scaled
from tests.e2e.drill.stage import Embedded, Stage

GAMES, REMOTE_GAMES = 300, 1000
STAGES: dict[str, type[Stage]] = {"embedded": Embedded, "scaled": Scaled}


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.drill", description=__doc__)
    parser.add_argument("--topology", choices=(*STAGES, "both"), default="both", help="(default both)")
    parser.add_argument("--games", type=int, default=GAMES, metavar="N", help="games at least (default 300)")
    parser.add_argument("--faults", type=int, default=0, metavar="N", help="faults (default: each one once)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the sequence of faults (default 1)")
    parser.add_argument("--pause", type=int, default=80, metavar="MS", help="a move takes that long (default 80)")
    parser.add_argument("--time", metavar="TIME", help="of a bot in a game (default 8+0.1, of remote bots 10+0.1)")
    parser.add_argument("--lease", type=float, default=10.0, metavar="S", help="lease of the referee (default 10)")
    parser.add_argument(
        "--cut", type=float, default=0.0, metavar="S", help="every cut of a network lasts that long (default 4 to 12)"
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="LABEL", help="of faults that begin so, such as 'kill a bot'"
    )
    parser.add_argument("--sandbox", choices=LEVELS, help="of the bots (default the strongest one here)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave logs and data here")
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    parser.add_argument(
        "--remote", action="store_true", help=f"bots on their authors' machines (default {REMOTE_GAMES} games)"
    )
    parser.add_argument("--latency", type=float, default=1.0, metavar="X", help="of 100 ± 50 ms each way (default 1)")
    parser.add_argument("--cuts", type=float, default=0.001, metavar="X", help="share of answers cut (default 0.001)")
    parser.add_argument("--restarts", type=int, default=2, metavar="N", help="of pages and referee, each (default 2)")
    parser.add_argument("--at-once", type=int, default=8, metavar="N", help="games at once (default 8)")
    parser.add_argument("--report", type=Path, metavar="DIR", help="drill remote bots too, and write a dated report")
    arguments = parser.parse_args(sys.argv[1:] or ["--report", str(ROOT / "docs" / "reports")])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # and so everything is cleaned up
    if arguments.remote:
        return _far_away(arguments, [])
    if arguments.report:
        arguments.report.mkdir(parents=True, exist_ok=True)  # now, not after ten minutes
    can_mount = prepare()
    reports = []
    texts: list[str] = []
    is_sound = True
    for name in STAGES if arguments.topology == "both" else (arguments.topology,):
        folder = Path(tempfile.mkdtemp(prefix="arena-drill-"))
        folder.chmod(0o755)
        try:
            stage = STAGES[name](folder, can_mount=can_mount, lease_s=arguments.lease, cut_s=arguments.cut)
            if arguments.sandbox:
                stage.environment |= {"ARENA_SANDBOX": arguments.sandbox, "ARENA_ALLOW_WEAK_SANDBOX": "1"}
            report = drill(
                stage,
                games=arguments.games,
                count=arguments.faults,
                seed=arguments.seed,
                pause_ms=arguments.pause,
                time_control=arguments.time or "8+0.1",  # some faults last longer: charged to a bot, they would show
                only=arguments.only,
            )
        except DrillError as error:
            tell(f"{name}: {error}")
            texts.append(f"{name}: {error}")
            is_sound = False
            continue
        finally:
            if arguments.keep:
                shutil.copytree(folder, arguments.keep / name, dirs_exist_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
        is_sound &= report.has_passed
        reports.append(report)
        texts.append("\n".join(report.lines()))
        if not arguments.json:
            sys.stdout.write(f"{texts[-1]}\n\n")
            sys.stdout.flush()
    if arguments.report:
        is_sound &= _far_away(arguments, texts) == 0
        tell(f"report: {write(arguments.report, texts, has_passed=is_sound)}")
    if arguments.json:
        json.dump({"passed": is_sound, "drills": [report.as_json() for report in reports]}, sys.stdout, indent=1)
    return 0 if is_sound else 1


def _far_away(arguments: argparse.Namespace, texts: list[str]) -> int:
    """The drill of remote bots; its report is added to `texts`."""
    try:
        report = remote_drill(
            games=REMOTE_GAMES if arguments.games == GAMES else arguments.games,
            at_once=arguments.at_once,
            scale=arguments.latency,
            cuts=arguments.cuts,
            restarts=arguments.restarts,
            time_control=arguments.time or "10+0.1",
            seed=arguments.seed,
            keep=arguments.keep,
        )
    except DrillError as error:
        tell(f"remote: {error}")
        texts.append(f"remote: {error}")
        return 1
    texts.append("\n".join(report.lines()))
    if arguments.json and not arguments.report:
        json.dump({"passed": report.has_passed, "drills": [report.as_json()]}, sys.stdout, indent=1)
    elif not arguments.json:
        sys.stdout.write(f"{texts[-1]}\n")
    return 0 if report.has_passed else 1


if __name__ == "__main__":
    sys.exit(main())
