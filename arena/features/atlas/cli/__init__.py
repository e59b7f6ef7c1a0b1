"""The commands of the atlas."""
