"""How fast this process is: leaves of a tree of moves it counts in a second, by the clock on the wall.

What else the machine does meanwhile is in it: whoever is measured while all slots play is as fast as it will be.
"""

from __future__ import annotations

import time

from referee.rules import families, load

DEPTH = 3
"""Of the tree: a call takes less than a millisecond, and interpreted rules take no seconds."""
MEASURED_S = 0.3


def measure() -> float:
    """Leaves per second, of the first family there is. Compiles its kernel where that is still to be done."""
    ruleset = load(families()[0]).settle()
    kernel, config, start = ruleset.rules.kernel, ruleset.config, ruleset.read()
    kernel.perft(start, config, 1)
    leaves, begin = 0, time.perf_counter()
    while (passed_s := time.perf_counter() - begin) < MEASURED_S:
        leaves += int(kernel.perft(start, config, DEPTH))
    return leaves / passed_s
