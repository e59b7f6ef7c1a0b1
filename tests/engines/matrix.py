"""What engines without clocks are told, and what comes of it: `python -m tests.engines.matrix [--games 200]`.

Every engine is a model: a habit of being late, in games that take no time, refereed by the code that referees all
others. A cell has the least, middle and greatest move time it was told (ms), its share of the time that an engine with
clocks and the same manager used, and its losses on time.

With `--real` the engine doubles of this folder are examined and play, as processes and in real time, against one that
answers at once; a cell then has no share. `--tc` chooses the time controls.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from referee.bot.bot import LocalBot
from referee.check.check import check
from referee.game.spec import BotLimits, BotSpec, GameSpec, PlannedGame, TimeControl, read_time_control
from referee.play.play import play
from referee.play.roster import Roster
from referee.rules import load
from referee.rules.core import Termination
from referee.sandbox import Sandbox
from tests.engines.modelled import Habit, Match, match, normal, now_and_then, steady

CONTROLS = ("1+0.05", "2+0.1", "10+0.1", "60+0.6", "0.5/move", "1/move", "10/move")
HABITS = (
    Habit("clockless, never late"),
    Habit("clockless, 5 ms late", steady(5)),
    Habit("15 ms late, never checked", steady(15)),
    Habit("30 ms late, checked", steady(30), found_ms=40),
    Habit("30±5 ms late, checked", normal(30, 5), found_ms=40),
    Habit("60 ms late, checked", steady(60), found_ms=70),
    Habit("40±10 ms late, checked", normal(40, 10), found_ms=60),
    Habit("slow starter, 0.4 s, checked", steady(10), first_ms=400, found_first_ms=450),
    Habit("10 ms late, now and then 200", now_and_then(10, 200), found_ms=20),
    Habit("needs 5 s", least_ms=5000),
)


def cell(found: Match) -> str:
    """One match in a few words."""
    told = sorted(found.offered_ms)
    times = f"{told[0]}/{told[len(told) // 2]}/{told[-1]}" if told else "-"
    share = f"{found.share:.0%} " if found.share else ""
    return f"{times} {share}{found.lost}"


HERE = Path(__file__).parent
DOUBLES = {
    "clockless": ("habit", "--clockless", "--late", "3"),
    "clockless, 30 ms late": ("habit", "--clockless", "--late", "30"),
    "clockless, slow starter": ("habit", "--clockless", "--late", "3", "--first", "400"),
    "startpos only": ("habit", "--clockless", "--late", "3", "--startpos-only"),
    "needs 0.3 s": ("habit", "--clockless", "--needs", "300"),
    "ignores quit": ("habit", "--clockless", "--late", "3", "--ignores-quit"),
    "spins when idle": ("habit", "--clockless", "--late", "3", "--spins"),
    "bare setoption (natsel_rs)": ("natsel_rs",),
    "ends on what it knows not (cmalo)": ("cmalo",),
    "natsel_cpp": ("natsel_cpp",),
}


class _Listening(Roster):
    """A roster that keeps what its bots are told."""

    def __init__(self) -> None:
        super().__init__(Sandbox("none"))
        self.told: list[str] = []

    def seat(self, specs: Sequence[BotSpec], limits: BotLimits) -> list[LocalBot]:
        """The bots; the first of the two names is the engine that is listened to."""
        bots = super().seat(specs, limits)
        for bot in bots:
            bot.wire.transcript = self.told if bot.spec.name == "engine" else None
        return bots


def played(double: Sequence[str], time: TimeControl, games: int) -> Match:
    """Games of a double against one that answers at once."""
    engine = BotSpec("engine", (sys.executable, "-S", "-E", str(HERE / f"{double[0]}.py"), *double[1:]))
    other = BotSpec("other", (sys.executable, "-S", "-E", str(HERE / "habit.py")))
    capabilities = check(engine, [load("pijersi").settle()], Sandbox("none"), is_quick=True).capabilities
    engine = replace(engine, capabilities=capabilities.as_json())
    lost = 0
    with _Listening() as roster:
        for number in range(games):
            pair = (engine, other) if number % 2 == 0 else (other, engine)
            spec = GameSpec("pijersi", "standard", *pair, time=time, sequence=number)
            record = play(PlannedGame.of(spec), roster)
            lost += record.termination in (Termination.TIME, Termination.STALLED) and record.winner == (
                "second" if number % 2 == 0 else "first"
            )
    told = [int(line.split()[-1]) for line in roster.told if line.startswith("> go movetime")]
    return Match(tuple(told), lost, 0.0)


def main(argv: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.engines.matrix")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--real", action="store_true", help="the doubles as processes, in real time")
    parser.add_argument("--tc", action="append", metavar="TC", help="may be repeated")
    given = parser.parse_args(argv)
    controls, width = given.tc or CONTROLS, 27
    rows: dict[str, Habit | tuple[str, ...]] = {**DOUBLES} if given.real else {habit.name: habit for habit in HABITS}
    sys.stdout.write(" " * 34 + "".join(f"{control:<{width}}" for control in controls) + "\n")
    for name, row in rows.items():
        sys.stdout.write(f"{name:<34}")
        for control in controls:
            time = read_time_control(control)
            outcome = match(row, time, given.games) if isinstance(row, Habit) else played(row, time, given.games)
            sys.stdout.write(f"{cell(outcome):<{width}}")
            sys.stdout.flush()
        sys.stdout.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
