"""Cells carry their headings, so that tables collapse on phones."""

from __future__ import annotations

from arena.pages.html_table import label_cells

TABLE = (
    '<div class="wide" tabindex="0"><table><caption>x</caption><thead><tr><th scope="col"><a href="?a">Name</a> ↓</th>'
    '<th class="n">P &quot;better&quot;</th></tr></thead><tbody>'
    '<tr><th scope="row">ada</th><td class="n">1</td></tr><tr><td>bob</td><td>2</td><td>more</td></tr></tbody>'
    "</table></div>"
)


def test_every_cell_of_a_body_is_labelled() -> None:
    found = label_cells(TABLE)
    assert '<th data-label="Name" scope="row">ada</th><td data-label="P &quot;better&quot;" class="n">1</td>' in found
    assert '<td data-label="Name">bob</td>' in found
    assert '<td data-label="">more</td>' in found
    assert found.partition("</thead>")[0] == TABLE.partition("</thead>")[0]


def test_an_empty_cell_has_no_label() -> None:
    found = label_cells(TABLE.replace("<td>2</td>", '<td class="n">\n</td>'))
    assert '<td class="n">\n</td>' in found
    assert '<td data-label="Name">bob</td><td class="n">' in found
    assert '<td data-label="">more</td>' in found


def test_crosstables_and_other_tables_stay() -> None:
    cross = TABLE.replace("<table>", '<table class="cross stick">')
    bare = TABLE.replace('class="wide" ', "")
    assert label_cells(cross) == cross
    assert label_cells(bare) == bare
    assert label_cells(cross + TABLE) == cross + label_cells(TABLE)
