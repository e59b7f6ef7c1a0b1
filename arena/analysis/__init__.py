"""An engine's view of games: what each position was worth, and which moves lost much.

curve           scores as winning chances, by a curve fitted for each family
marking         the pure part: scored positions in, losses and marks out
engine           a bot that is asked about the positions of one game
fit             the curve of a family from scores and results
work            a whole game: asked, marked, packed
"""
