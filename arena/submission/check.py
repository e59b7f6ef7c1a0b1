"""Checks an uploaded version in the sandbox; the verdict is the families and variants it is fit for, or why none.

Every family it claims must hold: handshake, timekeeping, quitting, and legal moves wherever it announces a variant. A
variant that it does not announce is no fault; it is not entered for it. Refuses to know uploads and tournaments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from arena.store import ConflictError, Store
from arena.store.models import Version
from arena.submission.bundle_store import BundleError, BundleStore
from protocol.capabilities import Capabilities
from protocol.negotiation import Ineligible
from referee.bot import Bot
from referee.check import check
from referee.check_report import CheckReport
from referee.failure import BotError
from referee.negotiate import negotiate
from referee.rules import load
from referee.rules.rules import Rules, Ruleset
from referee.sandbox import Sandbox
from referee.spec import BotSpec, Limits

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
        report, fit = examine(spec, load(family), sandbox, on_step=on_step)
        problem = problem_of(report, fit)
        if not problem:
            for step in report.steps:  # a variant it does not announce is no fault of a bot that is fit for others
                step.needed = step.needed and (step.passed or not step.name.startswith("announces "))
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
        capabilities={family: _clean(each.as_json()) for family, each in found.items()},
        log=_plain("\n".join(logs))[-64 * 1024 :],
        problem=_plain("; ".join(problems))[:2000],
    )


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
    spec: BotSpec, rules: Rules, sandbox: Sandbox, *, on_step: Callable[[str], None] = lambda line: None
) -> tuple[CheckReport, list[str]]:
    """The report on one family, and the variants the bot is fit for.

    Moves are tried in one variant of each kind of rules; variants that differ from it in the start only need its word.
    """
    kinds: dict[Any, list[Ruleset]] = {}
    for variant in rules.variants:
        ruleset = rules.settle(variant.name)
        kind = (ruleset.variant.params, tuple(sorted(ruleset.changed(("moves", "result", "limits")).items())))
        kinds.setdefault(kind, []).append(ruleset)
    samples = [rulesets[0] for rulesets in kinds.values()]
    report = check(
        spec, samples, sandbox, on_step=lambda step: on_step(f"{rules.family}: {step.name}: {_verdict(step.passed)}")
    )
    passed = {step.name for step in report.steps if step.passed}
    tried = {ruleset.variant.name: _steps(ruleset) <= passed for ruleset in samples}
    others = [ruleset for rulesets in kinds.values() if tried[rulesets[0].variant.name] for ruleset in rulesets[1:]]
    fit = {name for name, is_fit in tried.items() if is_fit} | set(_announced(spec, others, sandbox))
    return report, [variant.name for variant in rules.variants if variant.name in fit]


def problem_of(report: CheckReport, fit: list[str]) -> str:
    """Why the bot cannot play the family, in one sentence; empty when it can."""
    missed = [step for step in report.steps if step.needed and not step.passed]
    announced = [step for step in report.steps if step.name.startswith("announces ")]
    if not any(step.passed for step in announced):
        missed = announced[:1] or missed  # what follows from that tells nothing new
    elif not fit or any(not step.name.startswith("announces ") for step in missed):
        missed = [step for step in missed if step not in announced] or missed
    else:
        return ""
    return f"{missed[0].name}: {missed[0].detail}" if missed else "nothing could be tried"


def _steps(ruleset: Ruleset) -> set[str]:
    """The names of the steps that decide a variant (see `referee.check`)."""
    variant = ruleset.variant.name
    return {f"announces {ruleset.rules.family} {variant}", f"legal moves in {variant}"}


def _announced(spec: BotSpec, rulesets: list[Ruleset], sandbox: Sandbox) -> list[str]:
    """The variants among these for which the bot has announced what they demand."""
    if not rulesets:
        return []
    bot = Bot(spec, Limits(), sandbox)
    try:
        bot.start()
        bot.handshake()
        return [each.variant.name for each in rulesets if not isinstance(negotiate(bot, each), Ineligible)]
    except BotError:
        bot.process.is_sound = False
        return []
    finally:
        bot.close()


def _short(report: CheckReport) -> dict[str, Any]:
    """The report as JSON, the middle of long exchanges left out."""
    data = report.as_json()
    for step in data["steps"]:
        lines = [_plain(line)[:_LINE] for line in step["lines"]]
        if len(lines) > 2 * _LINES:
            lines = [*lines[:_LINES], f"… {len(lines) - 2 * _LINES} lines …", *lines[-_LINES:]]
        step["lines"] = lines
        step["detail"] = _plain(step["detail"])[:1000]
    data["log"] = ""
    data["name"], data["author"] = _plain(data["name"])[:80], _plain(data["author"])[:80]
    data.pop("capabilities")
    return data


def _plain(text: str) -> str:
    """Text as every database holds it."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _verdict(is_passed: bool) -> str:
    return "ok" if is_passed else "no"


def _clean(data: Mapping[str, Any]) -> dict[str, Any]:
    """JSON data with such texts only."""
    return {key: _cleaned(value) for key, value in data.items()}


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return _plain(value)
    return [_cleaned(each) for each in value] if isinstance(value, list) else value


__all__ = ["BundleError", "check_version", "examine", "problem_of", "spec_of"]
