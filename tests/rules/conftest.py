"""The Hypothesis profile of the tests of the rules: the same examples each time, or more with ARENA_TEST_EFFORT."""

from hypothesis import HealthCheck, settings

from tests.conftest import EFFORT

settings.register_profile(
    "rules",
    max_examples=25 * EFFORT,
    deadline=None,
    derandomize=EFFORT == 1,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("rules")
