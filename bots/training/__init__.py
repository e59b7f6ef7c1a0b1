"""Fit the evaluation of the champion: make positions by self-play, fit weights to them, measure the result."""
