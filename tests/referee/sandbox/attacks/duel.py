"""Looks for its opponent among the processes started about when it was, and does to all of them what it can."""

import os
import resource
import signal
from typing import Any

from attacker import error_of, run

NEAR = 24
OTHERS = [pid for pid in range(os.getpid() - NEAR, os.getpid() + NEAR) if pid != os.getpid()]


def cripple(pid: int) -> None:
    resource.prlimit(pid, resource.RLIMIT_DATA, (0, 0))


def attack() -> dict[str, Any]:
    attacks = {
        "prlimit64": cripple,
        "setpriority": lambda pid: os.setpriority(os.PRIO_PROCESS, pid, 19),
        "scheduler": lambda pid: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)),
        "session": os.getsid,
        "stop": lambda pid: os.kill(pid, signal.SIGSTOP),
        "kill": lambda pid: os.kill(pid, signal.SIGKILL),
    }
    return {
        name: sorted({error_of(lambda act=act, pid=pid: act(pid)) for pid in OTHERS}) for name, act in attacks.items()
    }


run(attack)
