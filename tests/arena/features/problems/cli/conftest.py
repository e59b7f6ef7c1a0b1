"""The server of the JSON interface's tests."""

from __future__ import annotations

from tests.arena.api.conftest import arena, server

__all__ = ["arena", "server"]
