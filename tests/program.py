"""A program that starts others: what takes too long is told to end, and takes them with it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

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
