"""The players of a game: bots in the sandbox behind the wire protocol, people, and remote bots.

Every player fails in one way only, with a `BotError` that names how the game ends.
"""
