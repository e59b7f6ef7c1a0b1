"""The tables of a tournament's settings document; see `referee.tournament.document`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from referee.game.spec import BotLimits
from referee.game.unplayed import SUSPEND_AFTER
from referee.tournament.part import Part
from referee.tournament.seeding import labels_of


class EntrySettings(Part):
    """Entries: bots by name, and bots found by a query when the tournament starts."""

    bots: list[Annotated[str, Field(min_length=1, max_length=2000)]] = Field(default=[], max_length=1000)
    """Bots. On a server names: `zeta` is its newest active version, `zeta v3` is that version. Without a server bots as
    on the command line: `./mybot`, `old=./mybot-1.0`, `sample:greedy`. Each is named once.
    The first one is the challenger of a gauntlet, or the candidate of a sequential test.
    """
    top: int = Field(default=0, ge=0, le=1000)
    """Number of bots to enter from the top of the pool's leaderboard."""
    all: bool = False
    """Enter every active version."""
    newest: bool = False
    """Enter the newest active version of each bot."""
    exclude: list[Annotated[str, Field(min_length=1, max_length=60)]] = Field(default=[], max_length=1000)
    """Bots or versions that `top`, `all` and `newest` must not enter."""

    @property
    def labels(self) -> frozenset[str]:
        """Names of the bots in other tables: as written in `bots`, and `NAME` of `NAME=BOT`."""
        return frozenset(label for bot in self.bots for label in labels_of(bot))

    @property
    def has_query(self) -> bool:
        """True if a query may enter bots that are not named."""
        return bool(self.top or self.all or self.newest)


class AdjudicationSettings(Part):
    """Games that the referee ends before the rules end them."""

    draw: str = Field(default="", max_length=100)
    """Draw by score: `after=40,moves=8,score=10` ends a game if, from ply 40 on, both bots' scores stayed within 10
    centipawns of 0 for 8 moves. Empty: off.
    """
    resign: str = Field(default="", max_length=100)
    """Win by score: `moves=4,score=600,both=1` ends a game if both bots reported at least 600 centipawns for the same
    side for 4 moves; with `both=0` the loser's own score is enough. Empty: off.
    """
    max_plies: int = Field(default=0, ge=0, le=100_000)
    """Ply after which a game is a draw. 0: no limit."""
    draw_agreement: bool = True
    """End a game as a draw if both bots claim one."""
    suspend_after: int = Field(default=SUSPEND_AFTER, ge=0, le=1000)
    """Consecutive games in which a bot failed to get ready, after which it forfeits its remaining games. 0: never."""


class LimitSettings(Part):
    """Time, memory and process limits of each bot."""

    start_ms: int = Field(default=BotLimits().start_ms, ge=100, le=300_000)
    """Time from the start of the process to `ugiok`, in milliseconds."""
    ready_ms: int = Field(default=BotLimits().ready_ms, ge=100, le=600_000)
    """Time to answer `isready`, in milliseconds; the first one may load data."""
    move_ms: int = Field(default=BotLimits().move_ms, ge=100, le=3_600_000)
    """Time for a move in games without a clock (depth, nodes), in milliseconds."""
    margin_ms: int = Field(default=BotLimits().margin_ms, ge=0, le=10_000)
    """Time added to every clock for delays of the machine, in milliseconds."""
    memory_bytes: int = Field(default=BotLimits().memory_bytes, ge=16 * 2**20, le=64 * 2**30)
    """Memory of all processes of a bot together, in bytes."""
    processes: int = Field(default=BotLimits().processes, ge=1, le=4096)
    """Processes and threads of a bot together."""


class Recurrence(Part):
    """Times of a recurring tournament; at each of them a tournament with these settings is created."""

    cron: str = Field(max_length=80)
    """Minute, hour, day, month, weekday: `0 20 * * 5` is every Friday at 20:00."""
    timezone: str = Field(default="UTC", max_length=64)
    """Time zone of `cron`, such as `Europe/Paris`."""
    catch_up: Literal["skip", "once", "all"] = "once"
    """Tournaments to create for times missed while the server was down: none (`skip`), the last (`once`) or `all`."""
