"""Events of the arena: their types, the bus inside a process, and the same bus over an MQTT broker.

Events are hints; the database is the truth. Losing every event loses no result.
"""
