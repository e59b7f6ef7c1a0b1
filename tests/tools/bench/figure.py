"""One measured figure beside the baseline measured in the same run, and how to time things on a noisy machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean, stdev

QUANTILES = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)
"""Student's t for 95 % by degrees of freedom, from 1 on; the last stands for more, and is a little wide there."""


@dataclass(frozen=True, slots=True)
class Figure:
    """`value` in `unit`; `ratio` compares it with `baseline`, which was measured in the same run.

    `interval` has the bounds of 95 % for the ratio, where both were measured several times by turns.
    """

    section: str
    name: str
    value: float
    unit: str
    baseline: str = ""
    baseline_value: float = 0.0
    goal: str = ""
    interval: tuple[float, float] | None = None

    @property
    def ratio(self) -> float | None:
        """value / baseline, None without one."""
        return self.value / self.baseline_value if self.baseline_value else None


def ratio_interval(values: Sequence[float], baselines: Sequence[float]) -> tuple[float, float] | None:
    """Return the interval of 95 % for the mean ratio of pairs measured one after the other; None for less than two."""
    ratios = [value / base for value, base in zip(values, baselines, strict=True)]
    if len(ratios) < 2:
        return None
    half = QUANTILES[min(len(ratios) - 2, len(QUANTILES) - 1)] * stdev(ratios) / len(ratios) ** 0.5
    return mean(ratios) - half, mean(ratios) + half


def best_seconds(work: Callable[[], object], repeats: int) -> float:
    """The shortest of several runs in wall seconds: noise only ever adds."""
    found = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return min(found)
