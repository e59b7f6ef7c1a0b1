"""The files of a new family package, which `arena rules new` copies under another name. They must stay a complete,
playable family that passes its own tests.
"""
