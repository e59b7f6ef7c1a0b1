"""The document is valid, complete, and true: schemathesis asks the server everything it promises."""

from __future__ import annotations

import os

import schemathesis
from hypothesis import HealthCheck, settings
from openapi_spec_validator import validate
from schemathesis.specs.openapi.checks import positive_data_acceptance

from arena.api.openapi import document
from arena.api.routes import TABLE
from arena.api.routes.house import VERSION
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
