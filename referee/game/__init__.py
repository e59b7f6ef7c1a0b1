"""A game as plain data: specification, record, clock, history and openings.

Plain values and pure functions: nothing here starts a process, reads a clock of the machine or speaks to a bot.
"""
