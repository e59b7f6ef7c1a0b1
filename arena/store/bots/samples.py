"""Sample bots: commands of this installation, owned by the arena's own user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session
from sqlmodel import col

from arena.documents.bot import BotItem
from arena.store.base.engine import Sessions
from arena.store.base.models import User, Version
from arena.store.bots.bots import Bots
from arena.store.bots.versions import Versions

OWNER = "arena"
"""The user that owns the sample bots. It has no password and no tokens."""

LEVELS: Mapping[str, Mapping[str, str]] = {
    f"champion-{strength}": {"Strength": str(strength)} for strength in (25, 50, 75)
}
"""Options of weaker champions by name, which give people and bots opponents of every strength."""

_DESCRIPTION = "A sample bot of the arena."
REVISIONS: Mapping[str, int] = {"bots.samples.mcts": 2, "bots.samples.champion": 2}
"""Revisions by module: raise one when a sample plays differently, which creates a new version. The default is 1."""


def ensure_owner(session: Session) -> int:
    """Return the id of the user that owns the sample bots and the games of people; it is created if missing."""
    owner = session.scalar(select(User).where(col(User.name) == OWNER))
    if owner is None:
        owner = User(name=OWNER)
        session.add(owner)
        session.flush()
    assert owner.id is not None
    return owner.id


class Samples:
    """The sample bots and their owner."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._bots, self._versions = Bots(sessions), Versions(sessions)

    def owner_id(self) -> int | None:
        """Return the id of the user that owns the sample bots; None before they exist."""
        with self._sessions.reading() as session:
            return session.scalar(select(col(User.id)).where(col(User.name) == OWNER))

    def ensure_owner(self) -> int:
        """Return the id of the user that owns the sample bots; it is created if missing."""
        with self._sessions.writing() as session:
            return ensure_owner(session)

    def ensure(self, samples: Mapping[str, str], variants: Mapping[str, Sequence[str]]) -> dict[str, Version]:
        """Create or update the active versions of the sample bots, given as name -> module; return name -> version.

        A sample bot runs as a command of this installation: `python` stands for its interpreter, `{family}` for the
        family. `variants` gives the variants of each family. Samples in `LEVELS` get the options listed there.
        A name that another user already has is left out.
        """
        with self._sessions.writing() as session:
            owner_id = ensure_owner(session)
        known, found = set(self._bots.names()), {}
        for name, module in samples.items():
            bot = self._bots.find(name) if name in known else self._bots.add(name, owner_id, _DESCRIPTION)
            if bot.owner_id == owner_id:  # otherwise a user took the name first and keeps it
                found[name] = self._ensure_version(bot, module, variants)
        return found

    def _ensure_version(self, bot: BotItem, module: str, variants: Mapping[str, Sequence[str]]) -> Version:
        """Return the newest active version if its module, families, options and revision are current; else add one."""
        options, revision = dict(LEVELS.get(bot.name, {})), REVISIONS.get(module, 1)
        command = ["python", "-m", module, "--family", "{family}"]
        line = next((line for line in self._versions.of_bot(bot.id) if line.state == "active"), None)
        if line is not None and set(line.families) == set(variants):
            version = self._versions.get(line.id)
            known = version.command, version.options, version.report.get("revision", 1)
            if known == (command, options, revision):
                return version
        return self._versions.add(
            bot.id,
            command=command,
            families=list(variants),
            options=options,
            state="active",
            variants=variants,
            report={"revision": revision},
        )
