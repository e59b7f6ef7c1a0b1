"""Where an arena's data comes from: the data folder of this machine, or a server."""
