"""Submission of bots."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from arena.documents.account import Identity
from arena.documents.bot import SubmissionResponse
from arena.documents.service import AuditQuery
from arena.errors import ForbiddenError, NotFoundError, QuotaError
from arena.services import Arena, submission
from arena.submission.receive import NotYoursError, UnsafeError
from tests.arena.services.conftest import Person
from tests.arena.services.ear import Ear
from tests.arena.submission.packing import SCRIPT

REPORT = {"families": {"loa": {"command": ["/home/somebody/bot"], "steps": [], "problem": ""}}}


def bring(arena: Arena, by: Identity, name: str = "zeta", words: bytes = b"") -> SubmissionResponse:
    admission = submission.admit(arena, name, by)
    return submission.submit(arena, admission, io.BytesIO(SCRIPT + words), families=["loa", "loa"])


def test_submit_stores_notes_and_wakes(arena: Arena, person: Person, ear: Ear) -> None:
    ada = person("ada")
    version = bring(arena, ada)
    assert (version.name, version.state) == ("zeta v1", "uploaded")
    assert ear.heard == ["CoordinatorWakeup"]
    note = arena.store.audit.page(AuditQuery(subject="version:zeta v1")).items[0]
    assert (note.action, note.user, note.detail) == ("bot.submit", "ada", {"sha256": version.sha256})


def test_name_of_another_user_is_refused(arena: Arena, person: Person, ear: Ear) -> None:
    bring(arena, person("ada"))
    bob = person("bob")
    with pytest.raises(NotYoursError, match="belongs to another user"):
        submission.admit(arena, "zeta", bob)
    with pytest.raises(ForbiddenError):
        bring(arena, bob)
    assert ear.heard == ["CoordinatorWakeup"]


def test_submit_over_quota_raises(arena: Arena, person: Person) -> None:
    ada = person("ada")
    bring(arena, ada)
    bring(arena, ada, words=b"# two\n")
    with pytest.raises(QuotaError, match="you have 2 versions; the limit is 2"):
        bring(arena, ada, words=b"# three\n")


def test_submit_without_sandbox_raises(arena: Arena, person: Person) -> None:
    settings = arena.settings.model_copy(update={"allow_weak_sandbox": False, "sandbox": "none"})
    with pytest.raises(UnsafeError, match=r"doctor|root"):
        submission.admit(Arena(arena.store, settings), "", person("ada"))


def test_read_hides_log_from_others(arena: Arena, person: Person) -> None:
    ada, bob, olga = person("ada"), person("bob"), person("olga", "organiser")
    version = bring(arena, ada)
    assert submission.read(arena, version.id, None).is_moving
    arena.store.checks.claim()
    arena.store.checks.conclude(version.id, report=REPORT, variants={"loa": []}, capabilities={}, log="my words")
    for by, log in ((None, None), (bob, None), (ada, "my words"), (olga, "my words")):
        read = submission.read(arena, version.id, by)
        assert (read.log, read.is_moving) == (log, False)
        assert read.report == {"families": {"loa": {"steps": [], "problem": ""}}}
    token = replace(olga, scopes=frozenset({"read"}))  # an organiser's token that may only read
    assert submission.read(arena, version.id, token).log is None
    with pytest.raises(NotFoundError, match="no submission 99"):
        submission.read(arena, 99, ada)
