"""A game as plain data: specification, record, clock, history and openings.

Nothing here starts a process, measures time or speaks to a bot.
"""
