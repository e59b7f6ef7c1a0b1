"""The answers of jobs on their way from a worker to an arena: plain JSON, with the records of games as their lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from referee.record import GameRecord, read_record

_RECORD = "game record"


def call_encoded(function: Callable[..., Any], *arguments: Any) -> str:
    """Call a function in a slot, and pack its answer there: who passes it on does not look into it."""
    return json.dumps(function(*arguments), default=_as_json)


def decode_result(text: str) -> Any:
    """Read an answer; nothing in it is believed yet. Raises ValueError for what is none, or has a record that is none.

    What comes from elsewhere may be of any type: TypeError for what is no text.
    """
    return json.loads(text, object_hook=_read)


def _as_json(value: Any) -> dict[str, str]:
    if isinstance(value, GameRecord):
        return {_RECORD: value.line()}
    raise TypeError(f"the answer of a job is JSON and records, not {type(value).__name__}")


def _read(data: dict[str, Any]) -> Any:
    return read_record(data[_RECORD]) if data.keys() == {_RECORD} else data
