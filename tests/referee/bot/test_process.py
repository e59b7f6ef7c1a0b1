"""The process of a bot: how it failed when it hung up."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from referee.bot.input_file import script_fault
from referee.bot.process import Process
from referee.game.failure import BotError
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
        "Any",
        SimpleNamespace(
            ends_within=lambda _: has_exited,
            excess=lambda: excess,
            how_it_ended=lambda: "killed by SIGKILL",
            exit_code=-9,
        ),
    )
    assert process.hung_up("`go`").termination is termination
    assert not process.is_sound


@pytest.mark.parametrize(
    ("script", "fault"),
    [
        (b"#!/bin/sh\r\nexit 0\r\n", "its first line ends with a carriage return"),
        (b"#!/usr/bin/env python3\r\n", "its first line ends with a carriage return"),
        (b"\xef\xbb\xbf#!/bin/sh\nexit 0\n", "its first line begins with a byte order mark"),
        (b"#!/usr/bin/perl -w\r\n", None),
        (b"#!/bin/sh\nprintf 'a\r'\n", None),
        (b"\x7fELF\r\n", None),
    ],
)
def test_script_the_kernel_cannot_start_is_refused_with_the_cause(
    tmp_path: Path, script: bytes, fault: str | None
) -> None:
    file = tmp_path / "run.sh"
    file.write_bytes(script)
    file.chmod(0o755)
    assert (script_fault(file) or "").partition(";")[0] == (fault or "")
    assert script_fault(tmp_path) is None
    assert script_fault(tmp_path / "absent") is None
    if fault:
        process = Process(BotSpec("b", (str(file),)), BotLimits(), cast(Any, None), cast(Any, None))
        with pytest.raises(BotError, match=f"{file}: {fault}") as error:
            process.start()
        assert error.value.termination is Termination.HANDSHAKE_FAILED
