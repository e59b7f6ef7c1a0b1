"""Encodes the results of jobs for transfer from a worker to the arena: plain JSON, with game records as lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from referee.game.record import GameRecord, read_record

_RECORD = "game record"


def call_encoded(function: Callable[..., Any], *arguments: Any) -> str:
    """Call a function in a slot and encode its result there, so that the worker forwards it unparsed."""
    return json.dumps(function(*arguments), default=_as_json)


def decode_result(text: str) -> Any:
    """Decode a result, without trusting its content. Raises ValueError if it is malformed or has an invalid record.

    Data of other machines may have any type: raises TypeError if it is not a text.
    """
    return json.loads(text, object_hook=_read)


def _as_json(value: Any) -> dict[str, str]:
    if isinstance(value, GameRecord):
        return {_RECORD: value.line()}
    raise TypeError(f"the answer of a job is JSON and records, not {type(value).__name__}")


def _read(data: dict[str, Any]) -> Any:
    return read_record(data[_RECORD]) if data.keys() == {_RECORD} else data
