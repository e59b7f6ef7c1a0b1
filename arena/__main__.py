"""The console script `arena`, also `python -m arena`. Everything it does is in `arena.cli`."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence


def hold_streams() -> None:
    """Open nothing in place of standard streams that are closed: files opened later would get their numbers."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free: this one
            setattr(sys, name, open(number, mode, encoding="utf-8"))  # noqa: SIM115 - open until the end


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line (`sys.argv` by default) and return its exit code."""
    hold_streams()
    # Before numpy is loaded: on our small matrices its threads wait for each other longer than one of them computes.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What is imported stays: looking through it after every 700 new objects is a tenth of the time of a start.
    gc.set_threshold(20_000)
    from arena.cli.run import run

    return run(sys.argv[1:] if arguments is None else list(arguments))


if __name__ == "__main__":
    sys.exit(main())
