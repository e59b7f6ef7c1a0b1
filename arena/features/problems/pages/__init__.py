"""The pages of the problems."""
