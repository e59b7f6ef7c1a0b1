"""Proves whether a side wins within a number of moves, in any family, from a position without earlier moves.

A proof respects all rules of the game, those about repetition and limits included; `proof_search` explains how.
"""
