"""The pages of the arena, rendered on the server."""
