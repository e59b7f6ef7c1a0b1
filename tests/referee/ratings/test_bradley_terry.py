"""Davidson's Bradley-Terry model: against choix where nothing is drawn, against its own truth where something is."""

from __future__ import annotations

import random

import numpy as np
import pytest

from referee.ratings.bradley_terry import ELO, StrengthFit, fit, superiority


def games(strengths: dict[str, float], count: int, seed: int, tie: float = 0.0) -> list[tuple[str, str, float]]:
    """Random results by the model; strengths in Elo, `tie` = v."""
    rng = random.Random(seed)
    names = list(strengths)
    results = []
    for _ in range(count):
        first, second = rng.sample(names, 2)
        p, q = np.exp(strengths[first] / ELO), np.exp(strengths[second] / ELO)
        weights = [p, tie * np.sqrt(p * q), q]
        results.append((first, second, rng.choices([1.0, 0.5, 0.0], weights)[0]))
    return results


FIELD = {f"bot {number}": 60.0 * (number - 4.5) for number in range(10)}


@pytest.mark.parametrize("prior", [1e-3, 0.1])
def test_without_draws_it_is_what_choix_finds(prior: float) -> None:
    import choix  # with scipy's statistics, which take longer to import than this test

    results = games(FIELD, 600, seed=1)
    index = {name: number for number, name in enumerate(sorted(FIELD))}
    data = [
        (index[first], index[second]) if points else (index[second], index[first]) for first, second, points in results
    ]
    # choix's penalty is alpha theta^2, ours half of the prior's weight times theta^2.
    expected = choix.opt_pairwise(len(FIELD), data, alpha=prior / 2, tol=1e-12)
    expected = ELO * (expected - expected.mean())
    elos = {strength.name: strength.elo for strength in fit(results, prior=prior).strengths}
    assert max(abs(elos[name] - expected[number]) for name, number in index.items()) < 1e-2


def test_the_order_of_the_games_changes_nothing_at_all() -> None:
    results = games(FIELD, 400, seed=2, tie=0.5)
    shuffled = results.copy()
    random.Random(3).shuffle(shuffled)
    assert fit(results) == fit(shuffled)
    assert fit(results, with_advantage=True) == fit(shuffled, with_advantage=True)


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    hits = total = 0
    for seed in range(60):
        fitted = fit(games(FIELD, 500, seed, tie=0.6))
        for strength in fitted.strengths:
            hits += abs(strength.elo - FIELD[strength.name]) <= strength.interval
            total += 1
    assert 0.92 <= hits / total <= 0.98
    assert fit(games(FIELD, 20000, 7, tie=0.6)).draw == pytest.approx(0.6 / 2.6, abs=0.01)


def test_intervals_are_projected_to_the_mean_of_the_field() -> None:
    widths = [strength.interval for strength in fit(games(FIELD, 6000, 5)).strengths]
    assert max(widths) < 40  # the flat direction would make them hundreds


def test_the_undefeated_and_the_winless_stay_finite() -> None:
    found = fit([("a", "b", 1.0)] * 10 + [("b", "c", 1.0)] * 10)
    assert [strength.name for strength in found.strengths] == ["a", "b", "c"]
    assert all(np.isfinite([strength.elo, strength.interval]).all() for strength in found.strengths)
    assert found.draw == 0


def test_only_draws_is_everybody_equal() -> None:
    found = fit([("a", "b", 0.5), ("b", "c", 0.5)])
    assert [strength.elo for strength in found.strengths] == pytest.approx([0, 0, 0], abs=1e-9)
    assert found.draw > 0.99


def test_the_advantage_of_moving_first_is_found() -> None:
    rng = random.Random(4)
    results = []
    for _ in range(4000):
        first, second = rng.sample(sorted(FIELD), 2)
        chance = 1 / (1 + np.exp(-(FIELD[first] - FIELD[second] + 50) / ELO))
        results.append((first, second, 1.0 if rng.random() < chance else 0.0))
    fitted = fit(results, with_advantage=True)
    assert abs(fitted.advantage - 50) < fitted.advantage_interval + 5
    assert fitted.advantage_interval < 20


def test_fields_that_never_met_are_counted() -> None:
    assert fit([("a", "b", 1.0), ("c", "d", 0.5), ("d", "e", 0.0)]).groups == 2


def test_nothing_is_nothing_and_nonsense_is_refused() -> None:
    assert fit([]) == StrengthFit((), 0.0, 0.0, 0.0, 0)
    for bad in (("a", "a", 1.0), ("a", "b", 0.7)):
        with pytest.raises(ValueError, match="invalid result"):
            fit([bad])


def test_as_json_the_strengths_come_with_what_was_asked_for() -> None:
    fitted = fit(games(FIELD, 200, seed=5, tie=0.5), with_advantage=True)
    said = fitted.as_json()
    assert [line["name"] for line in said.pop("strengths")] == [strength.name for strength in fitted.strengths]
    assert said == {
        "draw": pytest.approx(fitted.draw, abs=1e-4),
        "advantage": pytest.approx(fitted.advantage, abs=1e-2),
        "advantage_interval": pytest.approx(fitted.advantage_interval, abs=1e-2),
        "groups": 1,
    }


def test_the_likelihood_of_superiority_is_right_as_often_as_it_says() -> None:
    said = right = 0.0
    for seed in range(40):
        fitted = fit(games(FIELD, 150, seed, tie=0.6), prior=1e-3)
        chances = superiority(fitted)
        assert chances + chances.T == pytest.approx(np.ones_like(chances))
        names = [strength.name for strength in fitted.strengths]
        for row, column in ((0, 9), (0, 4), (3, 5), (4, 5), (5, 6), (2, 8)):
            said += chances[row, column]
            right += FIELD[names[row]] > FIELD[names[column]]
    assert right / 240 == pytest.approx(said / 240, abs=0.05)
    assert 0.7 < said / 240 < 0.99


def test_an_advantage_is_one_where_its_interval_leaves_out_nothing() -> None:
    even = [("a", "b", 1.0), ("b", "a", 1.0), ("a", "b", 0.0), ("b", "a", 0.0)] * 5
    tilted = [*even, *[("a", "b", 1.0), ("b", "a", 1.0)] * 20]
    assert not fit(even, with_advantage=True).has_advantage
    assert fit(tilted, with_advantage=True).has_advantage
    assert not fit(tilted).has_advantage
