"""Receives an upload: limits its size, hashes it, reads its bot file, and stores it as a version to check.

Nothing remains of an upload that is interrupted or refused.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO

from arena.documents.account import Identity
from arena.documents.bot import BotItem
from arena.errors import (
    BadValueError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    StorageError,
    StoreUnavailableError,
    storage_problem,
)
from arena.names import as_name
from arena.store import Store
from arena.store.base.tables.bots import Version
from arena.submission.bundle_store import BundleStore, read_manifest
from arena.submission.check import MOVE_MS
from arena.submission.unpack import ArchiveError, unpack
from referee.bot.command import BotFileError
from referee.bot.file import FILE, read_families
from referee.game.spec import read_time_control
from referee.rules.core import ParseError

if TYPE_CHECKING:
    from arena.config import Settings


class SubmissionError(BadValueError):
    """An upload that cannot become a version; the message says what to change."""


class TooLargeError(SubmissionError):
    """An upload above the size limit."""

    kind = "too-large"


class NotYoursError(ForbiddenError):
    """An upload for a bot of another user."""


class UnsafeError(SubmissionError):
    """An upload to a server that has no sandbox for untrusted bots."""

    kind = "forbidden"


def refuse_unsafe(settings: Settings, *, is_admin: bool) -> None:
    """Raise UnsafeError unless the sandbox can confine uploads or the settings allow a weak one.

    An admin's uploads are accepted with a weak sandbox too, but not if bots would run as root without any sandbox. The
    first call probes the sandbox, which takes a moment.
    """
    from referee.sandbox import open_sandbox, refusal

    if settings.allow_weak_sandbox:
        return
    try:
        reason = refusal(open_sandbox(settings.sandbox), allow_weak=is_admin)
    except ValueError as error:  # the sandbox in the settings does not work here
        reason = str(error)
    if reason:
        raise UnsafeError(reason, hint="ask the operator of this server")


@dataclass(frozen=True, slots=True)
class Quota:
    """Limits of one upload and of one user."""

    upload_bytes: int = 32 * 2**20
    bots: int = 20
    versions: int = 60
    size_bytes: int = 2**30

    @classmethod
    def of(cls, settings: Settings) -> Quota:
        """Return the limits that a server sets for each of its users."""
        return cls(settings.max_upload_bytes, settings.quota_bots, settings.quota_versions, settings.quota_bytes)


def receive(
    store: Store,
    bundles: BundleStore,
    file: BinaryIO,
    *,
    name: str = "",
    families: Sequence[str] = (),
    user: Identity,
    quota: Quota | None = None,
    tc: str = "",
    sha256: str = "",
) -> Version:
    """Store an upload as the next version of the user's bot, in state `uploaded`. A new name creates a bot.

    `file` is seekable; `sha256` is its hash if known. `name` and `families` override those in `bot.toml`. `tc`, a time
    control that says how long the bot thinks per move, overrides `move_ms` in its limits. Raises TooLargeError,
    SubmissionError, NotYoursError, ConflictError (a duplicate bundle, a retired bot), QuotaError and
    StoreUnavailableError.
    """
    quota = quota or Quota()
    asked = _move_time(tc)
    try:
        with bundles.workspace() as work:
            size = _size(file, quota.upload_bytes)
            digest = sha256 or hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
            uploaded = read_manifest(unpack(file, work / "files", bundles.bounds))
            wanted = read_families(tuple(families), "families") or uploaded.families
            if not wanted:
                raise SubmissionError(f"missing families: name them, or add families to {FILE}")
            title = name or as_name(uploaded.name)
            bot, usage = find_own(store, title, user), store.bots.usage(user.user_id)
            if bot:
                _check_new(store, bot, digest)
            else:
                usage.require_bot(quota.bots)
            # Before anything is stored; `versions.add` checks again, in its transaction.
            usage.require_room(size, quota.versions, quota.size_bytes)
            bot = bot or store.bots.add(title, user.user_id, uploaded.description)
            bundles.put(file, digest)
            return store.versions.add(
                bot.id,
                replace(uploaded, families=wanted, limits={**uploaded.limits, **asked}),
                bundle=digest,
                size_bytes=size,
                max_versions=quota.versions,
                max_bytes=quota.size_bytes,
            )
    except (ArchiveError, BotFileError) as error:
        raise SubmissionError(str(error)) from None
    except OSError as error:
        if problem := storage_problem(error):
            raise StorageError(f"{problem}: the upload was not stored") from error
        raise StoreUnavailableError(f"the upload cannot be stored now: {error.strerror or error}") from error


def _move_time(tc: str) -> dict[str, int]:
    """Return the limits that follow from a time control. Raises SubmissionError."""
    if not tc:
        return {}
    try:
        move_ms = read_time_control(tc).move_ms
    except ParseError as error:
        raise SubmissionError(str(error)) from None
    if move_ms is None:
        raise SubmissionError(
            f"invalid tc {tc}: expected a time control such as 5/move or 10+0.1, not a limit of depth or nodes"
        )
    return {MOVE_MS: max(1, round(move_ms))}


def _size(file: BinaryIO, limit: int) -> int:
    """Return the size of an upload, and rewind it. Raises TooLargeError, SubmissionError."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if size > limit:
        raise TooLargeError(f"the upload is too large: at most {limit:,} bytes")
    if not size:
        raise SubmissionError("the upload is empty")
    return size


def find_own(store: Store, name: str, user: Identity) -> BotItem | None:
    """Return the user's bot of this name; None for a new name. Raises SubmissionError, NotYoursError, ConflictError."""
    if not name:
        raise SubmissionError(f"missing bot name: give one, or add name to {FILE}")
    try:
        bot = store.bots.find(name)
    except NotFoundError:
        return None
    if bot.owner_id != user.user_id:
        raise NotYoursError(f"the bot {name!r} belongs to another user", hint="choose another name")
    if bot.is_retired:
        raise ConflictError(f"the bot {name!r} is retired; choose another name", "retired")
    return bot


def _check_new(store: Store, bot: BotItem, digest: str) -> None:
    """Raise ConflictError for a duplicate, unless the earlier version failed or was retired."""
    for line in store.versions.of_bot(bot.id):
        if line.sha256 == digest and line.state in ("uploaded", "checking", "active"):
            raise ConflictError(f"duplicate bundle: {line.name} ({line.state}) has the same content", line.state)


__all__ = ["NotYoursError", "Quota", "SubmissionError", "TooLargeError", "find_own", "receive"]
