"""The drill: a whole arena under a seeded sequence of faults while a tournament runs, and what is checked afterwards.

`python -m tests.e2e.drill --help` says how. Everything it starts is its own: temporary folders, free ports, and (as
root) a mount namespace and a network of its own, all gone afterwards.
"""
