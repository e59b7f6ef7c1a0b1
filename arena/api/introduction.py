"""The introduction of a remote bot: when the bot connects, its program is started once for a handshake.

The announced capabilities decide which tournaments the bot may enter, as the check of an upload does for other bots.
"""

from __future__ import annotations

import asyncio
import json

from aiohttp import WSMsgType, web

from protocol.capabilities import Capabilities
from protocol.messages import Ugi
from protocol.session import RefereeSession
from protocol.turn import SessionState
from referee.errors import ArenaError
from referee.game.spec import BotLimits

GAME = 0
"""The game number of the introduction; real games start at 1."""
HANDSHAKE_TIMEOUT_S = BotLimits().start_ms / 1000
"""Seconds to wait for `ugiok`."""
MAX_LINES = 2000
"""Maximum number of lines before `ugiok`; a bot announces at most half as many options."""


class RemoteHandshakeError(ArenaError):
    """The program does not complete the handshake, so it would lose every game."""

    kind = "invalid"


async def introduced(socket: web.WebSocketResponse) -> Capabilities:
    """Return the capabilities that the remote bot announces.

    Raises RemoteHandshakeError; ConnectionError if the connection ends; ValueError for malformed messages.
    """
    session = RefereeSession()
    await socket.send_json({"game": GAME, "do": "open"})
    await socket.send_json({"game": GAME, "say": session.send(Ugi()).decode().rstrip("\n")})
    try:
        async with asyncio.timeout(HANDSHAKE_TIMEOUT_S):
            for _ in range(MAX_LINES):
                await _hear(socket, session)
                if session.state is SessionState.IDLE:
                    await socket.send_json({"game": GAME, "do": "close"})
                    return session.merge_capabilities()
        problem = f"the bot sent {MAX_LINES:,} lines without `ugiok`"
    except TimeoutError:
        problem = f"the bot did not answer `ugi` within {HANDSHAKE_TIMEOUT_S:g} s"
    raise RemoteHandshakeError(problem, hint="test the bot with `arena check`")


async def _hear(socket: web.WebSocketResponse, session: RefereeSession) -> None:
    message = await socket.receive()
    await asyncio.sleep(0)  # a message that has arrived already is read without giving others a turn
    if message.type is WSMsgType.PING:
        await socket.pong(message.data)
    elif message.type is WSMsgType.TEXT:
        said = json.loads(message.data)
        if not isinstance(said, dict):
            raise ValueError("invalid message: expected a JSON object")
        if "gone" in said:
            raise RemoteHandshakeError(
                f"the bot exited before `ugiok`: {str(said['gone'])[:300]}",
                hint="test the bot with `arena check`",
            )
        session.receive(str(said.get("line", "")).encode())
    elif message.type is not WSMsgType.PONG:
        raise ConnectionResetError("the connection ended")
