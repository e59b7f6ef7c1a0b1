"""The OpenAPI document is valid and complete, and schemathesis finds no response that contradicts it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, Phase, settings
from sqlalchemy import update
from sqlmodel import col

from arena.api.openapi import document
from arena.api.routes import table
from arena.credentials import digest_of
from arena.http.problem import PREFIX
from arena.store.base.tables.people import Token
from tests.arena.api.filled import Arena
from tests.conftest import EFFORT
from tests.with_features import DISABLED

# schemathesis and the validator are imported where they are needed: not everybody who collects the tests has three
# seconds for them.
if TYPE_CHECKING:
    from requests import Session
    from schemathesis import BaseSchema, Case

EXAMPLES = int(os.environ.get("ARENA_SCHEMATHESIS_EXAMPLES", EFFORT))
"""Requests by chance of each operation, beside the values of its document that are worth a try."""
FEW, SHARE = 12, 4 // EFFORT or 1
"""Of what is worth a try the first few requests and every fourth of the others are sent; before a release, all."""
ROLES = os.environ.get("ARENA_SCHEMATHESIS_ROLES", "anonymous author organiser admin").split()
"""Roles of two callers or more: the last sends every second request, the others the rest; `worker` is another one."""
OPERATIONS = [
    (PREFIX + route.path, route.method.lower()) for route in table(DISABLED) if not route.path.endswith("/stream")
]


@cache
def made() -> dict[str, Any]:
    """The document; not everybody who collects the tests has half a second for it."""
    return document(table(DISABLED))


@cache
def _with_a_body_of_another() -> set[tuple[str, str]]:
    """Return the operations whose request schema is also used by an earlier operation."""
    seen: set[str] = set()
    operations = set()
    for path, method in OPERATIONS:
        content = made()["paths"][path][method].get("requestBody", {}).get("content", {})
        for kind in content.values():
            if body := kind["schema"].get("$ref", ""):
                if body in seen:
                    operations.add((path, method))
                seen.add(body)
    return operations


REFUSALS = ["400", "401", "403", "404", "406", "413", "414", "415", "422"]


KNOWN = {
    "bot": ["greedy", "zeta"],
    "other": ["random"],
    "number": [1],
    "family": ["loa", "tablut"],
    "tournament": [1, 2],
    "user": ["other", "nobodyatall"],
    "submission_id": [1, 4],
    "side": ["first"],
}


def map_path_parameters(context: Any, path_parameters: dict[str, Any] | None) -> dict[str, Any] | None:
    """Use existing objects most of the time: random names end in 404 and test little."""
    if not path_parameters or len(str(path_parameters)) % 4 == 0:
        return path_parameters
    return {
        name: KNOWN[name][len(str(path_parameters)) % len(KNOWN[name])] if _may_be_known(name, value) else value
        for name, value in path_parameters.items()
    }


def _may_be_known(name: str, value: Any) -> bool:
    """Return whether a value conforms to the schema; deliberately invalid values stay unchanged."""
    if type(value) is not type(KNOWN.get(name, [None])[0]):
        return False
    return 0 < value < 2**31 if isinstance(value, int) else re.fullmatch(r"[a-z0-9]{1,32}", value) is not None


def _descriptions(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        for key, value in part.items():
            yield from [value] if key == "description" and isinstance(value, str) else _descriptions(value)
    for value in part if isinstance(part, list) else ():
        yield from _descriptions(value)


def test_every_description_is_a_sentence() -> None:
    texts = [text for text in _descriptions(made()) if text]
    assert len(texts) > 1000
    assert not [text for text in texts if text[0].islower() or (not text.endswith((".", ":")) and "\n" not in text)]


def test_it_is_valid() -> None:
    from openapi_spec_validator import validate

    validate(made())


@pytest.fixture(scope="module")
def promise() -> BaseSchema:
    """The OpenAPI document as a schemathesis schema."""
    import schemathesis
    from schemathesis.checks import load_all_checks

    load_all_checks()
    schema = schemathesis.openapi.from_dict(made())
    schema.config.checks.negative_data_rejection.expected_statuses = REFUSALS
    schema.hook(map_path_parameters)
    return schema


@pytest.fixture(scope="module")
def connection() -> Iterator[Session]:
    """A session kept across requests, without a proxy lookup per request."""
    import requests

    with requests.Session() as session:
        session.trust_env = False
        yield session


@pytest.fixture(scope="module")
def tokens(arena: Arena) -> dict[str, str]:
    """Tokens by role, with numbers that generated requests are unlikely to revoke."""
    secrets = {role: arena.server.person(role, role) for role in ("author", "organiser", "admin")}
    secrets["worker"] = arena.server.person("admin", "admin", scopes="worker")
    with arena.store.writing() as session:
        for secret in secrets.values():
            mine = col(Token.digest) == digest_of(secret)
            session.execute(update(Token).where(mine).values(id=col(Token.id) + 1_234_567_890))
    return secrets


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_responses_conform_to_the_document(
    path: str, method: str, promise: BaseSchema, arena: Arena, tokens: dict[str, str], connection: Session
) -> None:
    from schemathesis.generation.feedback import FeedbackSources
    from schemathesis.pytest._test_builder import build_operation_test
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    callers = [{"Authorization": f"Bearer {tokens[role]}"} if role in tokens else {} for role in ROLES]
    # The values of a document worth a try, hundreds of them, are tried once; whoever takes it too gets some by chance.
    is_known = (path, method) in _with_a_body_of_another()
    phases = [phase for phase in Phase if phase is not Phase.explicit] if is_known else list(Phase)
    numbers = count()

    @settings(
        max_examples=EXAMPLES * 5 if is_known else EXAMPLES,
        phases=phases,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    def keeps_its_word(case: Case) -> None:
        if (number := next(numbers)) >= FEW and number % SHARE:
            return
        # What a cursor, a name or a settings document means no schema can say: refusing such is not a broken promise.
        turn, is_last = divmod(crc32(f"{case.path_parameters} {case.query} {case.body}".encode()), 2)
        case.call_and_validate(
            base_url=arena.server.url,
            session=connection,
            headers=callers[-1] if is_last else callers[turn % len(callers[:-1])],
            excluded_checks=[positive_data_acceptance],
        )

    # What its plugin for pytest does, at the time of the test and not while the tests are collected.
    build_operation_test(
        config=promise.config,
        operation=promise[path][method],
        test_func=keeps_its_word,
        given_kwargs={},
        feedback=FeedbackSources(),
    )()


def test_a_family_that_is_not_there_gets_a_documented_answer(arena: Arena, tokens: dict[str, str]) -> None:
    with_family = [
        path
        for path, operations in made()["paths"].items()
        if any(
            (parameter["in"], parameter["name"]) == ("query", "family")
            for parameter in operations.get("get", {}).get("parameters", [])
        )
    ]
    assert f"{PREFIX}/opponents" in with_family
    for path in with_family:
        status = arena.server.get(path + "?family=nonesuch", token=tokens["admin"]).status
        assert str(status) in made()["paths"][path]["get"]["responses"], path
    wish = {"family": "nonesuch", "bot": "greedy", "side": "first"}
    answer = arena.server.post(f"{PREFIX}/play", body=wish, token=tokens["admin"])
    assert answer.status == 404
    assert "404" in made()["paths"][f"{PREFIX}/play"]["post"]["responses"]


def test_generated_requests_leave_all_roles_active(arena: Arena, tokens: dict[str, str]) -> None:
    for person in ("author", "organiser", "admin"):
        assert arena.server.get(f"{PREFIX}/account", token=tokens[person]).status == 200
    assert arena.server.get("/readyz").status == 200
