"""The pages of the arena, one module per noun: read the store, fill a template."""
