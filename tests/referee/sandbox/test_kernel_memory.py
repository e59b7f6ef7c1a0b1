"""What the kernel holds for a process: read from its books, and never less than it is."""

from __future__ import annotations

import os
import socket
import subprocess

import pytest

from referee.sandbox import kernel_memory, watchdog
from referee.sandbox.kernel_memory import descriptor_bytes, held_by_descriptors, held_by_processes
from referee.sandbox.reaper import children, kill_tree
from referee.sandbox.watchdog import Census, WatchedTree


def test_a_full_socket_holds_no_more_than_a_descriptor_may() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        sent = 0
        try:
            while True:
                sent += ours.send(bytes(65536))
        except BlockingIOError:
            pass
    assert 0 < sent <= descriptor_bytes()


def test_descriptors_and_mappings_are_counted() -> None:
    before = held_by_descriptors(os.getpid())
    pipe = os.pipe()
    assert held_by_descriptors(os.getpid()) - before == 2 * descriptor_bytes()
    for end in pipe:
        os.close(end)
    assert 10 * kernel_memory._MAPPING_BYTES < held_by_processes((os.getpid(),)) < 2**26
    with pytest.raises(OSError, match=r"/proc/\d+/fd"):
        held_by_descriptors(2**22 + 1)


@pytest.mark.parametrize(("inuse", "pages", "held"), [(0, 900, 0), (3, 9000, 5 * 2**20), (3, 10, 10 * 4096)])
def test_connections_hold_at_most_what_all_of_the_machine_do(
    inuse: int, pages: int, held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_memory, "_connection_bytes", lambda: 2**20)
    monkeypatch.setattr(kernel_memory, "_PAGE", 4096)
    books = b"sockets: used 84\nTCP: inuse %d orphan 0 tw 9 alloc 34 mem %d\nUDP: inuse 4 mem 7\n" % (inuse, pages)
    if inuse:
        books += b"TCP6: inuse 2\nUDP6: inuse 1\n"
    assert kernel_memory.held_by_connections(books) == held


def test_an_ordinary_program_is_charged_little() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as cat:
        watched = WatchedTree(cat.pid, 2**30, 64)
        watched.check()
        assert not watched.excess
        assert 0 < watched.peak.memory_bytes < 2**24
        cat.communicate()


def test_a_disk_of_the_machine_is_no_memory_of_a_bot_whose_own_is_not_there_yet() -> None:
    with subprocess.Popen(["sh", "-c", "sleep 600 & echo; wait"], stdout=subprocess.PIPE) as shell:
        assert shell.stdout
        shell.stdout.readline()
        watched = WatchedTree(shell.pid, 2**24, 64, scratch=("/", "/nowhere"))
        assert children(shell.pid)
        watched.check()
        assert not watched.excess
        assert 0 < watched.peak.memory_bytes < 2**24
        kill_tree(shell.pid)


@pytest.mark.parametrize(("threads", "excess"), [(65, "processes"), (64, "memory")])
def test_too_many_processes_are_named_before_the_memory_they_hold(
    threads: int, excess: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[int] = []
    monkeypatch.setattr(watchdog, "take_census", lambda pid: Census(2**40, threads))
    monkeypatch.setattr(watchdog, "_shared_out", lambda pid: 2**40)
    monkeypatch.setattr(watchdog, "kill_tree", killed.append)
    watched = WatchedTree(os.getpid(), 2**30, 64)
    watched.check()
    assert (watched.excess, killed) == (excess, [os.getpid()])
