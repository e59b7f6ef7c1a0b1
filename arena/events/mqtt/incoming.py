"""What other processes say: the games that they play, and news that is passed on here.

Believed is only what concerns games that are not played here.
"""

from __future__ import annotations

from arena.events.bus import Bus
from arena.events.messages import GameEnded, GameGone, GameNews, GamePlies, GamePly, GameSnapshot, RefereeChanged
from arena.events.mqtt.outbox import Outbox
from arena.events.mqtt.payload import Heard
from arena.events.running import Running


class Incoming:
    """`take` messages of others; what they say is published on the bus of this process."""

    def __init__(self, name: str, local: Bus, outbox: Outbox) -> None:
        self.running = Running()
        """The games that others play."""
        self.is_acting = False
        """Whether this process is the referee: then nobody else plays."""
        self._name, self._local, self._outbox = name, local, outbox
        self._seen: set[str] | None = None
        """Those of the games heard of since the connection; None once that has been looked at."""

    def begin(self) -> None:
        """A connection stands."""
        self._seen = set()

    def settle(self) -> None:
        """Forget the games that nobody has spoken of since the connection; once for each connection."""
        if self._seen is not None:
            for game in set(self.running.games) - self._seen:
                self._forget(game)
            self._seen = None

    def take_over(self) -> None:
        """This process is the referee now: games of others are not running any more."""
        self.is_acting = True
        for game in list(self.running.games):
            self._outbox.clear(GameSnapshot.TOPIC.of(game))
            self._forget(game)

    def take(self, heard: Heard, *, is_retained: bool) -> None:
        """Take in a message. `is_retained` is one that the broker has kept."""
        if heard.event is not None and heard.sender == self._name:
            return
        match heard.event:
            case GamePlies() | GameSnapshot() | GameEnded():
                self._take_game(heard.event, is_retained=is_retained)
            case None if heard.kind is GameSnapshot:
                self._take_end(str(heard.subject))
            case None | RefereeChanged():
                pass
            case event:
                self._local.publish(event)

    def _take_end(self, game: str) -> None:
        """The snapshot of a game was cleared."""
        if game in self._outbox.running.games:
            return
        self._note(game)
        if game in self.running.games:
            self._forget(game)

    def _take_game(self, told: GamePlies | GameSnapshot | GameEnded, *, is_retained: bool) -> None:
        game = told.game
        own = self._outbox.running.games.get(game)
        if own is not None:
            if not isinstance(told, GameSnapshot) or told.attempt <= own.attempt:
                return
            self._outbox.disown(game)
        if isinstance(told, GameSnapshot) and self.is_acting:
            self._outbox.clear(told.TOPIC.of(game))  # of a referee that is not one any more
            return
        known = self.running.games.get(game)
        self._note(game)
        match told:
            case GameSnapshot():
                self._publish(told)
            case GamePlies():
                if known is not None and known.attempt == told.attempt:
                    for number, ply in enumerate(told.plies, told.first):
                        self._publish(GamePly(game=game, number=number, ply=ply))
            case GameEnded():
                if known is not None or not is_retained:  # those of the past would be a thousand, at every connection
                    self._publish(told)

    def _note(self, game: str) -> None:
        if self._seen is not None:
            self._seen.add(game)

    def _publish(self, event: GameNews) -> None:
        self.running.take(event)
        self._local.publish(event)

    def _forget(self, game: str) -> None:
        self._publish(GameGone(game=game))
