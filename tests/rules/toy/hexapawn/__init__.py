"""Hexapawn: the smallest family, to show that a family is one folder and nothing else."""

from .rules import RULES

__all__ = ["RULES"]
