"""Whole conversations: the files beside the specification, and every transcript of the specification."""

from pathlib import Path


def test_conversation_runs_through_both_ends(transcript: Path, conversation):
    conversation.run(transcript.read_text(encoding="utf-8").splitlines())
    assert conversation.referee.state is conversation.bot.state


def test_transcript_of_the_specification_runs(spec_block: list[str], conversation):
    conversation.run(spec_block)
