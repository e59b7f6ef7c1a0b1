"""News of the arena: typed events, the bus inside a process, and the same bus over a broker."""
