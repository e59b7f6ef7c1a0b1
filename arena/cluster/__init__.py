"""Executes games: the job that plays games on any machine, the spool of results, and the Dask executor with its
workers.

The only package that imports `distributed`. It handles games and records, and never uses the database.
"""
