"""Othello: more discs at the end win."""

from .rules import RULES

__all__ = ["RULES"]
