"""Ratings, standings and statistical tests of game results. Pure arithmetic, no I/O."""
