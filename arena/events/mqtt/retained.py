"""What the broker keeps, and what of it is old enough to be cleared, so that it does not grow for ever.

Refuses to know connections: whoever acts as the referee asks and clears.
"""

from __future__ import annotations

import heapq

from arena.events import messages
from arena.events.messages import Heard, Kind, RefereeStatus, Result

ROOM = {messages.RESULT.name: 1000, messages.STATE.name: 1000, messages.STATUS.name: 20}
"""How many topics of a kind are kept: the newest."""
SPARE = 50
"""How many more there may be before some are cleared, all at once."""


class Shelf:
    """The topics the broker keeps, by kind, with what says which is newer."""

    def __init__(self) -> None:
        self._topics: dict[str, dict[str, int]] = {name: {} for name in ROOM}
        self._last = 0

    def note(self, heard: Heard) -> None:
        """A message that the broker keeps has been seen, or cleared."""
        kind, told = heard.kind, heard.news
        topics = self._topics.get(kind.name)
        if topics is None:
            return
        topic = kind.topic(heard.subject)
        if told is None or (isinstance(told, RefereeStatus) and told.state not in ("offline", "stopped")):
            topics.pop(topic, None)  # cleared, or of a referee that lives
        else:
            topics[topic] = self._age(kind, heard)

    def _age(self, kind: Kind, heard: Heard) -> int:
        if kind is messages.STATE:
            return int(heard.subject)
        if isinstance(heard.news, Result) and heard.news.committed is not None:
            self._last = max(self._last, heard.news.committed)
            return heard.news.committed
        if kind is messages.RESULT:  # a void one: as new as the last result before it
            return self._last
        return len(self._topics[kind.name])

    def excess(self) -> list[str]:
        """The topics to be cleared now; they are forgotten here."""
        found: list[str] = []
        for name, topics in self._topics.items():
            over = len(topics) - ROOM[name]
            if over > min(SPARE, ROOM[name] // 2):
                old = heapq.nsmallest(over, topics, key=topics.__getitem__)
                for topic in old:
                    del topics[topic]
                found += old
        return found
