"""SDK for bots in Python: write `choose` in a subclass of `Bot`; `run` speaks the protocol."""

from bots.sdk.bot import Bot, Clock, OptionDecl, families, run

__all__ = ["Bot", "Clock", "OptionDecl", "families", "run"]
