"""Names in any language and spelling: accepted ones, and suggestions for typos."""

from __future__ import annotations

import pytest

from referee.rules import families, family_named, load
from referee.rules.core import UnknownNameError
from referee.rules.names import distance, fold, nearest, words

KNOWN = ("standard", "belgian-daisy", "german-daisy", "irish-daisy", "star", "bell_a1", "bell_a1_strict")
OTHERS = {"irish-daisy": ("Marguerite irlandaise",), "german-daisy": ("Marguerite allemande",)}


def test_case_accents_and_hyphens_do_not_matter():
    assert words("Étoile de Noël") == ("etoile", "de", "noel")
    assert fold("Œufs brouillés") == fold("oeufs-BROUILLES") == "oeufsbrouilles"
    assert fold("bell_a1") == "bella1"


@pytest.mark.parametrize(
    ("one", "other", "slips"),
    [("lao", "loa", 1), ("prft", "perft", 1), ("", "ab", 2), ("same", "same", 0), ("phyton", "python", 2)],
)
def test_distance(one, other, slips):
    assert distance(one, other) == distance(other, one) == slips


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("Marguerite irlandais", ("irish-daisy",)),
        ("irihs daisy", ("irish-daisy",)),
        ("irishdaisy", ("irish-daisy",)),
        ("irish", ("irish-daisy",)),
        ("standart", ("standard",)),
        ("strict", ("bell_a1_strict",)),
        ("Marguerite", ("german-daisy", "irish-daisy")),
        ("Marguerite italienne", ()),
        ("polish-daisy", ()),
        ("bell_a2", ()),
        ("st", ()),
        ("", ()),
        ("x" * 1000, ()),
    ],
)
def test_suggestions_exclude_distant_names(typed, meant):
    assert nearest(typed, KNOWN, OTHERS) == meant


def test_part_of_many_names_suggests_none():
    assert nearest("daisy", ("irish-daisy", "dutch-daisy", "swiss-daisy", "true-daisy")) == ()


@pytest.mark.parametrize("family", families())
def test_every_listed_name_is_accepted(family):
    rules = load(family)
    assert load(fold(rules.title)) is rules
    for name in rules.words.family:
        assert family_named(name.upper()) == family
    names = {}
    for variant in rules.variants:
        for name in (variant.name, *rules.words.variants.get(variant.name, ())):
            assert names.setdefault(fold(name), variant.name) == variant.name, "one name for two variants"
            for typed in (name, name.upper(), fold(name), f" {name.replace('-', ' ')} "):
                assert rules.settle(typed).variant == rules.variant(variant.name), typed
    assert set(rules.words.variants) <= {variant.name for variant in rules.variants}


def test_names_with_numbers():
    assert load("pijersi").variant("PIJERSI 24#17").name == "pijersi-24#17"
    assert load("baroque").variant("Aléatoire symétrique#5").name == "random-symmetric#5"


def test_a_start_depends_on_options_under_every_name():
    found = load("tablut").settle("Règle de base", {"first_player": "defenders"})
    assert found.variant.position.endswith(" d 0 0")


def test_an_unknown_variant_names_the_near_one_in_the_language_typed():
    with pytest.raises(UnknownNameError) as caught:
        load("abalone").variant("Marguerite irlandai")
    assert caught.value.near == ("irish-daisy",)
