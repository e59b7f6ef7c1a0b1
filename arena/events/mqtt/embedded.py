"""A broker inside this process, for development: amqtt on a loopback address, open to every local user.

It keeps nothing after the end of the process, and has no TLS and no passwords.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator

from arena.events.bus import BusError
from arena.events.mqtt.url import BrokerUrl


@contextlib.asynccontextmanager
async def broker(url: BrokerUrl) -> AsyncIterator[None]:
    """Run the broker at a loopback address. Raises BusError."""
    try:
        from amqtt.broker import Broker
        from amqtt.errors import BrokerError
    except ImportError:
        raise BusError("the embedded broker is not installed", "pip install 'bot-arena[broker]'") from None
    for name in ("amqtt", "transitions"):  # it logs a traceback for every client that disconnects abruptly
        logging.getLogger(name).setLevel(logging.CRITICAL)
    config = {
        "listeners": {"default": {"type": "tcp", "bind": f"{url.host}:{url.port}"}},
        "plugins": {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
    }
    found = Broker(config)
    try:
        await found.start()
    except BrokerError as error:
        problem = f"cannot start the embedded broker at {url}: {error.__cause__ or error}"
        raise BusError(problem, "choose another port: embedded:PORT") from None
    try:
        yield
    finally:
        await found.shutdown()
