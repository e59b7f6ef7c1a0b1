"""Access to the data of an arena: the data folder of this machine, or a server."""
