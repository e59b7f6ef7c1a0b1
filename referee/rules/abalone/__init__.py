"""Abalone: push six of the other side's marbles off a board of 61 cells."""

from referee.rules.abalone.rules import RULES

__all__ = ["RULES"]
