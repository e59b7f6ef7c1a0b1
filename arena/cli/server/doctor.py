"""`arena doctor`: check what this machine provides, one line for each component, and how to get the rest.

It changes nothing: tests run in temporary places and are cleaned up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from arena.cli.server import machine_checks, service_checks
from arena.cli.server.machine_checks import Diagnosis, State
from arena.cli.source.database import SettingsArguments
from arena.cli.terminal import output
from arena.cli.terminal.exit import Exit
from arena.cli.terminal.output import Style
from arena.cli.terminal.printer import Output, Printer
from arena.config import Settings

_COLOURS: dict[State, Style] = {"ok": "green", "weak": "yellow", "broken": "red"}


@dataclass(frozen=True, kw_only=True)
class DoctorArguments(SettingsArguments, Output):
    """Arguments of `arena doctor`."""


def run(arguments: DoctorArguments) -> int:
    """Check every component; exit code 1 if one is broken."""
    printer, parts = Printer(arguments), []
    for part in examine(arguments.read()):
        parts.append(part)
        if printer.is_for_people:
            output.text(f"{output.styled(f'{part.state:<6}', _COLOURS[part.state])}  {part.name:<15} {part.detail}")
            if part.fix:
                output.text(f"{'':24}fix: {part.fix}")
    printer.result({"parts": [asdict(part) for part in parts]}, items="parts")
    return Exit.FAILED if any(part.state == "broken" for part in parts) else Exit.DONE


def examine(settings: Settings) -> Iterator[Diagnosis]:
    """Yield the diagnosis of each component as it is checked."""
    yield machine_checks.python()
    yield machine_checks.sandbox()
    yield machine_checks.uploads()
    yield machine_checks.user()
    yield machine_checks.groups()
    yield from machine_checks.programs()
    yield machine_checks.rules()
    yield machine_checks.kernels()
    yield machine_checks.cores()
    yield machine_checks.memory()
    yield machine_checks.clock()
    yield machine_checks.lag_meter()
    yield service_checks.data_folder(settings)
    yield service_checks.sqlite(settings)
    yield service_checks.results(settings)
    yield service_checks.database(settings.database)
    yield service_checks.broker(settings)
    yield from service_checks.features(settings)
    yield service_checks.cluster(settings) if settings.is_clustered else Diagnosis("executor", "ok", settings.executor)
