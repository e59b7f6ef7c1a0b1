"""Bots that run on their authors' machines: their seats in games, and the link from a seat to the lobby.

The bots connect to the lobby, which passes lines between them and their seats.
"""
