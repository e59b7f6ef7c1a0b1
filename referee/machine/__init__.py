"""The machine that plays: helper processes, the pool of slots, compilation ahead of time, speed, and the folder of a
run.

Every process started here ends with the process that started it.
"""
