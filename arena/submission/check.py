"""Checks an uploaded version in the sandbox.

The verdict lists the families and variants that the version can play, or says why it can play none.

Every claimed family is tested: handshake, time, quitting, and legal moves in every announced variant. A variant that
the bot does not announce is not a fault: the bot merely plays no games of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from arena.errors import ConflictError
from arena.store import Store
from arena.store.base.tables.bots import Version
from arena.store.bots.checks import LOAD
from arena.store.bots.versions import bot_spec, of_family
from arena.submission.bundle_store import BundleError, BundleStore
from protocol.capabilities import Capabilities
from protocol.negotiation import Ineligible
from referee.bot.file import FILE
from referee.check.check import check
from referee.check.report import CheckReport
from referee.check.timing import MOVE_TIMES_MS
from referee.game.spec import BotSpec
from referee.play.player import negotiate_options
from referee.rules import load
from referee.rules.rules import Rules, Ruleset
from referee.sandbox import Sandbox

MOVE_MS = "move_ms"
"""The limit with which authors state how long their bot thinks per move."""
_LACKS = re.compile(
    r"ModuleNotFoundError|ImportError|FileNotFoundError|No such file|cannot open|[Cc]an(?:not|'t) (?:find|locate|load)"
)
"""Messages that programs print when a file they need is missing."""
_ALONE = "it was uploaded as a single file: if it needs other files, upload its folder with a bot.toml"
_LINES, _LINE = 12, 200
"""Maximum number of lines kept at each end of a step, and maximum length of a line."""


def check_version(
    store: Store,
    bundles: BundleStore,
    version_id: int,
    sandbox: Sandbox,
    on_step: Callable[[str], None] = lambda line: None,
) -> Version:
    """Check a version in state `checking`, store the verdict and return the version.

    `on_step` receives progress messages. Raises ConflictError if the version is not in state `checking`. Raises
    BundleError and StoreUnavailableError if it cannot be checked now: it then stays `checking` until queued again.
    """
    version = store.versions.get(version_id)
    if version.state != "checking":
        raise ConflictError(f"{version.name} is {version.state}, not checking", version.state)
    reports: dict[str, dict[str, Any]] = {}
    variants: dict[str, list[str]] = {}
    announced: dict[str, dict[str, Any]] = {}
    problems: list[str] = []
    logs: list[str] = []
    for family in store.versions.families(version_id):
        spec = bundles.resolve(bot_spec(version, family))
        report, fit = examine(
            spec, load(family), sandbox, move_ms=version.bot_file.limits.get(MOVE_MS, 0), on_step=on_step
        )
        problem = problem_of(report)
        if problem and _LACKS.search(report.log) and _is_alone(spec):
            problem += f"; {_ALONE}"
        is_late = bool(report.fault and report.fault.is_late)
        reports[family] = {**_short(report), "problem": problem, "late": is_late}
        variants[family] = [] if problem else fit
        announced[family] = storable(report.capabilities.as_json())
        if report.was_busy and (report.timing.fit_from_ms or 0) > MOVE_TIMES_MS[0]:
            announced[family] |= {LOAD: report.load_words}
        if problem:
            problems.append(f"{family}: {problem}")
        if report.log:
            logs.append(f"--- {family}\n{report.log}")
    if not reports:
        problems.append("no family given")
    return store.checks.conclude(
        version_id,
        report={"sandbox": sandbox.name, "families": reports},
        variants=variants,
        capabilities=announced,
        log=_plain("\n".join(logs))[-64 * 1024 :],
        problem=_plain("; ".join(problems))[:2000],
    )


def measure_again(store: Store, bundles: BundleStore, version_id: int, sandbox: Sandbox) -> None:
    """Measure the shortest move time of an active version again, and store it if the machine was not busy meanwhile.

    Raises BundleError and StoreUnavailableError if that is impossible now.
    """
    version = store.versions.get(version_id)
    times: dict[str, int] = {}
    for family in store.versions.families(version_id):
        if not of_family(version.capabilities, family).get(LOAD):
            continue
        spec = bundles.resolve(bot_spec(version, family))
        report, _ = examine(spec, load(family), sandbox, move_ms=version.bot_file.limits.get(MOVE_MS, 0))
        if not report.was_busy:
            times[family] = report.timing.fit_from_ms or 0
    store.checks.correct(version_id, times)


def _is_alone(spec: BotSpec) -> bool:
    """Return whether a bundle has a single file apart from `bot.toml`."""
    files = [path for path in Path(spec.folder or "").rglob("*") if path.is_file() and path.name != FILE]
    return bool(spec.folder) and len(files) == 1


def examine(
    spec: BotSpec,
    rules: Rules,
    sandbox: Sandbox,
    *,
    move_ms: int = 0,
    on_step: Callable[[str], None] = lambda line: None,
) -> tuple[CheckReport, list[str]]:
    """Check a bot in one family. Return the report and the variants it can play.

    Moves are tested in one variant per set of rules. For variants that differ only in the start, the announcement
    suffices. `move_ms` is the time per move the author requests; 0: find the shortest that the bot keeps to.
    """
    kinds: dict[Any, list[Ruleset]] = {}
    for variant in rules.variants:
        ruleset = rules.settle(variant.name)
        kind = (ruleset.variant.params, tuple(sorted(ruleset.changed(("moves", "result", "limits")).items())))
        kinds.setdefault(kind, []).append(ruleset)
    report = check(
        spec,
        [rulesets[0] for rulesets in kinds.values()],
        sandbox,
        on_step=lambda step: on_step(f"{rules.family}: {step.name}: {'ok' if step.passed else 'no'}"),
        move_ms=move_ms,
    )
    if not report.is_fit:
        return report, []
    fit = set(report.variants)
    others = [ruleset for rulesets in kinds.values() if rulesets[0].variant.name in fit for ruleset in rulesets[1:]]
    fit.update(ruleset.variant.name for ruleset in others if _can_play(report.capabilities, ruleset))
    return report, [variant.name for variant in rules.variants if variant.name in fit]


def problem_of(report: CheckReport) -> str:
    """Return why the bot cannot play the family, in one sentence; empty if it can."""
    fault = report.fault
    if fault is None:
        return "" if report.steps else "no check could be run"
    return f"{fault.name}: {fault.detail}"


def _can_play(found: Capabilities, ruleset: Ruleset) -> bool:
    """Return whether the bot has announced what it needs to play by these rules."""
    plan = negotiate_options(found.option_map, found.families, ruleset, startpos_only=found.startpos_only)
    return not isinstance(plan, Ineligible)


def _short(report: CheckReport) -> dict[str, Any]:
    """Return the report as JSON, without the log and the middle of long exchanges."""
    data = report.as_json()
    for step in data["steps"]:
        lines = [_plain(line)[:_LINE] for line in step["lines"]]
        if len(lines) > 2 * _LINES:
            lines = [*lines[:_LINES], f"… {len(lines) - 2 * _LINES} lines …", *lines[-_LINES:]]
        step["lines"] = lines
        step["detail"] = _plain(step["detail"])[:1000]
        step.pop("said")  # the log is private to its author
    data["log"] = ""
    data["name"], data["author"] = _plain(data["name"])[:80], _plain(data["author"])[:80]
    data.pop("capabilities")
    return data


def _plain(text: str) -> str:
    """Return the text without characters that some databases cannot store."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def storable(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return JSON data without characters that some databases cannot store."""
    return {key: _cleaned(value) for key, value in data.items()}


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return _plain(value)
    return [_cleaned(each) for each in value] if isinstance(value, list) else value


__all__ = ["BundleError", "check_version", "examine", "measure_again", "problem_of", "storable"]
