"""What a game is: its specification, its record, its clock, its history and how openings are drawn.

Plain values and pure functions: nothing here starts a process, reads a clock of the machine or speaks to a bot.
"""
