"""Programs to their end: those that start others, of which nothing is left, and commands in this process."""

from __future__ import annotations

import io
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

ENDS_S = 150
"""How long it may take to end when told to; then it is killed."""


def finished(line: Sequence[str | Path], patience_s: float, **options: Any) -> subprocess.CompletedProcess[str]:
    """The program when it has ended by itself. Raises TimeoutExpired when it does not; nothing of it is left then."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(line, stdout=pipe, stderr=pipe, text=True, start_new_session=True, **options)
    try:
        output, errors = process.communicate(timeout=patience_s)
        return subprocess.CompletedProcess(process.args, process.returncode, output, errors)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.communicate(timeout=ENDS_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()


def arena(
    words: Sequence[str], environment: Mapping[str, str], folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in this process, for which it does not load the arena again; what it starts is as it would be."""
    from arena.cli.terminal.run import run

    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2)]
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        for name, value in environment.items():
            patch.setenv(name, value)
        if folder:
            patch.chdir(folder)
        code = run(words)
    for stream in streams:
        stream.seek(0)
    return subprocess.CompletedProcess(words, code, *(stream.read() for stream in streams))
