"""From an upload to a version: received whole, bounded, hashed, looked into, stored once, entered for its check.

Nothing is left of an upload that is cut short or refused. Refuses to know HTTP, and how a bot is checked.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Protocol

from arena.errors import ForbiddenError, StorageError, storage_problem
from arena.store import BadValueError, ConflictError, NotFoundError, QuotaError, Store, StoreUnavailableError
from arena.store.base.models import BotIdentity, Version
from arena.submission.bundle_store import BundleStore
from arena.submission.check import MOVE_MS, check_version
from arena.submission.manifest import FILE, Manifest, ManifestError, read_families, read_manifest
from arena.submission.unpack import ArchiveError, unpack
from referee.game.spec import read_time_control
from referee.rules.core import ParseError

if TYPE_CHECKING:
    from arena.config import Settings

_CHUNK = 256 * 1024


class SubmissionError(BadValueError):
    """An upload that cannot become a version; the message says what to change."""


class TooLargeError(SubmissionError):
    """An upload above the limit."""

    kind = "too-large"


class NotYoursError(ForbiddenError):
    """The bot belongs to somebody else."""


class UnsafeError(SubmissionError):
    """This server cannot confine a stranger's bot, so it takes none."""

    kind = "forbidden"


def refuse_unsafe(settings: Settings, *, is_admin: bool) -> None:
    """Fail closed: take uploads only where the sandbox holds them; an admin's in a weak one too, never as root.

    Raises UnsafeError with the reason. The first call tries the sandbox, which takes a moment.
    """
    from referee.sandbox import open_sandbox, refusal

    if settings.allow_weak_sandbox:
        return
    try:
        reason = refusal(open_sandbox(settings.sandbox), allow_weak=is_admin)
    except ValueError as error:  # the one that the settings name does not work here
        reason = str(error)
    if reason:
        raise UnsafeError(reason, hint="ask the people who run this server")


class Submitter(Protocol):
    """Who submits: the identity of a request."""

    @property
    def user_id(self) -> int: ...
    @property
    def name(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Quota:
    """How much one upload and one user may take."""

    upload_bytes: int = 32 * 2**20
    bots: int = 20
    versions: int = 60
    size_bytes: int = 2**30

    @classmethod
    def of(cls, settings: Settings) -> Quota:
        """As the server is set."""
        return cls(settings.max_upload_bytes, settings.quota_bots, settings.quota_versions, settings.quota_bytes)


def receive(
    store: Store,
    bundles: BundleStore,
    stream: BinaryIO,
    *,
    name: str = "",
    families: Sequence[str] = (),
    user: Submitter,
    quota: Quota | None = None,
    tc: str = "",
) -> Version:
    """Make an upload the next version of the user's bot, in state `uploaded`; a new name makes a new bot.

    `name` and `families` may come from `bot.toml` instead; those given here win, and so does `tc`, a time control that
    says how long the bot thinks about a move, over `move_ms` among its limits. Raises TooLargeError,
    SubmissionError, NotYoursError, ConflictError (the same bundle again, a retired bot), QuotaError and
    StoreUnavailableError.
    """
    quota = quota or Quota()
    asked = _move_time(tc)
    try:
        with bundles.workspace() as work, tempfile.TemporaryFile(dir=work) as file:
            size, digest = _copy(stream, file, quota.upload_bytes)
            manifest = read_manifest(unpack(file, work / "files", bundles.bounds))
            wanted = read_families(tuple(families), "families") or manifest.families
            if not wanted:
                raise SubmissionError(f"which families does it play? Name them, or write families into {FILE}")
            bot = _bot(store, name or manifest.name, manifest, user, quota)
            assert bot.id is not None
            _check_new(store, bot, digest)
            _check_room(store, user, size, quota)
            bundles.put(file, digest)
            return store.versions.add(
                bot.id,
                command=manifest.command,
                families=wanted,
                bundle=digest,
                size_bytes=size,
                options=manifest.options,
                limits={**manifest.limits, **asked},
                max_versions=quota.versions,
                max_bytes=quota.size_bytes,
            )
    except (ArchiveError, ManifestError) as error:
        raise SubmissionError(str(error)) from None
    except OSError as error:
        if problem := storage_problem(error):
            raise StorageError(f"{problem}: the upload was not kept") from error
        raise StoreUnavailableError(f"the upload cannot be kept now: {error.strerror or error}") from error


def _move_time(tc: str) -> dict[str, int]:
    """The limit that a time control asks for. Raises SubmissionError."""
    if not tc:
        return {}
    try:
        move_ms = read_time_control(tc).move_ms
    except ParseError as error:
        raise SubmissionError(str(error)) from None
    if move_ms is None:
        raise SubmissionError(f"tc {tc}: a limit of depth or nodes says nothing of time; write 5/move or 10+0.1")
    return {MOVE_MS: max(1, round(move_ms))}


def _copy(stream: BinaryIO, file: BinaryIO, limit: int) -> tuple[int, str]:
    size, total = 0, hashlib.sha256()
    while chunk := stream.read(_CHUNK):
        size += len(chunk)
        if size > limit:
            raise TooLargeError(f"an upload has {limit:,} bytes at most")
        total.update(chunk)
        file.write(chunk)
    if not size:
        raise SubmissionError("an empty upload")
    return size, total.hexdigest()


def _bot(store: Store, name: str, manifest: Manifest, user: Submitter, quota: Quota) -> BotIdentity:
    """The user's bot of that name, made if there is none."""
    if not name:
        raise SubmissionError(f"what is the bot called? Give a name, or write one into {FILE}")
    try:
        bot = store.bots.find(name)
    except NotFoundError:
        if store.bots.usage(user.user_id).bots >= quota.bots:
            raise QuotaError(f"you have {quota.bots} bots, which is the limit; retire one") from None
        return store.bots.add(name, user.user_id, manifest.description)
    if bot.owner_id != user.user_id:
        raise NotYoursError(f"the bot {name!r} belongs to somebody else", hint="take another name")
    if bot.is_retired:
        raise ConflictError(f"the bot {name!r} is retired; take another name", "retired")
    return bot


def _check_new(store: Store, bot: BotIdentity, digest: str) -> None:
    """The same content twice is a mistake, unless the earlier one failed or was retired."""
    assert bot.id is not None
    for line in store.versions.of_bot(bot.id):
        if line.bundle == digest and line.state in ("uploaded", "checking", "active"):
            raise ConflictError(f"this is the very bundle of {line.name}, which is {line.state}", line.state)


def _check_room(store: Store, user: Submitter, size: int, quota: Quota) -> None:
    """Before anything is stored; `add_version` decides in the end."""
    usage = store.bots.usage(user.user_id)
    if usage.versions >= quota.versions:
        raise QuotaError(f"you have {usage.versions} versions; the limit is {quota.versions}: retire some")
    if usage.size_bytes + size > quota.size_bytes:
        raise QuotaError(
            f"your bundles take {usage.size_bytes:,} bytes; with {size:,} more they exceed {quota.size_bytes:,}: "
            "retire some versions"
        )


__all__ = ["NotYoursError", "Quota", "SubmissionError", "Submitter", "TooLargeError", "check_version", "receive"]
