"""The document is valid, complete, and true: schemathesis asks the server everything it promises."""

from __future__ import annotations

import os
import re
from typing import Any

import schemathesis
from hypothesis import HealthCheck, settings
from openapi_spec_validator import validate
from schemathesis.specs.openapi.checks import positive_data_acceptance

from arena.api.openapi import document
from arena.api.routes import TABLE
from arena.http.address import PREFIX, VERSION
from tests.arena.api.filled import Arena

DOCUMENT = document(TABLE, VERSION)
EXAMPLES = int(os.environ.get("ARENA_SCHEMATHESIS_EXAMPLES", "8"))
STREAMS = r"/stream$"

schema = schemathesis.openapi.from_dict(DOCUMENT).exclude(path_regex=STREAMS)
schema.config.checks.negative_data_rejection.expected_statuses = [
    "400",
    "401",
    "403",
    "404",
    "406",
    "413",
    "415",
    "422",
]


KNOWN = {
    "bot": ["greedy", "zeta"],
    "other": ["random"],
    "number": [1],
    "family": ["loa", "tablut"],
    "tournament": [1, 2],
    "user": ["author", "nobodyatall"],
    "submission_id": [1, 4],
    "side": ["first"],
}


@schema.hook
def map_path_parameters(context: Any, path_parameters: dict[str, Any] | None) -> dict[str, Any] | None:
    """Things that are there, most of the time: random names find nothing, and test little."""
    if not path_parameters or len(str(path_parameters)) % 4 == 0:
        return path_parameters
    return {
        name: KNOWN[name][len(str(path_parameters)) % len(KNOWN[name])] if _may_be_known(name, value) else value
        for name, value in path_parameters.items()
    }


def _may_be_known(name: str, value: Any) -> bool:
    """Whether a value keeps to the document: those that do not on purpose stay as they are."""
    if type(value) is not type(KNOWN.get(name, [None])[0]):
        return False
    return 0 < value < 2**31 if isinstance(value, int) else re.fullmatch(r"[a-z0-9]{1,32}", value) is not None


def test_it_is_valid() -> None:
    validate(DOCUMENT)


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_the_server_keeps_its_word(case: schemathesis.Case, arena: Arena) -> None:
    headers = {"Authorization": f"Bearer {arena.tokens['admin']}"}
    # What a cursor, a name or a settings document means no schema can say: refusing such is not a broken promise.
    case.call_and_validate(base_url=arena.server.url, headers=headers, excluded_checks=[positive_data_acceptance])


def test_nobody_was_locked_out(arena: Arena) -> None:
    for person in ("author", "organiser", "admin"):
        assert arena.server.get(f"{PREFIX}/account", token=arena.tokens[person]).status == 200
    assert arena.server.get("/readyz").status == 200
