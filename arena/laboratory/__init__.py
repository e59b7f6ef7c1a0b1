"""The laboratory: tune options of bots by games, label positions by self-play, fit evaluations to the labels.

It plans games and evaluates their results; its callers pass executors that play them.
"""
