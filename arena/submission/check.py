"""Checks an uploaded version in the sandbox; the verdict is the families and variants it is fit for, or why none.

Every family it claims must hold: handshake, timekeeping, quitting, and legal moves wherever it announces a variant. A
variant that it does not announce is no fault; it is not entered for it. Refuses to know uploads and tournaments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from arena.store import ConflictError, Store
from arena.store.base.models import Version
from arena.submission.bundle_store import BundleError, BundleStore
from arena.submission.manifest import FILE
from protocol.capabilities import Capabilities
from protocol.negotiation import Ineligible
from referee.check.check import check
from referee.check.report import CheckReport
from referee.game.spec import BotSpec
from referee.play.negotiation import negotiate_options
from referee.rules import load
from referee.rules.rules import Rules, Ruleset
from referee.sandbox import Sandbox

MOVE_MS = "move_ms"
"""The limit by which an author says how long his bot thinks about a move."""
_LACKS = re.compile(
    r"ModuleNotFoundError|ImportError|FileNotFoundError|No such file|cannot open|[Cc]an(?:not|'t) (?:find|locate|load)"
)
"""What programs write when a file is not there that they need."""
_ALONE = "it was sent as a single file: if it needs the files beside it, send its folder, with a bot.toml"
_LINES, _LINE = 12, 200
"""How many lines of a step are kept at each end, and how much of a line."""


def check_version(
    store: Store,
    bundles: BundleStore,
    version_id: int,
    sandbox: Sandbox,
    on_step: Callable[[str], None] = lambda line: None,
) -> Version:
    """Check a version that was claimed for it (state `checking`) and store the verdict; the version as it is now.

    `on_step` is told what is being done. Raises ConflictError when the version is not to be checked, BundleError and
    StoreUnavailableError when it cannot be checked now: it then stays `checking` and can be given back.
    """
    version = store.versions.get(version_id)
    if version.state != "checking":
        raise ConflictError(f"{version.name} is {version.state}, not checking", version.state)
    reports: dict[str, dict[str, Any]] = {}
    variants: dict[str, list[str]] = {}
    found: dict[str, Capabilities] = {}
    problems: list[str] = []
    logs: list[str] = []
    for family in store.versions.families(version_id):
        spec = bundles.resolve(spec_of(version, family))
        report, fit = examine(spec, load(family), sandbox, move_ms=version.limits.get(MOVE_MS, 0), on_step=on_step)
        problem = problem_of(report)
        if problem and _LACKS.search(report.log) and _is_alone(spec):
            problem += f"; {_ALONE}"
        reports[family] = {**_short(report), "problem": problem}
        variants[family] = [] if problem else fit
        found[family] = report.capabilities
        if problem:
            problems.append(f"{family}: {problem}")
        if report.log:
            logs.append(f"--- {family}\n{report.log}")
    if not reports:
        problems.append("it claims no family")
    return store.checks.conclude(
        version_id,
        report={"sandbox": sandbox.name, "families": reports},
        variants=variants,
        capabilities={family: storable(each.as_json()) for family, each in found.items()},
        log=_plain("\n".join(logs))[-64 * 1024 :],
        problem=_plain("; ".join(problems))[:2000],
    )


def _is_alone(spec: BotSpec) -> bool:
    """Whether a bundle holds one file, beside a bot.toml."""
    files = [path for path in Path(spec.folder or "").rglob("*") if path.is_file() and path.name != FILE]
    return bool(spec.folder) and len(files) == 1


def spec_of(version: Version, family: str) -> BotSpec:
    """A version as a bot of a game, the same on every machine: its bundle is not a folder yet."""
    return BotSpec(
        name=version.name,
        command=tuple(word.replace("{family}", family) for word in version.command),
        version=version.bundle,
        capabilities=version.capabilities.get(family, {}),
        options=tuple(sorted(version.options.items())),
        bundle=version.bundle,
    )


def examine(
    spec: BotSpec,
    rules: Rules,
    sandbox: Sandbox,
    *,
    move_ms: int = 0,
    on_step: Callable[[str], None] = lambda line: None,
) -> tuple[CheckReport, list[str]]:
    """The report on one family, and the variants the bot is fit for.

    Moves are tried in one variant of each kind of rules; variants that differ from it in the start only need its word.
    `move_ms`: the time for a move its author asks for; 0 = the shortest it keeps is found.
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
        on_step=lambda step: on_step(f"{rules.family}: {step.name}: {_verdict(step.passed)}"),
        move_ms=move_ms,
    )
    if not report.is_fit:
        return report, []
    fit = set(report.variants)
    others = [each for rulesets in kinds.values() if rulesets[0].variant.name in fit for each in rulesets[1:]]
    fit.update(each.variant.name for each in others if _can_play(report.capabilities, each))
    return report, [variant.name for variant in rules.variants if variant.name in fit]


def problem_of(report: CheckReport) -> str:
    """Why the bot cannot play the family, in one sentence; empty when it can."""
    fault = report.fault
    if fault is None:
        return "" if report.steps else "nothing could be tried"
    return f"{fault.name}: {fault.detail}"


def _can_play(found: Capabilities, ruleset: Ruleset) -> bool:
    """Whether the bot has announced what these rules demand."""
    plan = negotiate_options(found.option_map, found.families, ruleset, startpos_only=found.startpos_only)
    return not isinstance(plan, Ineligible)


def _short(report: CheckReport) -> dict[str, Any]:
    """The report as JSON, the middle of long exchanges left out."""
    data = report.as_json()
    for step in data["steps"]:
        lines = [_plain(line)[:_LINE] for line in step["lines"]]
        if len(lines) > 2 * _LINES:
            lines = [*lines[:_LINES], f"… {len(lines) - 2 * _LINES} lines …", *lines[-_LINES:]]
        step["lines"] = lines
        step["detail"] = _plain(step["detail"])[:1000]
        step.pop("said")  # the log is its author's alone
    data["log"] = ""
    data["name"], data["author"] = _plain(data["name"])[:80], _plain(data["author"])[:80]
    data.pop("capabilities")
    return data


def _plain(text: str) -> str:
    """Text as every database holds it."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _verdict(is_passed: bool) -> str:
    return "ok" if is_passed else "no"


def storable(data: Mapping[str, Any]) -> dict[str, Any]:
    """JSON data with texts as every database holds them."""
    return {key: _cleaned(value) for key, value in data.items()}


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return _plain(value)
    return [_cleaned(each) for each in value] if isinstance(value, list) else value


__all__ = ["BundleError", "check_version", "examine", "problem_of", "spec_of", "storable"]
