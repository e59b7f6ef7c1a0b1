"""Tablut: attackers ring the king in, defenders run him to the border."""

from referee.rules.tablut.rules import RULES

__all__ = ["RULES"]
