"""Commands that play, analyse and train on this machine; they need no server, and a database only to look up games."""
