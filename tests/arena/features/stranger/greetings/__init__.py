"""A guest book: people greet an arena, on a page, as JSON and from the command line."""

from arena.feature import Command, Feature, Place

FEATURE = Feature(
    name="greetings",
    title="A guest book",
    commands=(Command("greet", "greet an arena", ("arena greet hello",), "server", "greetings.greet"),),
    places=(Place("menu", "/greetings", "Greetings"),),
    tables="greetings.tables",
    revisions="greetings.revisions",
    api=("greetings.api",),
    pages=("greetings.pages",),
    card="greetings.pages:card",
)
