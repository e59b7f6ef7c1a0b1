"""Plays games: the loop of one game, its players, the slot process that runs loops, and the dispatch of many games.

A fault of a bot loses its game; a fault of the machine voids the game and it is played again.
"""
