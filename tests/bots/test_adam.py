"""The minimiser of the training programs."""

from __future__ import annotations

import numpy as np

from bots.training.linear_fit import Adam
from bots.training.positions import Floats


def test_first_step_moves_each_parameter_by_the_rate_against_its_gradient() -> None:
    one, two = np.zeros(2, dtype=np.float32), np.ones((1, 2), dtype=np.float32)
    Adam(one, two).step([np.array([4, -0.5], dtype=np.float32), np.array([[1e-2, 0]], dtype=np.float32)], 0.1)
    assert np.allclose(one, [-0.1, 0.1])
    assert np.allclose(two, [[0.9, 1.0]])


def test_second_step_uses_the_moments_of_both_gradients() -> None:
    weights = np.zeros(1, dtype=np.float32)
    adam = Adam(weights)
    for gradient in (1, 3):
        adam.step([np.array([gradient], dtype=np.float32)], 0.5)
    mean, square = (0.9 * 0.1 + 0.1 * 3) / (1 - 0.9**2), (0.999 * 0.001 + 0.001 * 9) / (1 - 0.999**2)
    assert np.allclose(weights, -0.5 - 0.5 * mean / np.sqrt(square))


def test_steps_reach_the_minimum_of_a_bowl() -> None:
    weights, target = np.zeros(3, dtype=np.float32), np.array([1, -2, 0.5], dtype=np.float32)
    adam = Adam(weights)
    for step in range(400):
        gradient: Floats = np.asarray(2 * (weights - target), dtype=np.float32)
        adam.step([gradient], 0.1 * (1 - step / 400))
    assert np.allclose(weights, target, atol=1e-3)
