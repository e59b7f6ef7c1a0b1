"""Tablut: attackers ring the king in, defenders run him to the border. Refuses to know how moves are computed."""

from referee.rules.tablut.rules import RULES

__all__ = ["RULES"]
