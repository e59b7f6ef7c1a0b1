"""Commands that read and change an arena: that of a server, through its JSON interface, or that of a data folder."""
