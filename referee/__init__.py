"""Plays games between bots. Knows no database, no broker, no web server."""
