"""Adam (Kingma and Ba, 2015), which minimises a function of several arrays by its gradients."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bots.training.positions import Floats


class Adam:
    """The state of a minimisation. Its steps change the arrays in place."""

    def __init__(self, *arrays: Floats) -> None:
        self._arrays, self._time = arrays, 0
        self._first = [np.zeros_like(array) for array in arrays]
        self._second = [np.zeros_like(array) for array in arrays]

    def step(self, gradients: Sequence[Floats], rate: float) -> None:
        """Take one step against the gradients, one for each array."""
        self._time += 1
        for array, gradient, first, second in zip(self._arrays, gradients, self._first, self._second, strict=True):
            first += np.float32(0.1) * (gradient - first)
            second += np.float32(0.001) * (gradient * gradient - second)
            up = first / np.float32(1 - 0.9**self._time)
            down = np.sqrt(second / np.float32(1 - 0.999**self._time)) + np.float32(1e-8)
            array -= np.float32(rate) * (up / down)
