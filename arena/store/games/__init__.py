"""Finished games: the one transaction that commits results, their records, and how results are voided or undone.

A result is committed exactly once by game id, under the lease of the coordinator.
"""
