"""A long full collection leaves what it found to stay; a short one does not, unless it is told to."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from arena.http.garbage import LONG_S, set_aside, settled


@pytest.mark.parametrize(("length_s", "is_kept"), [(LONG_S * 1.1, True), (LONG_S * 0.9, False)])
def test_what_a_long_collection_leaves_is_not_looked_through_again(length_s: float, is_kept: bool) -> None:
    times: Iterator[float] = iter([10.0, 10.0 + length_s])
    before = gc.get_freeze_count()
    with settled(lambda: next(times)):
        gc.collect(0)  # of young objects alone: the clock is not asked
        gc.collect()
        assert (gc.get_freeze_count() > before) is is_kept
    assert gc.get_freeze_count() <= before


def test_what_is_set_aside_is_not_looked_through_again_until_the_end() -> None:
    before = gc.get_freeze_count()
    with settled():
        loaded = [[] for _ in range(1000)]
        set_aside()
        assert gc.get_freeze_count() >= before + len(loaded)
        assert not any(each is loaded for each in gc.get_objects())
    assert gc.get_freeze_count() <= before
