"""Assembles a coordinator from its parts, in the order in which they depend on each other."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from arena import feature
from arena.clock import now
from arena.cluster.game_runner import BundlePlace
from arena.cluster.spool import Spool
from arena.coordinator.analyst import Analyst, RequestAnalyst
from arena.coordinator.archivist import POLL_INTERVAL_S, ArchiveImporter, ArchiveIndexer
from arena.coordinator.auditor import ResultAuditor, VerifierProcess
from arena.coordinator.background import Background, Conditions, OutageLog
from arena.coordinator.checks import SubmissionChecks, check_in_sandbox, measure_in_sandbox
from arena.coordinator.context import CoordinatorContext, Wakeup
from arena.coordinator.control import EntrySuspender, TournamentControl
from arena.coordinator.coordinator import GRACE_S, TICK_INTERVAL_S, Coordinator, CoordinatorParts
from arena.coordinator.dispatcher import JobDispatcher
from arena.coordinator.executors import remote_pool
from arena.coordinator.human_games import HumanGames
from arena.coordinator.leadership import Leadership
from arena.coordinator.lobby import Lobby
from arena.coordinator.maintenance import Maintenance
from arena.coordinator.recorder import Recorder
from arena.coordinator.remote_games import RemoteGames
from arena.events.bus import EventBus
from arena.metrics import CoordinatorMetrics
from arena.store import Store
from arena.store.bots.bots import REPORT_INTERVAL_S, ConnectedBot

if TYPE_CHECKING:
    from arena.config import Settings

PRESENCE_BATCH_WINDOW_S = 0.5
"""Shortest time between two updates of the connected remote bots."""
MAINTENANCE_INTERVAL_S = 10.0
"""How often the coordinator checks whether daily tasks are due."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collaborators:
    """The parts of a coordinator without the store, the bus and the executor; None stands for what a server uses."""

    spool: Spool | None = None
    """The spool that the executor uses (None: the one in `settings.spool_folder`)."""
    lobby: Lobby | None = None
    """The connections of remote bots (None: no remote bots)."""
    metrics: CoordinatorMetrics | None = None
    clock: Callable[[], datetime] = now
    """Returns the current time."""
    check: Callable[[int], object] | None = None
    """Checks one claimed version (None: in the sandbox)."""
    maintenance: Maintenance | None = None
    """The daily tasks (None: those that the settings enable)."""
    verifier: VerifierProcess | None = None
    """Verifies records of workers (None: in a helper process)."""
    grace_s: float = GRACE_S
    """Time for running games to finish after the order to stop."""


_USUAL = Collaborators()


def assemble(
    settings: Settings, store: Store, bus: EventBus, executor: Executor, given: Collaborators = _USUAL
) -> Coordinator:
    """Return a coordinator; its `run` does the work."""
    # An empty spool has no length, and would count as none.
    spool = Spool(settings.spool_folder) if given.spool is None else given.spool
    metrics = given.metrics or CoordinatorMetrics()
    metrics.waiting.set_function(lambda: len(spool))
    metrics.waiting_seconds.set_function(lambda: spool.backlog().age_s)
    outage = OutageLog(spool.backlog)
    leadership = Leadership(store, settings.lease_ttl_seconds, outage)
    context = CoordinatorContext(settings, store, bus, executor, spool, leadership.name, metrics, given.clock)
    conditions = Conditions(leadership.fenced, outage, lambda name: metrics.failures.labels(name).inc())
    auditor = ResultAuditor(context, given.verifier or VerifierProcess())
    recorder = Recorder(context, auditor)
    remote = RemoteGames(
        store, given.lobby, partial(remote_pool, settings, bus, spool) if settings.is_clustered else None
    )
    dispatcher = JobDispatcher(context, remote, recorder.job_done)
    presence = _presence(context, given.lobby, conditions) if given.lobby else None
    coordinator = Coordinator(
        context,
        CoordinatorParts(
            leadership,
            outage,
            auditor,
            recorder,
            remote,
            dispatcher,
            EntrySuspender(context, dispatcher, recorder),
            TournamentControl(context, dispatcher),
            _human_games(context, recorder, conditions),
            _checks(context, given.check, conditions),
            (*_background(context, given.maintenance, conditions), *([presence] if presence else ())),
        ),
        given.grace_s,
    )
    if given.lobby and presence:
        given.lobby.on_change = partial(_note_presence, presence, context.wakeup)
    return coordinator


