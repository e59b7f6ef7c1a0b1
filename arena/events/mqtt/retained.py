"""What the broker keeps, and what of it is old enough to be cleared, so that it does not grow for ever.

Refuses to know connections: whoever acts as the referee asks and clears.
"""

from __future__ import annotations

import heapq

from arena.events.messages import GameEnded, News, RefereeChanged, TournamentChanged
from arena.events.mqtt.payload import Heard

ROOM: dict[type[News], int] = {GameEnded: 1000, TournamentChanged: 1000, RefereeChanged: 20}
"""How many topics of a kind are kept: the newest."""
SPARE = 50
"""How many more there may be before some are cleared, all at once."""


class RetainedTopics:
    """The topics the broker keeps, by kind, with what says which is newer."""

    def __init__(self) -> None:
        self._topics: dict[type[News], dict[str, int]] = {kind: {} for kind in ROOM}
        self._last = 0

    def note(self, heard: Heard) -> None:
        """A message that the broker keeps has been seen, or cleared."""
        topics = self._topics.get(heard.kind)
        if topics is None:
            return
        told, topic = heard.event, heard.kind.TOPIC.of(heard.subject)
        if told is None or (isinstance(told, RefereeChanged) and told.state not in ("offline", "stopped")):
            topics.pop(topic, None)  # cleared, or of a referee that lives
        else:
            topics[topic] = self._age(told)

    def _age(self, event: News) -> int:
        match event:
            case TournamentChanged():
                return event.tournament
            case GameEnded():
                if event.committed is None:  # a void one: as new as the last result before it
                    return self._last
                self._last = max(self._last, event.committed)
                return event.committed
        return len(self._topics[type(event)])

    def excess(self) -> list[str]:
        """The topics to be cleared now; they are forgotten here."""
        found: list[str] = []
        for kind, topics in self._topics.items():
            over = len(topics) - ROOM[kind]
            if over > min(SPARE, ROOM[kind] // 2):
                old = heapq.nsmallest(over, topics, key=topics.__getitem__)
                for topic in old:
                    del topics[topic]
                found += old
        return found
