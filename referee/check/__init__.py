"""Checks a bot before it plays: handshake, negotiation, answers, speed and memory, with the cause of each failure."""
