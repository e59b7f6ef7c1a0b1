"""What a remote bot says of itself when it comes: a process of it is started once, and shakes hands.

What it announces decides what it may enter, as the check of an upload does for bots of the sandbox.
"""

from __future__ import annotations

import asyncio
import json

from aiohttp import WSMsgType, web

from arena.errors import ArenaError
from protocol.capabilities import Capabilities
from protocol.messages import Ugi
from protocol.session import RefereeSession
from protocol.turn import SessionState
from referee.spec import Limits

GAME = 0
"""The number of that process: those of games begin with 1."""
PATIENCE_S = Limits().start_ms / 1000
"""How long is waited for `ugiok`."""
MOST_LINES = 2000
"""A bot announces at most half as many options."""


class UnintroducedError(ArenaError):
    """The program does not shake hands: it would lose every game."""

    kind = "invalid"


async def introduced(socket: web.WebSocketResponse) -> Capabilities:
    """What the bot at the other end announces. Raises UnintroducedError; ConnectionError when the connection ends, and
    ValueError for what makes no sense.
    """
    session = RefereeSession()
    await socket.send_json({"game": GAME, "do": "open"})
    await socket.send_json({"game": GAME, "say": session.send(Ugi()).decode().rstrip("\n")})
    try:
        async with asyncio.timeout(PATIENCE_S):
            for _ in range(MOST_LINES):
                await _hear(socket, session)
                if session.state is SessionState.IDLE:
                    await socket.send_json({"game": GAME, "do": "close"})
                    return session.merge_capabilities()
        problem = f"the bot said {MOST_LINES:,} lines and no `ugiok`"
    except TimeoutError:
        problem = f"the bot did not answer `ugi` in {PATIENCE_S:g} s"
    raise UnintroducedError(problem, hint="see what `arena check` says of it")


async def _hear(socket: web.WebSocketResponse, session: RefereeSession) -> None:
    message = await socket.receive()
    if message.type is WSMsgType.PING:
        await socket.pong(message.data)
    elif message.type is WSMsgType.TEXT:
        said = json.loads(message.data)
        if not isinstance(said, dict):
            raise ValueError("a message is an object")
        if "gone" in said:
            raise UnintroducedError(
                f"the bot ended before it had said `ugiok`: {str(said['gone'])[:300]}",
                hint="see what `arena check` says of it",
            )
        session.receive(str(said.get("line", "")).encode())
    elif message.type is not WSMsgType.PONG:
        raise ConnectionResetError("the connection ended")
