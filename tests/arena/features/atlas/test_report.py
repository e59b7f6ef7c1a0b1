"""What a report says of games whose truth is known."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from arena.features.atlas.plan import AtlasPlan, starts_of
from arena.features.atlas.report import AtlasReport, report
from arena.features.atlas.run import GAMES, PLAN, AtlasBatch


def thrown(folder: Path, shares: dict[str, float], games: int, draws: float = 0.2) -> AtlasReport:
    """The report of games of Pijersi thrown by dice: each start's share of points as given."""
    plan = AtlasPlan(family="pijersi", starts=list(shares), games=games, nodes=[1])
    folder.mkdir(exist_ok=True)
    (folder / PLAN).write_text(plan.model_dump_json())
    lines, rng = [], random.Random(5)
    for start in starts_of(plan):
        dice = [rng.random() for _ in range(games)]
        won = shares[start.name] - draws / 2
        results = [1 if toss < won else 3 if toss < won + draws else 2 for toss in dice]
        played = [[result, 20 + result, "goal" if result < 3 else "no-capture"] for result in results]
        lines.append(json.dumps({"key": AtlasBatch(start, 1).key, "games": played}))
    (folder / GAMES).write_text("\n".join(lines) + "\n")
    return report(folder)


def names(count: int) -> list[str]:
    return [f"pijersi-8100#{number}" for number in range(1, count + 1)]


def test_starts_that_are_alike_are_drawn_to_their_mean(tmp_path: Path) -> None:
    atlas = thrown(tmp_path, dict.fromkeys(names(200), 0.5), 20)
    (spread,) = atlas.spreads
    assert spread.deviation < 0.04
    assert spread.mean == pytest.approx(0, abs=0.03)
    raw = np.array([start.advantage for start in atlas.starts])
    shrunk = np.array([start.shrunk for start in atlas.starts])
    assert np.abs(raw).max() > 0.2, "luck alone makes such extremes"
    assert np.abs(shrunk).max() < 0.1
    assert sum(start.is_uneven for start in atlas.starts) <= 2
    assert spread.images_agree is None or spread.images_agree > 0.001


def test_what_is_shrunk_is_nearer_to_the_truth_and_its_intervals_hold(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    truth = dict(zip(names(300), np.clip(rng.normal(0.55, 0.08, 300), 0.15, 0.85).tolist(), strict=True))
    atlas = thrown(tmp_path, truth, 30)
    (spread,) = atlas.spreads
    assert spread.deviation == pytest.approx(0.08, abs=0.025)
    assert spread.mean == pytest.approx(0.05, abs=0.015)
    errors = {"advantage": 0.0, "shrunk": 0.0}
    held = raw_held = 0
    for start in atlas.starts:
        real = truth[start.variant] - 0.5
        for name in errors:
            errors[name] += (getattr(start, name) - real) ** 2
        held += start.shrunk_low <= real <= start.shrunk_high
        raw_held += start.low <= real <= start.high
    assert errors["shrunk"] < 0.75 * errors["advantage"]
    assert 0.9 < held / 300 <= 1
    assert 0.93 < raw_held / 300 <= 1


def test_false_ones_among_the_uneven_are_few(tmp_path: Path) -> None:
    truth = {name: 0.5 if number % 4 else 0.85 for number, name in enumerate(names(200))}
    found = thrown(tmp_path, truth, 60)
    uneven = [one.variant for one in found.starts if one.is_uneven]
    assert sum(truth[name] > 0.5 for name in uneven) == 50
    assert len(uneven) <= 50 + 8


def test_images_that_do_not_agree_are_noticed_and_pooled(tmp_path: Path) -> None:
    starts = starts_of(AtlasPlan(family="pijersi", starts=["pijersi-8100#1..900"], nodes=[1]))
    groups: dict[str, list[str]] = {}
    for start in starts:
        groups.setdefault(start.key, []).append(start.name)
    several = [group for group in groups.values() if len(group) > 1][:30]
    assert several
    chosen = [name for group in several for name in group]
    equal = thrown(tmp_path / "equal", dict.fromkeys(chosen, 0.5), 40)
    assert equal.spreads[0].images_agree is not None
    assert equal.spreads[0].images_agree > 0.001
    assert len(equal.pooled) == len(several)
    assert [start.games for start in equal.pooled] == [40 * len(group) for group in several]
    images = [name for group in groups.values() if len(group) > 1 for name in group]
    few = thrown(tmp_path / "few", dict.fromkeys(images, 0.5), 2).spreads[0].images_agree
    assert few is not None
    assert few > 0.05  # the spread among few games of an image is not taken for less than it is
    odd = {name: 0.3 if number else 0.7 for group in several for number, name in enumerate(group)}
    assert thrown(tmp_path / "odd", odd, 40).spreads[0].images_agree == 0


def test_figures_of_one_start(tmp_path: Path) -> None:
    (start,) = thrown(tmp_path, {"standard": 1.0}, 50, draws=0.0).starts
    assert (start.first, start.draw, start.second, start.advantage, start.shrunk) == (50, 0, 0, 0.5, 0.5)
    assert start.low == pytest.approx(0.4287, abs=1e-4)
    assert start.is_uneven
    assert start.elo > 600
    assert start.plies == 21
    assert start.endings == "goal:50"
