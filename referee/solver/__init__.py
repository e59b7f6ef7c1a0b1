"""Proves whether a side wins in a number of moves, in any family, from a position without earlier moves.

A proof holds under all rules of the game, repetition and limits included; `referee.solver.proof` explains how.
"""