def _human_games(context: CoordinatorContext, recorder: Recorder, conditions: Conditions) -> HumanGames:
    def finished(game_id: str) -> None:
        """Handle the end of a person's game at once. Thread-safe."""
        recorder.game_ended(game_id)
        context.wakeup.now()

    return HumanGames(
        context.store,
        context.bus,
        context.settings,
        owner=context.owner,
        spool=context.spool,
        conditions=conditions,
        on_done=finished,
    )


def _checks(context: CoordinatorContext, check: Callable[[int], object] | None, conditions: Conditions) -> Background:
    store, bus, settings = context.store, context.bus, context.settings
    checks = SubmissionChecks(
        store,
        bus,
        check or check_in_sandbox(store, bus, BundlePlace.of(settings).open, settings.sandbox),
        measure=measure_in_sandbox(store, BundlePlace.of(settings).open, settings.sandbox),
        ladder_time_control=settings.ladder_time_control,
        metrics=context.metrics,
    )
    return Background("checks", TICK_INTERVAL_S, checks.work, conditions)


def _background(
    context: CoordinatorContext, maintenance: Maintenance | None, conditions: Conditions
) -> tuple[Background, ...]:
    store, settings = context.store, context.settings
    chosen = feature.enabled(settings.disabled_features, *feature.COORDINATOR)
    if maintenance is None:
        maintenance = Maintenance.of(settings, store, BundlePlace.of(settings).open)
        maintenance.tasks += [task for tasks in feature.loaded(chosen, "tasks") for task in tasks(store)]
    return (
        _following(store, conditions),
        *_analysing(context, conditions),
        # No `interrupt`: a portion that this process has not finished is read again by the next coordinator.
        Background("imports", TICK_INTERVAL_S, ArchiveImporter(store).work, conditions),
        _maintaining(context, maintenance, conditions),
        *(work for works in feature.loaded(chosen, "background") for work in works(context, conditions)),
    )


def _following(store: Store, conditions: Conditions) -> Background:
    follower = ArchiveIndexer(store)
    return Background("archive", POLL_INTERVAL_S, follower.work, conditions, close=follower.process.close)


def _analysing(context: CoordinatorContext, conditions: Conditions) -> tuple[Background, Background]:
    """Return the analyses that people request, and those of the latest results."""
    settings, jobs, store = context.settings, context.in_flight.jobs, context.store
    plays_here = not settings.is_clustered
    requests = RequestAnalyst(store)
    budget, nodes = settings.analysis_games_per_day, settings.analysis_nodes_per_position
    analyst = Analyst(store, lambda: requests.is_working or (plays_here and bool(jobs)), budget=budget, nodes=nodes)
    return (
        Background(
            "requests",
            TICK_INTERVAL_S,
            requests.work,
            conditions,
            interrupt=requests.process.interrupt,
            close=requests.close,
        ),
        Background(
            "analysis",
            TICK_INTERVAL_S,
            analyst.work,
            conditions,
            interrupt=analyst.process.interrupt,
            close=analyst.process.close,
        ),
    )


def _maintaining(context: CoordinatorContext, maintenance: Maintenance, conditions: Conditions) -> Background:
    maintenance.on_done = lambda name, at: context.metrics.task_done(name, at.timestamp())
    # Daily tasks are not fenced: in their long transactions, fencing would block the renewal of the lease.
    # An unfenced run does no harm, because every daily task is idempotent.
    unfenced = replace(conditions, fenced=contextlib.nullcontext)

    def work(stop: threading.Event) -> None:
        maintenance.run_due(context.clock(), stop.is_set)

    return Background("maintenance", MAINTENANCE_INTERVAL_S, work, unfenced)


def _presence(context: CoordinatorContext, lobby: Lobby, conditions: Conditions) -> Background:
    """Return the work that stores the connected remote bots in the database, on change and periodically."""

    reported: dict[int, ConnectedBot] | None = None

    def report(stop: threading.Event) -> bool:
        nonlocal reported
        present = {bot.version_id: bot for bot in lobby.present.values()}
        context.store.presences.report(present, reported)
        reported = present
        stop.wait(PRESENCE_BATCH_WINDOW_S)  # changes in this time are reported together
        return True

    def forget() -> None:
        """Report everything the next time: this report has failed, or another process reports next."""
        nonlocal reported
        reported = None

    return Background("presence", REPORT_INTERVAL_S, report, conditions, close=forget)


def _note_presence(presence: Background, wakeup: Wakeup) -> None:
    """Store the connected remote bots, and dispatch the games that waited for them: soon, as many connect at once."""
    presence.wake()
    wakeup.soon()
