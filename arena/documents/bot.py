"""Bots, their versions and submissions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from arena.documents import words
from arena.documents.query import PageQuery, described
from arena.documents.rating import PoolRating
from referee.meaning import HIDDEN, meaning


@dataclass(frozen=True, slots=True)
class BotProfile:
    """The description of a bot."""

    name: str
    owner: str = field(metadata=meaning("name of its author; `arena` for the samples"))
    description: str = field(metadata=meaning("public text of the owner, empty by default"))
    is_retired: bool = field(metadata=meaning("true: its versions enter no new tournaments"))
    plays_people: bool = field(metadata=meaning("true: its owner lets people play against it"))
    created_at: datetime


@dataclass(frozen=True, slots=True)
class BotItem(BotProfile):
    """A bot in a list, with the families of its active versions and its newest version."""

    families: list[str] = field(metadata=meaning("families of its active versions, sorted"))
    versions: int = field(metadata=meaning("number of its versions in all states"))
    newest: int = field(metadata=meaning("number of the newest version in any state; 0: it has none"))
    newest_state: str = field(metadata=meaning("`state` of that version, as in `VersionItem`; empty: it has none"))
    id: int = field(metadata=HIDDEN)
    owner_id: int = field(metadata=HIDDEN)


@dataclass(frozen=True, slots=True)
class VersionItem:
    """A version of a bot. `families` maps each family to the variants in which it passed its check.

    `fit_from_ms` maps families to the shortest time per move with which the version was in time in its check.
    """

    id: int = field(metadata=meaning("number of the submission, unique among the versions of all bots"))
    bot: str
    owner: str
    number: int = field(metadata=meaning("number among the versions of the bot, from 1"))
    name: str = field(metadata=meaning("full name, such as `zeta v3`"))
    state: Literal["uploaded", "checking", "active", "failed", "retired"] = field(
        metadata=meaning(
            "`uploaded`: its check has not begun; `active`: it may enter tournaments; `failed`: by its check"
        )
    )
    problem: str = field(metadata=meaning("why its check failed; empty: it did not"))
    sha256: str = field(metadata=meaning("digest of the uploaded file; empty: a sample or a remote bot"))
    size_bytes: int = field(metadata=meaning("size of the uploaded file"))
    created_at: datetime
    checked: datetime | None = field(metadata=meaning("end of the check; null: not checked"))
    families: Mapping[str, tuple[str, ...]] = field(
        metadata=meaning("an empty list of variants: no check has limited them")
    )
    fit_from_ms: Mapping[str, int] = field(metadata=meaning("families without a measurement are left out"))
    remarks: Mapping[str, str] = field(
        metadata=meaning("keys of its `bot.toml` that are only shown, such as `license`")
    )
    bot_id: int = field(metadata=HIDDEN)
    place: str = field(
        default="", metadata=meaning("location of the program: empty in the arena, `remote` on its author's machine")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionResponse(VersionItem):
    """A version being checked. `report` is the check so far; `log`, the bot's standard error, is for its owner only."""

    report: dict[str, Any] = field(
        metadata=meaning("the steps of the check by family, in `families`; empty before the check")
    )
    log: str | None = field(default=None, metadata=meaning("null: you may not read it"))
    url: str = field(
        default="", metadata=meaning("path of this object; poll it while `state` is `uploaded` or `checking`")
    )

    @property
    def is_moving(self) -> bool:
        """True while the version's check is pending or running."""
        return self.state in ("uploaded", "checking")


@dataclass(frozen=True, slots=True)
class PresenceItem:
    """Connection of a remote bot. It plays `games` games now, and at most `most_games` at once.

    `latency_ms` is the round trip of a message.

    `is_open`: others may challenge it.
    """

    is_connected: bool
    seen: datetime = field(metadata=meaning("time of the latest report of a connection"))
    games: int = field(metadata=meaning("games in progress"))
    most_games: int
    latency_ms: float | None = field(metadata=meaning("null: not measured"))
    is_open: bool = field(metadata=meaning("true: others may challenge it"))


@dataclass(frozen=True, slots=True)
class BotResponse(BotProfile):
    """A bot with all its versions, newest first, and their ratings."""

    versions: list[VersionItem]
    ratings: list[PoolRating] = field(metadata=meaning("by pool, the newest version first"))
    id: int = field(metadata=HIDDEN)
    presence: PresenceItem | None = field(
        default=None, metadata=meaning("null unless the bot runs on its author's machine")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MeetingsQuery(PageQuery):
    """Filters of the games between two bots: the version of each bot, by default all versions."""

    mine: str | None = described("a version of the first bot, such as zeta v3", words.ENTRY)
    theirs: str | None = described("a version of the other bot", words.ENTRY)


@dataclass(frozen=True, slots=True, kw_only=True)
class BotQuery(PageQuery):
    """Filters of bots."""

    family: str | None = described("bots with an active version in this family", words.FAMILY, label="Plays")
    owner: str | None = described("the owner", words.NAME)
    retired: bool = described("retired bots too", default=False, label="include retired bots")
