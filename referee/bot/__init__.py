"""One bot of a game: its command, its process in the sandbox, the wire protocol, and the same for people and remote
bots.

A bot fails in one way only, with a `BotError` that names how the game ends.
"""
