"""Tournaments, their entries and schedules, the queue of games to play and games against people."""
