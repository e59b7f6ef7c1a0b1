"""The process of a bot: how it failed when it hung up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from referee.bot.process import Process
from referee.game.spec import BotLimits, BotSpec
from referee.rules.core import Termination


@pytest.mark.parametrize(
    ("excess", "has_exited", "termination"),
    [
        ("", False, Termination.PROTOCOL_ERROR),
        ("processes", False, Termination.PROCESS_LIMIT),
        ("memory", False, Termination.MEMORY_LIMIT),
        ("", True, Termination.CRASHED),
        ("processes", True, Termination.PROCESS_LIMIT),
    ],
)
def test_bot_that_hung_up_failed_by_the_limit_that_ended_it(
    excess: str, has_exited: bool, termination: Termination
) -> None:
    process = Process(BotSpec("b", ("b",)), BotLimits(), cast(Any, None), cast(Any, None))
    process.child = cast(
        Any,
        SimpleNamespace(
            exits_within=lambda _: has_exited, excess=lambda: excess, how_it_ended=lambda: "killed by SIGKILL"
        ),
    )
    assert process.hung_up("`go`").termination is termination
    assert not process.is_sound
