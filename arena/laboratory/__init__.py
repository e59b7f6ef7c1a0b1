"""The laboratory: tune options of bots by games, label positions by self-play, fit evaluations to them.

It plans games and evaluates their results; executors of its callers play them.
"""
