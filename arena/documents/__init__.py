"""The documents of the arena: a frozen dataclass for each noun, such as a bot or a game, and for each query.

The store returns documents, services pass them, pages and commands show them, and the JSON interface is made from their
fields, all but the `HIDDEN` ones. Components of the OpenAPI document have the same names. Only the standard library is
imported, so that commands start fast.
"""
