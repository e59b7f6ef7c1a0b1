"""The one process that plans, dispatches, records and rates games.

Only the owner of the lease writes, and every write is fenced by it. All state is in the database, so that a standby can
take over at any moment.
"""
