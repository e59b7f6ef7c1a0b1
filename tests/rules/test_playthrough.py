"""The stored playthrough of each family equals the one that its rules play now."""

import pytest

from referee.rules import families
from tests.rules.playthrough import path, playthrough


@pytest.mark.parametrize("family", families())
def test_playthrough(family):
    written = path(family).read_text(encoding="utf-8")
    assert playthrough(family) == written, (
        f"{family} plays differently now; if that is meant, raise the rules' version, "
        f"run: python -m tests.rules.playthrough {family}"
    )
