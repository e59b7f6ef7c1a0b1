"""The account of the connection of a remote bot in one game: what it cost, and what is left of its allowances."""

from __future__ import annotations

from referee.bot.remote.link import LobbyLink
from referee.game.record import NetworkFigures


class NetworkAccount:
    """The account of one game over a link, whose terms bound what is not charged to the bot."""

    def __init__(self, link: LobbyLink) -> None:
        self.link = link
        self.allowed_ms = self.paused_ms = self.wait_ms = 0.0
        """Latency that was not charged, time without a connection, and time until the program first ran."""
        self.losses = self.reconnected = 0

    def allowance_ms(self, latency_ms: float) -> float:
        """Return the part of a latency that is not charged to the bot, bounded per move and per game."""
        terms = self.link.terms
        return max(0.0, min(latency_ms, terms.move_ms, terms.game_ms - self.allowed_ms))

    @property
    def grace_left_ms(self) -> float:
        """Time for which the connection may still be lost in this game."""
        return max(0.0, self.link.terms.grace_ms - self.paused_ms)

    def figures(self) -> NetworkFigures:
        """Return the connection during the game, for the record."""
        return NetworkFigures(
            latency_ms=round(self.link.latency_ms, 1),
            allowed_ms=round(self.allowed_ms, 1),
            wait_ms=round(self.wait_ms, 1),
            losses=self.losses,
            reconnected=self.reconnected,
            paused_ms=round(self.paused_ms, 1),
            move_allowance_ms=self.link.terms.move_ms,
            game_allowance_ms=self.link.terms.game_ms,
            grace_ms=self.link.terms.grace_ms,
        )
