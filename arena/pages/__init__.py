"""The pages of the arena, rendered on the server. They call use cases and work without scripts; the JSON interface is
their sibling, and neither imports the other.
"""
