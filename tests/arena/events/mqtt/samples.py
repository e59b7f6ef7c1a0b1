"""One payload of every kind of news, as the arena publishes it."""

from __future__ import annotations

from typing import Any

GAME = "0123456789abcdef"
OTHER = "fedcba9876543210"
OUTCOME = {
    "tournament": 3,
    "winner": "first",
    "termination": "resign",
    "kind": "rules",
    "detail": "",
    "committed": 7,
    "state": "finished",
}
SUBJECTS = {
    "plies": GAME,
    "snapshot": GAME,
    "result": GAME,
    "state": "3",
    "games": "3",
    "rounds": "3",
    "rating": "tablut/bell+king_max_step=4",
    "version state": "5",
    "version step": "5",
    "status": "arena-host-1-abc",
    "crew": "arena-host-1-abc",
    "wake": "",
}
PLY: dict[str, Any] = {"move": "a1a2", "ms": 1.5, "score": None}
SAMPLES: dict[str, dict[str, Any]] = {
    "plies": {"attempt": 1, "first": 1, "plies": [PLY]},
    "snapshot": {"tournament": 3, "attempt": 1, "plies": [PLY, PLY]},
    "result": OUTCOME,
    "state": {"state": "running", "problem": ""},
    "games": {"game": GAME, **OUTCOME},
    "rounds": {"planned": 10},
    "rating": {"game": GAME, "committed": 7},
    "version state": {"state": "checking"},
    "version step": {"line": "loa: handshake: ok"},
    "status": {"state": "acting", "holder": "host:1:abc"},
    "crew": {"holder": "host:1:abc", "workers": [], "cores": 2, "load": None},
    "wake": {"tournament": 3},
}


def ply(number: int, **more: Any) -> dict[str, Any]:
    """A ply as a game slot tells it."""
    return {"number": number, "move": f"a1a{number}", "ms": 1.0, "score": None, **more}
