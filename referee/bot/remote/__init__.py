"""Bots that run on their authors' machines: their seat in a game, and its link to the lobby that they connect to."""
