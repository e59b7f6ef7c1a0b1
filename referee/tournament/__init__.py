"""The tournament, pure: settings document, formats, plan of games, standings, crosstable, preview.

No database, no network, no clock: every function takes the document, the seeds and the games, and repeated calls give
the same result.
"""
