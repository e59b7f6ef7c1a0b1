"""Bots, their immutable versions, checks of submissions, sample bots and connected remote bots."""
