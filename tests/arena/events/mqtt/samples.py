"""A sample of every event, as the arena publishes it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from arena.events.messages import (
    BroadcastEvent,
    CoordinatorChanged,
    CoordinatorWakeup,
    CoordinatorWorkers,
    EntrySuspended,
    GameAborted,
    GameEnded,
    GameMoved,
    GamePlies,
    GameSnapshot,
    GameWatched,
    HumanActed,
    RatingsChanged,
    SnapshotRequest,
    TournamentChanged,
    TournamentPlanned,
    VersionChanged,
    VersionStep,
)
from arena.events.payload import WorkerPayload
from referee.game.record import Ply

GAME = "0123456789abcdef"
OTHER = "fedcba9876543210"
PROCESS = "arena-host-1-abc"
PLY = Ply(1.5, move="a1a2")
ENDED = GameEnded(
    game=GAME,
    tournament=3,
    winner="first",
    termination="resign",
    termination_class="rules",
    commit_number=7,
    state="finished",
)
SAMPLES: dict[type[BroadcastEvent], BroadcastEvent] = {
    type(news): news
    for news in (
        GamePlies(game=GAME, attempt=1, first=1, plies=(PLY,)),
        GameSnapshot(game=GAME, tournament=3, attempt=1, plies=(PLY, PLY)),
        GameWatched(game=GAME, is_new=False),
        ENDED,
        GameAborted(game=GAME),
        TournamentChanged(tournament=3, state="running", problem="because"),
        TournamentPlanned(tournament=3, planned=10),
        EntrySuspended(tournament=3, version=5, name="mute v1", reason="it did not get ready 5 times in a row"),
        RatingsChanged(pool="tablut/bell+king_max_step=4", game=GAME, commit_number=7),
        VersionChanged(version=5, state="checking"),
        VersionStep(version=5, line="loa: handshake: ok"),
        CoordinatorChanged(state="acting", lease_owner="host:1:abc"),
        CoordinatorWorkers(lease_owner="host:1:abc", workers=(WorkerPayload("one", 2, 1),), cores=2),
        CoordinatorWakeup(tournament=3),
        HumanActed(game=GAME),
        SnapshotRequest(),
    )
}


def subject_of(kind: type[BroadcastEvent]) -> str | int:
    """Return the subject of the sample, as its topic has it."""
    name = kind.TOPIC.subject
    return PROCESS if name == "from" else getattr(SAMPLES[kind], name) if name else ""


def topic_of(kind: type[BroadcastEvent]) -> str:
    """Return the topic of the sample."""
    return kind.TOPIC.of(subject_of(kind))


def ended(game: str = GAME, **more: Any) -> GameEnded:
    """Return the result of a game."""
    return replace(ENDED, game=game, **more)


def ply(number: int, game: str = GAME) -> GameMoved:
    """Return a ply as a game slot sends it."""
    return GameMoved(game=game, first=number, plies=(Ply(1.0, move=f"a1a{number}"),))
