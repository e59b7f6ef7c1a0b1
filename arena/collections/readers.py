"""A long list read by several processes at once: copies of this one, each with a run of it. Refuses to know what of."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from multiprocessing.connection import Connection
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

LEAST = 50
"""What is shorter for each of them is read by one: a copy takes as long to make as some games to read."""


def readers() -> int:
    """How many processes may read at once: one where copies cannot be made."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1


def read_apart(read: Callable[[Sequence[T]], R], all_of_it: Sequence[T], count: int) -> list[R]:
    """What `read` says of each of `count` runs of something, in order; it must be fit to be sent (pickled).

    To be called where no other threads run. What a copy fails to bring is read here.
    """
    count = max(1, min(count, len(all_of_it) // LEAST))
    ends = [len(all_of_it) * place // count for place in range(count + 1)]
    return _read([all_of_it[begin:end] for begin, end in pairwise(ends)], read)


def _read(shares: Sequence[Sequence[T]], read: Callable[[Sequence[T]], R]) -> list[R]:
    own, *others = shares
    if not others:
        return [read(own)]
    context = multiprocessing.get_context("fork")
    begun = []
    for share in others:
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_send, args=(theirs, read, share), daemon=True)
        process.start()
        theirs.close()
        begun.append((share, ours, process))
    found = [read(own)]
    for share, connection, process in begun:
        with connection:
            try:
                found.append(connection.recv())
            except EOFError:
                found.append(read(share))
        process.join()
    return found


def _send(connection: Connection, read: Callable[[Sequence[T]], R], share: Sequence[T]) -> None:
    with connection:
        connection.send(read(share))
