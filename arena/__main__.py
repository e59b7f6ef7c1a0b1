"""The console script `arena`, also `python -m arena`; it calls `arena.cli`."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence


def hold_streams() -> None:
    """Reopen closed standard streams as /dev/null. Otherwise files opened later get these streams' descriptors."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free descriptor: this one
            setattr(sys, name, open(number, mode, encoding="utf-8"))  # noqa: SIM115 - open until the end


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line (`sys.argv` by default) and return its exit code."""
    hold_streams()
    # One thread for OpenBLAS, set before numpy is imported: our matrices are too small to gain from more threads.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Collect garbage rarely: imported objects live forever, and searching them for garbage slows the start by a tenth.
    gc.set_threshold(20_000)
    from arena.cli.terminal.run import run

    return run(sys.argv[1:] if arguments is None else list(arguments))


if __name__ == "__main__":
    sys.exit(main())
