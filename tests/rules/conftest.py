"""The Hypothesis profile of the tests of the rules: few examples, the same ones every time, no deadline.

`HYPOTHESIS_PROFILE=deep` runs more examples, at random.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "rules", max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("deep", max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "rules"))
