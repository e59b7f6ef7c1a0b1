"""The players of a game: bots that run in a sandbox and speak the wire protocol, people, and remote bots.

Every player fails in one way only, with a `BotError` that says how the game ends.
"""
