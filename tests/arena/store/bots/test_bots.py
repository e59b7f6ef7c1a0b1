"""Bots, versions from upload to retirement, sample bots."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from arena.errors import BadValueError, ConflictError, NotFoundError, QuotaError
from arena.store import Store
from arena.store.base.tables.bots import Version
from arena.store.bots import bots
from arena.store.bots.bots import ConnectedBot
from arena.store.bots.versions import bot_spec
from referee.bot.argument import SAMPLES
from referee.bot.file import BotFile


@pytest.fixture
def owner(store: Store) -> int:
    user = store.users.add("zoe")
    assert user.id is not None
    return user.id


def upload(store: Store, bot_id: int | None, **more: object) -> Version:
    assert bot_id is not None
    return store.versions.add(bot_id, BotFile(("./bot",), families=("loa",)), **more)  # type: ignore[arg-type]


def conclude(store: Store, version: Version, problem: str = "") -> Version:
    assert version.id is not None
    return store.checks.conclude(
        version.id, report={"steps": []}, variants={"loa": ["standard"]}, capabilities={"clocks": True}, problem=problem
    )


def test_add_numbers_and_names_versions(store: Store, owner: int) -> None:
    bot = store.bots.add("zeta", owner)
    first, second = upload(store, bot.id), upload(store, bot.id)
    assert [(first.number, first.name), (second.number, second.name)] == [(1, "zeta v1"), (2, "zeta v2")]
    assert store.versions.find("zeta", 2).id == second.id
    with pytest.raises(NotFoundError, match="zeta v3"):
        store.versions.find("zeta", 3)
    with pytest.raises(NotFoundError, match="active"):
        store.versions.find("zeta")
    with pytest.raises(ConflictError):
        store.bots.add("zeta", owner)
    with pytest.raises(BadValueError):
        store.bots.add("Zeta", owner)
    with pytest.raises(NotFoundError):
        upload(store, 10**6)


def test_version_moves_from_uploaded_to_active(store: Store, owner: int) -> None:
    bot = store.bots.add("zeta", owner)
    first = upload(store, bot.id)
    assert first.id is not None
    with pytest.raises(ConflictError, match="is uploaded"):
        conclude(store, first)
    claimed = store.checks.claim()
    assert claimed is not None
    assert (claimed.id, claimed.state) == (first.id, "checking")
    assert store.checks.claim() is None
    with pytest.raises(ConflictError, match="being checked"):
        store.versions.retire(first.id)
    assert store.checks.give_back() == 1
    assert store.checks.claim() is not None
    done = conclude(store, first)
    assert (done.state, done.capabilities) == ("active", {"clocks": True})
    assert [line.name for line in store.versions.active("loa")] == ["zeta v1"]
    assert store.versions.active("tablut") == []
    assert store.versions.lines([first.id])[first.id].families == {"loa": ("standard",)}

    second = upload(store, bot.id)
    assert second.follows_id == first.id
    store.checks.claim()
    failed = conclude(store, second, "handshake: no answer")
    assert (failed.state, failed.problem) == ("failed", "handshake: no answer")
    assert store.versions.find("zeta").id == first.id
    assert upload(store, bot.id).follows_id == first.id  # not the failed one

    store.versions.retire(first.id)
    assert store.versions.active("loa") == []


def test_retired_bot_rejects_versions(store: Store, owner: int) -> None:
    bot = store.bots.add("zeta", owner)
    assert bot.id is not None
    upload(store, bot.id, state="active")
    store.bots.retire(bot.id)
    with pytest.raises(ConflictError, match="retired"):
        upload(store, bot.id)
    assert store.bots.page().items == []
    assert [line.name for line in store.bots.page(with_retired=True).items] == ["zeta"]
    assert store.bots.usage(owner).versions == 0


def test_add_over_quota_raises(store: Store, owner: int) -> None:
    bot = store.bots.add("zeta", owner)
    upload(store, bot.id, size_bytes=60, max_versions=2, max_bytes=100)
    with pytest.raises(QuotaError, match="exceed the limit"):
        upload(store, bot.id, size_bytes=60, max_versions=2, max_bytes=100)
    upload(store, bot.id, size_bytes=40, max_versions=2, max_bytes=100)
    with pytest.raises(QuotaError, match="the limit is 2"):
        upload(store, bot.id, max_versions=2)
    usage = store.bots.usage(owner)
    assert (usage.bots, usage.versions, usage.size_bytes) == (1, 2, 100)


def test_concurrent_uploads_get_different_numbers(store: Store, owner: int) -> None:
    bot = store.bots.add("zeta", owner)

    def add(_: int) -> str:
        try:
            return upload(store, bot.id).name
        except ConflictError:
            return "conflict"

    with ThreadPoolExecutor(6) as pool:
        names = [name for name in pool.map(add, range(12)) if name != "conflict"]
    assert len(set(names)) == len(names)
    assert bot.id is not None
    assert len(store.versions.of_bot(bot.id)) == len(names)


def test_concurrent_claims_get_different_versions(store: Store, owner: int) -> None:
    bot = store.bots.add("zeta", owner)
    for _ in range(6):
        upload(store, bot.id)
    with ThreadPoolExecutor(6) as pool:
        claimed = [version.id for version in pool.map(lambda _: store.checks.claim(), range(8)) if version]
    assert len(claimed) == len(set(claimed))
    while (version := store.checks.claim()) is not None:
        claimed.append(version.id)
    assert len(claimed) == 6


def test_page_filters_bots(store: Store, owner: int) -> None:
    other = store.users.add("ada").id
    assert other is not None
    for number in range(5):
        bot = store.bots.add(f"bot{number}", owner if number % 2 else other)
        upload(store, bot.id, state="active")
        upload(store, bot.id)
    page = store.bots.page(limit=3)
    assert [line.name for line in page.items] == ["bot0", "bot1", "bot2"]
    assert [line.name for line in store.bots.page(limit=3, after=page.next).items] == ["bot3", "bot4"]
    line = page.items[0]
    assert (line.owner, line.families, line.versions, line.newest, line.newest_state) == (
        "ada",
        ["loa"],
        2,
        2,
        "uploaded",
    )
    assert [line.name for line in store.bots.page(owner_id=owner).items] == ["bot1", "bot3"]
    assert len(store.bots.page(family="loa").items) == 5
    assert store.bots.page(family="tablut").items == []
    assert [line.number for line in store.versions.of_bot(line.id)] == [2, 1]


def test_report_of_connected_bots_writes_differences_alone(store: Store, owner: int) -> None:
    bot = store.bots.add("far", owner)
    ada, bob, eve = (upload(store, bot.id).id or 0 for _ in range(3))
    first = {number: ConnectedBot(number, 0, 4, 20.0, True) for number in (ada, bob)}
    store.presences.report(first)
    before = store.presences.of([ada, bob, eve])
    assert {number for number, line in before.items() if line.is_connected} == {ada, bob}
    second = {ada: ConnectedBot(ada, 3, 4, 20.0, True), eve: ConnectedBot(eve, 0, 1, None, False)}
    store.presences.report(second, first)
    lines = store.presences.of([ada, bob, eve])
    assert {number: (line.is_connected, line.games) for number, line in lines.items()} == {
        ada: (True, 3),
        bob: (False, 0),
        eve: (True, 0),
    }
    assert lines[bob].seen == before[bob].seen, "who has left was last seen before"
    store.presences.report(second, second)
    assert store.presences.of([ada])[ada].seen > lines[ada].seen, "who is unchanged is seen again"
    store.presences.report({bob: first[bob]})
    lines = store.presences.of([ada, bob, eve])
    assert {number for number, line in lines.items() if line.is_connected} == {bob}, "an unknown report is replaced"


def test_ensure_samples_is_idempotent(store: Store) -> None:
    variants = {"loa": ("standard", "zen"), "tablut": ("bell",)}
    first = store.samples.ensure(SAMPLES, variants)
    assert set(first) == set(SAMPLES)
    assert first["greedy"].bot_file.command == ("python", "-m", "bots.samples.greedy", "--family", "{family}")
    level = {"level-5": "bots.samples.champion"}
    weaker = store.samples.ensure(level, variants)["level-5"]
    assert weaker.bot_file.options == {"Level": "5"}
    assert weaker.id == store.samples.ensure(level, variants)["level-5"].id
    again = store.samples.ensure(SAMPLES, variants)
    assert {name: version.id for name, version in again.items()} == {
        name: earlier.id for name, earlier in first.items()
    }
    more = store.samples.ensure(SAMPLES, {**variants, "abalone": ("standard",)})
    assert {version.number for version in more.values()} == {2}
    assert len(store.versions.active("loa")) == 2 * len(SAMPLES) + 1


def test_raised_sample_revision_adds_version(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    variants = {"loa": ("standard",)}
    first = store.samples.ensure(SAMPLES, variants)
    with store.writing() as session:  # as stored before revisions existed
        session.get_one(Version, first["greedy"].id).report = {}
    monkeypatch.setattr(bots, "REVISIONS", {**bots.REVISIONS, "bots.samples.mcts": 99})
    again = store.samples.ensure(SAMPLES, variants)
    assert {name for name in SAMPLES if again[name].id != first[name].id} == {"mcts"}
    assert (again["mcts"].number, again["mcts"].follows_id) == (2, first["mcts"].id)
    assert store.samples.ensure(SAMPLES, variants)["mcts"].id == again["mcts"].id


def test_fit_from_returns_times_by_family(store: Store) -> None:
    user = store.users.add("eva")
    bot = store.bots.add("eta", user.id or 0)
    version = store.versions.add(bot.id or 0, BotFile(("./x",), families=("loa", "tablut")))
    other = store.versions.add(bot.id or 0, BotFile(("./x",), families=("loa",)), state="active")
    claimed = store.checks.claim()
    assert claimed is not None
    lines = {"loa": {"fit_from_ms": 5000, "clocks": False}, "tablut": {"clocks": True}}
    store.checks.conclude(version.id or 0, report={}, variants={}, capabilities=lines)
    ids = [version.id or 0, other.id or 0]
    lines = store.versions.lines(ids)
    assert [lines[key].fit_from_ms for key in ids] == [{"loa": 5000}, {}]


def checked(
    store: Store, name: str, *, problem: str = "", capabilities: dict[str, Any] | None = None, **report: Any
) -> int:
    """Store a version with this verdict for Lines of Action, and return its number."""
    user = store.users.add(name)
    bot = store.bots.add(name, user.id or 0)
    version = store.versions.add(bot.id or 0, BotFile(("./x",), families=("loa",)))
    assert store.checks.claim() is not None
    store.checks.conclude(
        version.id or 0,
        report={"families": {"loa": {"problem": problem, **report}}},
        variants={"loa": ["standard"]},
        capabilities={"loa": capabilities or {}},
        problem=problem,
    )
    return version.id or 0


def test_repeat_late_queues_only_what_was_late_on_a_busy_machine(store: Store) -> None:
    busy, calm = {"average": 66.0, "cores": 2}, {"average": 2.0, "cores": 2}
    late = checked(store, "late", problem="needs 5.6 s", late=True, load=busy)
    slow = checked(store, "slow", problem="needs 5.6 s", late=True, load=calm)
    wrong = checked(store, "wrong", problem="illegal", late=False, load=busy)
    fine = checked(store, "fine", late=False, load=busy)
    assert store.checks.repeat_late() == 1
    states = [store.versions.get(number).state for number in (late, slow, wrong, fine)]
    assert states == ["uploaded", "failed", "failed", "active"]
    assert store.checks.repeat_late() == 0


def test_correct_bounds_a_version_by_the_calmer_measurement_alone(store: Store) -> None:
    measured = {"fit_from_ms": 5600, "clocks": True}
    busy = checked(store, "busy", capabilities={**measured, "load": "load 66.0 on 2 cores"})
    checked(store, "calm", capabilities=measured)
    assert store.checks.measured_busy() == [busy]
    before = bot_spec(store.versions.get(busy), "loa")
    assert before.capabilities == measured
    store.checks.correct(busy, {})  # it was busy again
    assert store.checks.measured_busy() == [busy]
    store.checks.correct(busy, {"loa": 400})
    assert store.checks.measured_busy() == []
    assert store.versions.lines([busy])[busy].fit_from_ms == {"loa": 400}
    assert bot_spec(store.versions.get(busy), "loa") == before


@pytest.mark.parametrize("again_ms", [0, 9000])
def test_correct_never_raises_the_time_of_a_version(store: Store, again_ms: int) -> None:
    number = checked(store, "busy", capabilities={"fit_from_ms": 5600, "load": "load 66.0 on 2 cores"})
    store.checks.correct(number, {"loa": again_ms})
    assert store.versions.lines([number])[number].fit_from_ms == {"loa": 5600}
    assert store.checks.measured_busy() == []


def test_correct_leaves_a_version_that_is_no_longer_active(store: Store) -> None:
    number = checked(store, "busy", capabilities={"fit_from_ms": 5600, "load": "load 66.0 on 2 cores"})
    store.versions.retire(number)
    store.checks.correct(number, {"loa": 400})
    assert store.checks.measured_busy() == []
    assert store.versions.lines([number])[number].fit_from_ms == {"loa": 5600}
