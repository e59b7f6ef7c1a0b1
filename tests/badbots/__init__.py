"""Programs that misbehave, the verdicts they must get, and the games that prove it."""
