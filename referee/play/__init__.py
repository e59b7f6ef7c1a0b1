"""Plays games: the loop of one game, its players, the slot process that runs loops, and the dispatch of many games.

A failure of a bot loses its game; a failure of the machine makes the game void, and it is played again.
"""
