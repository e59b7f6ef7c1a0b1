"""The faults, and the seeded sequence of them. Each lasts from call to return."""

from __future__ import annotations

import contextlib
import random
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from referee.sandbox.reaper import descendants
from tests.arena.store.damage import damage
from tests.e2e.drill.machine import Timeout, command_line, slots_of
from tests.e2e.drill.scaled import Scaled
from tests.e2e.drill.service import Service
from tests.e2e.drill.stage import Embedded, Stage

_TIMEOUT_S = 120.0
"""How long to wait for somebody to hit, such as a bot that plays or a referee that stands by."""


@dataclass(frozen=True)
class Fault:
    """One fault of the sequence. `seconds` is how long it lasts where that can be chosen."""

    number: int
    kind: str
    target: str
    seconds: float

    @property
    def label(self) -> str:
        """As people call it."""
        return f"{self.kind} {self.target}"


@dataclass(frozen=True)
class Kind:
    """One way to hurt. `act(stage, target, seconds, dice)` does it, ends it and says what it did."""

    name: str
    targets: Callable[[Stage], Sequence[str]]
    act: Callable[[Stage, str, float, random.Random], str]
    seconds: tuple[float, float] = (0.0, 0.0)
    games: int = 6
    """How many games must be left to be played: it needs some itself, and its recovery is to be seen."""


def _services(stage: Stage) -> Sequence[str]:
    return list(stage.supervisor.services)


def _players(stage: Stage) -> Sequence[str]:
    return stage.players


def _remote(stage: Stage) -> Sequence[str]:
    return stage.players[-1:] if isinstance(stage, Scaled) else ()


def _started(stage: Stage) -> Sequence[str]:
    """Services that need no broker to start."""
    return (stage.pages, stage.referee) if isinstance(stage, Scaled) else ()


def _cluster(stage: Stage) -> Sequence[str]:
    """Whoever has workers on other machines."""
    return (stage.referee,) if isinstance(stage, Scaled) else ()


def _file(stage: Stage) -> Sequence[str]:
    """Whoever has a database that is a file."""
    return (stage.referee,) if isinstance(stage, Embedded) else ()


def _referee(stage: Stage) -> Sequence[str]:
    return (stage.referee,)


def _ours(stage: Stage) -> Sequence[str]:
    """Services that are told to restart when they are upgraded."""
    return sorted({stage.pages, stage.referee, *stage.players} | {"database"} & stage.supervisor.services.keys())


def _killed(stage: Stage, service: Service, number: int) -> float:
    count = len(service.starts)
    service.signal(number)
    return stage.supervisor.await_start(service, count + 1)


def _kill(stage: Stage, target: str, seconds: float, dice: random.Random) -> str:
    _killed(stage, stage.supervisor.services[target], signal.SIGKILL)
    return "SIGKILL; over when it was started again"


def _restart(stage: Stage, target: str, seconds: float, dice: random.Random) -> str:
    service = stage.supervisor.services[target]
    _killed(stage, service, service.stop_signal)
    return "ended in good order; over when it was started again"


def _freeze(stage: Stage, target: str, seconds: float, dice: random.Random) -> str:
    service = stage.supervisor.services[target]
    service.signal(signal.SIGSTOP)
    try:
        time.sleep(seconds)
    finally:
        service.signal(signal.SIGCONT)
    return f"stopped for {seconds:.1f} s"


def _busy_slot(stage: Stage, target: str, dice: random.Random) -> int:
    """A slot that plays a game now. Raises TimeoutError."""
    timeout = Timeout(_TIMEOUT_S)
    while not timeout.is_over():
        busy = [slot for slot in slots_of(stage.supervisor.services[target].pid or 0) if _bots_of(slot)]
        if busy:
            return dice.choice(busy)
        time.sleep(0.02)
    raise TimeoutError(f"no slot below {target} played within {_TIMEOUT_S:g} s")


def _bots_of(slot: int) -> list[int]:
    return sorted(pid for pid in descendants(slot) if command_line(pid).startswith("./loa_bot"))


def _kill_slot(stage: Stage, target: str, seconds: float, dice: random.Random) -> str:
    slot = _busy_slot(stage, target, dice)
    _send(slot, signal.SIGKILL)
    return f"SIGKILL to slot {slot}"


def _freeze_slot(stage: Stage, target: str, seconds: float, dice: random.Random) -> str:
    slot = _busy_slot(stage, target, dice)
    _send(slot, signal.SIGSTOP)
    try:
        time.sleep(seconds)
    finally:
        _send(slot, signal.SIGCONT)
    return f"slot {slot} stopped for {seconds:.1f} s"


