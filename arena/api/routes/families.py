"""Families: what can be played."""

from __future__ import annotations

from arena.api.page import Page
from arena.api.registry import Routes
from arena.api.schemas import FamilyDocument, FamilyItem, FamilyName, OptionDocument, VariantDocument
from arena.http.call import Call
from arena.http.problem import not_found
from referee.rules import families, load
from referee.rules.rules import Rules

routes = Routes()


def checked(family: str) -> Rules:
    """The rules of a family. Raises Problem (404) with the nearest names."""
    if family not in families():
        raise not_found("family", family, families())
    return load(family)


@routes.get("/families", tag="families", summary="All families of games", example="/api/v1/families")
async def page(call: Call) -> Page[FamilyItem]:
    """All families of games."""
    items = [await call.run(load, name) for name in families()]
    return Page(items=[FamilyItem.model_validate(rules) for rules in items])


@routes.get("/families/{family}", tag="families", summary="A family", example="/api/v1/families/loa")
async def show(call: Call, family: FamilyName) -> FamilyDocument:
    """A family with its variants and rule options, and what they change."""
    rules = await call.run(checked, family)
    return FamilyDocument(
        family=rules.family,
        title=rules.title,
        summary=rules.summary,
        version=rules.version,
        sides=list(rules.sides),
        variants=[
            VariantDocument(name=one.name, position=one.position, options=dict(one.options), note=one.note)
            for one in rules.variants
        ],
        options=[
            OptionDocument(
                name=one.name,
                type=one.type,
                default=one.default,
                values=list(one.names()),
                changes=one.changes,
                meaning=one.meaning,
            )
            for one in rules.options
        ],
    )
