"""Commands that read and change an arena: a server's through its JSON interface, or the one of a data folder."""