def _kill_bot(stage: Stage, target: str, seconds: float, dice: random.Random) -> str:
    bots = _bots_of(_busy_slot(stage, target, dice))
    if not bots:
        return "came too late: the game was over"
    bot = dice.choice(bots)
    _send(bot, signal.SIGKILL)
    return f"SIGKILL to bot {bot}"


def _send(pid: int, number: int) -> None:
    import os

    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _fill_disk(stage: Stage, target: str, seconds: float, dice: random.Random) -> str:
    """The machine of a player comes back with an empty cache and a full disk, and gets room again."""
    service, disk = stage.supervisor.services[target], stage.disks[target]
    with contextlib.ExitStack() as stack:
        with _down(stage, service, signal.SIGKILL):
            disk.empty()
            stack.enter_context(disk.full())
        time.sleep(seconds)
    return f"restarted with an empty cache on a full disk, room again {seconds:.1f} s later"


def _block_database(stage: Stage, target: str, seconds: float, dice: random.Random) -> str:
    with stage.blocked():
        time.sleep(seconds)
    return f"no writing for {seconds:.1f} s"


def _take_database(stage: Stage, target: str, seconds: float, dice: random.Random) -> str:
    """The database is away for longer than the referee's lease: what finishes meanwhile is recorded afterwards."""
    with stage.without_database():
        time.sleep(stage.lease_s + seconds)
        kept = stage.spooled()
    _await_recorded(stage, kept)
    return f"no database for {stage.lease_s + seconds:.1f} s, {len(kept)} results waited"


def _kill_without_database(stage: Stage, target: str, seconds: float, dice: random.Random) -> str:
    """As above, and the referee dies meanwhile: what had finished is in its spool."""
    service = stage.supervisor.services[target]
    with contextlib.ExitStack() as stack, stage.without_database():
        time.sleep(stage.lease_s + seconds)
        kept = stage.spooled()
        stack.enter_context(_down(stage, service, signal.SIGKILL))
    _await_recorded(stage, kept)
    return f"no database for {stage.lease_s + seconds:.1f} s, SIGKILL with {len(kept)} results in the spool"


def _await_recorded(stage: Stage, kept: Mapping[str, str]) -> None:
    """Wait until the games of results that waited have one. Raises AssertionError when it is another one."""
    _until(lambda: stage.recorded(kept).keys() == kept.keys(), "the results that waited are not recorded")
    if stage.recorded(kept) != kept:
        raise AssertionError("a game that had finished was played again")


def _restart_without_broker(stage: Stage, target: str, seconds: float, dice: random.Random) -> str:
    """Started while the broker is away: it does its work all the same."""
    service, broker = stage.supervisor.services[target], stage.supervisor.services["broker"]
    with _down(stage, broker, signal.SIGKILL):
        _killed(stage, service, service.stop_signal)
        starts = len(service.starts)
        time.sleep(seconds)
        _until(stage.is_ready, "the pages are not ready without a broker")
        if len(service.starts) > starts:
            raise AssertionError(f"{target} ended because there was no broker")
    return f"restarted without a broker, which came {seconds:.1f} s later"


def _damage(stage: Stage, target: str, seconds: float, dice: random.Random) -> str:
    """A page of the database is overwritten while the machine is down; its operator restores a backup."""
    assert isinstance(stage, Embedded)
    service = stage.supervisor.services[target]
    stage.arena("db", "backup")
    time.sleep(seconds)  # games go on: their results are not in the backup
    with _down(stage, service, signal.SIGKILL):
        stage.store.engine.dispose()
        damage(stage.data / "arena.sqlite3")
    _until(lambda: stage.part("database") == "damaged", "the damage is not found")
    with _down(stage, service, service.stop_signal):
        stage.store.engine.dispose()
        report = stage.arena("db", "restore")
    _until(stage.is_ready, "the arena is not ready after the backup was restored")
    return f"found, restored, {report['salvaged']} results read from the damaged file, {report['waiting']} recorded"


def _lie(stage: Stage, target: str, seconds: float, dice: random.Random) -> str:
    """A worker whose rules are others joins and says that they are ours: it is excluded by what it brings."""
    assert isinstance(stage, Scaled)
    name = f"liar-{dice.randrange(10**6)}"
    service = stage.start_liar(name)
    _until(lambda: service.process is None, f"{name} is not excluded")
    log = stage.log(name)
    _dismiss(stage, name)
    if "has quarantined this worker" not in log:
        raise AssertionError(f"{name} ended for another reason: {log[-500:]}")
    return f"{name}, for which the first side wins draws, was excluded"


@contextlib.contextmanager
def _down(stage: Stage, service: Service, number: int) -> Iterator[None]:
    """A service is ended, and started again afterwards."""
    count = len(service.starts)
    service.is_held = True
    service.signal(number)
    _until(lambda: service.process is None, f"{service.name} does not end")
    try:
        yield
    finally:
        service.is_held = False
        stage.supervisor.await_start(service, count + 1)


