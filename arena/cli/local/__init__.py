"""Commands that play and analyse on this machine; they need no server, and a database only to look up games."""
