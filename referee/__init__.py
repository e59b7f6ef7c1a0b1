"""Plays games between bots, without database, broker or web server."""
