"""The atlas: how fair the starts of a family are, measured by self-play of a sample bot.

plan       which starts, how many games at which strengths
run        plays them; it can be resumed, and writes the same bytes on any machine
report     evaluates them: advantages with intervals, shrunk towards the family's mean, symmetric starts pooled
published  the atlases shipped with the program, for pages, tournaments and books
"""
