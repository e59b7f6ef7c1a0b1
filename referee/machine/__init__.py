"""The machine that plays: helper processes, compilation ahead of time, its speed, and the folder of a run.

Every process that is started here ends with the process that started it.
"""
