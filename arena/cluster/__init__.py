"""Games on many machines, by Dask: the executor of the arena, its workers, their scheduler.

The only package that imports `distributed`. Refuses to know databases, schedules and what becomes of a record.
"""