def _until(condition: Callable[[], bool], complaint: str) -> None:
    timeout = Timeout(_TIMEOUT_S)
    while not condition():
        if timeout.is_over():
            raise AssertionError(f"{complaint} within {_TIMEOUT_S:g} s")
        time.sleep(0.2)


def _cut(stage: Stage, target: str, seconds: float, dice: random.Random) -> str:
    assert isinstance(stage, Scaled)
    with stage.cut(target):
        time.sleep(stage.cut_s or seconds)
    return f"cut off for {stage.cut_s or seconds:.1f} s"


def _second(stage: Stage, target: str, seconds: float, dice: random.Random) -> str:
    """Another referee on the same database: it must not act while the first one lives."""
    name = _stand_by(stage, dice)
    time.sleep(seconds)
    is_acting = '"acting"' in stage.log(name)
    _dismiss(stage, name)
    if is_acting:
        raise AssertionError(f"{name} acted although {target} was alive")
    return f"{name} stood by for {seconds:.1f} s"


def _usurp(stage: Stage, target: str, seconds: float, dice: random.Random) -> str:
    """The referee is held up for longer than its lease while another one stands by: that one takes over."""
    name = _stand_by(stage, dice)
    service = stage.supervisor.services[target]
    service.signal(signal.SIGSTOP)
    try:
        time.sleep(stage.lease_s + seconds)
        _until(lambda: '"acting"' in stage.log(name), f"{name} does not take over")
    finally:
        service.signal(signal.SIGCONT)
        _dismiss(stage, name)
    return f"{target} stopped for {stage.lease_s + seconds:.1f} s at least, {name} took over, then left"


def _stand_by(stage: Stage, dice: random.Random) -> str:
    name = f"second-{dice.randrange(10**6)}"
    stage.service(name, *stage.second())
    timeout = Timeout(_TIMEOUT_S)
    while '"standing by"' not in stage.log(name):
        if timeout.is_over():
            _dismiss(stage, name)
            raise TimeoutError(f"{name} does not stand by after {_TIMEOUT_S:g} s")
        time.sleep(0.1)
    return name


def _dismiss(stage: Stage, name: str) -> None:
    problems = stage.supervisor.stop(name)
    if problems:
        raise AssertionError("; ".join(problems))


KINDS = (
    Kind("kill", _services, _kill),
    Kind("freeze", _services, _freeze, (2, 6)),
    Kind("restart", _ours, _restart),
    Kind("kill a slot of", _players, _kill_slot),
    Kind("freeze a slot of", _players, _freeze_slot, (2, 12)),
    Kind("kill a bot of", _players, _kill_bot),
    Kind("fill the disk of", _players, _fill_disk, (2, 6)),
    Kind("block the database of", _referee, _block_database, (3, 9)),
    Kind("take the database from", _referee, _take_database, (1, 3)),
    Kind("kill without its database", _referee, _kill_without_database, (1, 3)),
    Kind("restart without the broker", _started, _restart_without_broker, (2, 4)),
    Kind("damage the database of", _file, _damage, (2, 3)),
    Kind("cut the network of", _remote, _cut, (4, 12)),
    Kind("lie to", _cluster, _lie, games=24),
    Kind("start a second", _referee, _second, (2, 5)),
    Kind("usurp", _referee, _usurp, (3, 5)),
)


def draw(stage: Stage, count: int, seed: int, only: Sequence[str] = ()) -> list[Fault]:
    """So many faults (0: as many as there are): everything once, in any order, then all over again in another order.

    With `only`, of those whose labels begin so.
    """
    dice = random.Random(seed)
    deck: list[tuple[Kind, str]] = []
    faults: list[Fault] = []
    while len(faults) < count or (not count and (deck or not faults)):
        if not deck:
            deck = [(kind, target) for kind in KINDS for target in kind.targets(stage)]
            deck = [(kind, target) for kind, target in deck if f"{kind.name} {target}".startswith(tuple(only) or "")]
            dice.shuffle(deck)
        kind, target = deck.pop()
        faults.append(Fault(len(faults) + 1, kind.name, target, round(dice.uniform(*kind.seconds), 1)))
    return faults


def commit(stage: Stage, fault: Fault, seed: int) -> str:
    """Do it; what was done. Raises AssertionError when the arena did what it must not, TimeoutError."""
    return _kind(fault).act(stage, fault.target, fault.seconds, random.Random(f"{seed} {fault.number}"))


def games_for(fault: Fault) -> int:
    """How many games must be left when it is committed."""
    return _kind(fault).games


def _kind(fault: Fault) -> Kind:
    return next(kind for kind in KINDS if kind.name == fault.kind)
