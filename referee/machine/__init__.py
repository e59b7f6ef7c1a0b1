"""The machine that plays games: helper processes, the pool of slots, compilation ahead of time, and run folders.

Every process started here ends when the process that started it ends.
"""
