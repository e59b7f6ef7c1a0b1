"""What a Python bot is made of: write `choose` in a subclass of `Bot`, and `run` speaks the protocol."""

from bots.sdk.bot import Bot, Clock, OptionDecl, families, run

__all__ = ["Bot", "Clock", "OptionDecl", "families", "run"]
