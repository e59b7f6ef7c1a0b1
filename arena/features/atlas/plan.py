"""The plan of an atlas, read from TOML: which starts of a family, how many games of each at which strengths.

family = "NAME"
starts = ["standard", "numbered#0..8099"]       # names of variants, ranges of numbered ones, "*" for all listed
games = 20                                      # for each start and strength
nodes = [300, 1000, 3000]                        # strengths: nodes searched for each move
random_plies = 2                                # random plies before the engine plays
max_plies = 400                                 # longer games are drawn
seed = 1

[[more]]                                        # starts with rule options
variants = ["bell"]
options = {king_max_step = 4}
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from referee.errors import ArenaError
from referee.rules import load
from referee.rules.core import value_text
from referee.rules.rules import Ruleset, Value
from referee.rules.symmetry import key_of
from referee.toml import read

MAX_STARTS = 50_000
_RANGE = re.compile(r"(.+#)(\d{1,6})\.\.(\d{1,6})")


class PlanError(ArenaError):
    """An invalid plan; the message says what to change."""

    kind = "invalid"


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ExtraStarts(_Document):
    """Variants to play with rule options that are set in addition to each variant's own options."""

    variants: Annotated[list[str], Field(min_length=1)]
    options: dict[str, Any]


class AtlasPlan(_Document):
    family: str
    starts: list[str] = []
    more: list[ExtraStarts] = []
    games: Annotated[int, Field(ge=1, le=10_000)] = 20
    nodes: Annotated[list[Annotated[int, Field(ge=1, le=10_000_000)]], Field(min_length=1, max_length=8)]
    random_plies: Annotated[int, Field(ge=0, le=20)] = 2
    max_plies: Annotated[int, Field(ge=1, le=4000)] = 400
    seed: Annotated[int, Field(ge=0, le=2**31)] = 0

    @property
    def digest(self) -> str:
        """SHA-256 of the plan."""
        return sha256(self.model_dump_json().encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Start:
    """One start: a variant with options; `name` has both. Starts that are images of each other under the symmetries of
    the rules, with the same rules, have the same `key`.
    """

    name: str
    variant: str
    options: Mapping[str, Value]
    key: str


def read_plan(text: str) -> AtlasPlan:
    """Parse a plan. Raises PlanError."""
    try:
        return AtlasPlan.model_validate(read(text))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise PlanError(f"{where}: {first['msg']}", hint="see the plans in arena/features/atlas/plans") from None
    except ValueError as error:
        raise PlanError(f"not TOML: {error}", hint="see the plans in arena/features/atlas/plans") from None


def starts_of(plan: AtlasPlan) -> list[Start]:
    """List all starts of a plan, each once, in the plan's order. Raises PlanError."""
    by_name: dict[str, Start] = {}
    try:
        rules = load(plan.family)
        for names, options in ((plan.starts, {}), *((more.variants, more.options) for more in plan.more)):
            for name in _names(plan, names):
                start = _start(rules.settle(name, options))
                by_name.setdefault(start.name, start)
                if len(by_name) > MAX_STARTS:
                    raise PlanError(f"more than {MAX_STARTS:,} starts", hint="split the plan")
    except ValueError as error:
        raise PlanError(
            str(error), hint="use the names that `arena rules list` shows; write numbered starts as NAME#0..23"
        ) from None
    if not by_name:
        raise PlanError("the plan has no starts", hint='write starts = ["*"] for all listed variants')
    return list(by_name.values())


def _names(plan: AtlasPlan, written: list[str]) -> Iterator[str]:
    for name in written:
        if name == "*":
            yield from (one.name for one in load(plan.family).variants if not one.is_dealt)
        elif found := _RANGE.fullmatch(name):
            yield from (f"{found[1]}{number}" for number in range(int(found[2]), int(found[3]) + 1))
        else:
            yield name


def _start(ruleset: Ruleset) -> Start:
    if ruleset.variant.is_dealt:
        raise PlanError(f"the start of {ruleset.variant.name} is random in every game", hint="list numbered starts")
    options = dict(ruleset.overrides)
    name = "+".join([ruleset.variant.name, *(f"{key}={value_text(value)}" for key, value in sorted(options.items()))])
    rules = " ".join(f"{key}={value}" for key, value in sorted(ruleset.values.items()))
    digest = sha256(f"{rules} {key_of(ruleset, ruleset.read())}".encode()).hexdigest()[:12]
    return Start(name, ruleset.variant.name, options, digest)
