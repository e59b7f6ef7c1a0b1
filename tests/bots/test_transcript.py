"""Whole conversations with a bot of the SDK, over real pipes, as text files.

`$ module arguments` starts the bot, `> ` is a line to it, `< ` a line from it, `<~ ` a pattern for one, `<* ` for any
number of them.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.bots.driver import COLD_S, Driver, sample

FILES = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_bot_says_what_the_transcript_says(file: Path) -> None:
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    with Driver(sample(*lines[0].removeprefix("$ ").split())) as bot:
        many: str | None = None
        for number, line in enumerate(lines[1:], 2):
            mark, _, text = line.partition(" ")
            if mark == ">":
                bot.send(text)
                continue
            if mark == "<*":
                many = text
                continue
            said = bot.line(COLD_S)
            while many is not None and re.fullmatch(many, said or ""):
                said = bot.line(COLD_S)
            many = None
            matches = said == text if mark == "<" else re.fullmatch(text, said or "")
            assert matches, f"{file.name}, statement {number}: {said!r} where {text!r} was due; {bot.errors()}"
        assert bot.line() is None
        assert bot.process.wait(20) == 0
        assert not bot.errors()
