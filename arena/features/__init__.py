"""Features: optional parts of the service, each like a small application on the seam `arena.feature`. The core never
imports them, and they never import each other.
"""
