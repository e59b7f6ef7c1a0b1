"""Checks a bot before it is admitted: handshake, negotiation, answers, speed and memory, with the cause of each
failure.
"""
