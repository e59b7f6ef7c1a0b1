"""A broker inside this process, for development: amqtt on this machine's own address, open to everybody on it.

Nothing it keeps outlives the process. Refuses to be more than that: no TLS, no passwords, no other machines.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator

from arena.events.bus import BusError
from arena.events.mqtt.url import BrokerUrl


@contextlib.asynccontextmanager
async def broker(url: BrokerUrl) -> AsyncIterator[None]:
    """Run the broker at an address of this machine. Raises BusError."""
    try:
        from amqtt.broker import Broker
        from amqtt.errors import BrokerError
    except ImportError:
        raise BusError("the embedded broker is not installed", "pip install 'bot-arena[broker]'") from None
    for name in ("amqtt", "transitions"):  # it logs a traceback for every client that is gone without a word
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
        raise BusError(problem, "take another port: embedded:PORT") from None
    try:
        yield
    finally:
        await found.shutdown()
