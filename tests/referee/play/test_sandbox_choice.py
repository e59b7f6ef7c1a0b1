"""The choice of a sandbox for one's own bots starts no more than it must."""

from __future__ import annotations

import pytest

from referee.bot.argument import SAMPLES, read_bot
from referee.game.spec import BotLimits, BotSpec
from referee.play import sandbox_choice
from referee.play.sandbox_choice import Complaint, choose
from referee.sandbox import LEVELS, Assessment, Sandbox

TOOL = BotSpec("tool", ("/opt/tool",))


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Levels and programs that were tried, in that order. `tool` starts in no sandbox but the weakest."""
    names: list[str] = []

    def assess(name: str) -> Assessment:
        names.append(name)
        return Assessment(name, works=True)

    def why_not(spec: BotSpec, sandbox: Sandbox, limits: BotLimits) -> Complaint | None:
        names.append(f"{spec.name or spec.command[3]} in {sandbox.name}")
        return Complaint("no library") if spec is TOOL and sandbox.name in ("bwrap", "landlock") else None

    monkeypatch.setattr(sandbox_choice, "assess", assess)
    monkeypatch.setattr(sandbox_choice, "why_not", why_not)
    monkeypatch.setattr(sandbox_choice, "open_sandbox", lambda name, is_own=False: Sandbox(name, reads_all=is_own))
    return names


def test_samples_are_one_program_and_weaker_sandboxes_are_left_alone(tried: list[str]) -> None:
    samples = [read_bot(f"sample:{name}", "loa") for name in SAMPLES]
    sandbox, notes = choose("auto", samples, BotLimits())
    assert (sandbox.name, notes) == (LEVELS[0], ())
    assert tried == ["bwrap", "bots.samples.random_mover in bwrap"]


def test_each_other_program_is_tried_until_it_starts(tried: list[str]) -> None:
    other = BotSpec("other", ("/opt/other",))
    sandbox, notes = choose("auto", [other, TOOL, other, read_bot("sample:mcts", "loa")], BotLimits())
    assert sandbox.name == "rlimits"
    assert len(notes) == 1
    assert "'tool' runs in rlimits: it does not start in bwrap (no library)" in notes[0]
    assert tried == [
        "bwrap",
        "other in bwrap",
        "tool in bwrap",
        "tool in none",
        "landlock",
        "tool in landlock",
        "rlimits",
        "tool in rlimits",
        "bots.samples.mcts in rlimits",
    ]
