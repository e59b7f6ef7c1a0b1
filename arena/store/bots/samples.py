"""The sample bots: commands of this installation, owned by a user of the arena's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import select
from sqlmodel import col

from arena.store.base.engine import Sessions
from arena.store.base.models import Bot, User, Version
from arena.store.bots.bots import Bots
from arena.store.bots.versions import Versions

OWNER = "arena"
"""The user that owns the sample bots. It has no password and no tokens."""

LEVELS: Mapping[str, Mapping[str, str]] = {
    f"champion-{strength}": {"Strength": str(strength)} for strength in (25, 50, 75)
}
"""Weaker champions by name, with their options: for people, and so that there are neighbours at every strength."""

REVISIONS: Mapping[str, int] = {"bots.samples.mcts": 2, "bots.samples.champion": 2}
"""By module: raised when a sample comes to play otherwise, which is another version then. Those not named are at 1."""


class Samples:
    """The sample bots and their owner."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._bots, self._versions = Bots(sessions), Versions(sessions)

    def owner_id(self) -> int | None:
        """The user that owns the sample bots; None before there are any."""
        with self._sessions.reading() as session:
            return session.scalar(select(col(User.id)).where(col(User.name) == OWNER))

    def ensure(self, samples: Mapping[str, str], variants: Mapping[str, Sequence[str]]) -> dict[str, Version]:
        """The sample bots as active bots of the arena's own user: name -> module in, name -> newest version out.

        They run as a command of this installation: `python` stands for its interpreter, `{family}` for the family.
        `variants` are those of each family. Those named in `LEVELS` get their options.
        """
        owner_id = self.owner_id() or self._add_owner()
        with self._sessions.reading() as session:
            bots = {bot.name: bot for bot in session.scalars(select(Bot).where(col(Bot.name).in_(list(samples))))}
        found = {}
        for name, module in samples.items():
            bot = bots.get(name) or self._bots.add(name, owner_id, "A sample bot of the arena.")
            if bot.owner_id == owner_id:  # else somebody took the name first: theirs it is
                found[name] = self._ensure_version(bot, module, variants)
        return found

    def _add_owner(self) -> int:
        owner = User(name=OWNER)
        with self._sessions.writing() as session:
            session.add(owner)
        assert owner.id is not None
        return owner.id

    def _ensure_version(self, bot: Bot, module: str, variants: Mapping[str, Sequence[str]]) -> Version:
        """The newest active version, if it runs that module so in just these families, and played as it does now; else
        a new one."""
        bot_id, options, revision = bot.id or 0, dict(LEVELS.get(bot.name, {})), REVISIONS.get(module, 1)
        command = ["python", "-m", module, "--family", "{family}"]
        line = next((line for line in self._versions.of_bot(bot_id) if line.state == "active"), None)
        if line is not None and set(line.families) == set(variants):
            version = self._versions.get(line.id)
            known = version.command, version.options, version.report.get("revision", 1)
            if known == (command, options, revision):
                return version
        return self._versions.add(
            bot_id,
            command=command,
            families=list(variants),
            options=options,
            state="active",
            variants=variants,
            report={"revision": revision},
        )
