"""The commands of the problems."""
