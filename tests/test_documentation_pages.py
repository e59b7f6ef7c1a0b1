"""Pages of the documentation site: both languages, diagrams played by the rules, the diagram of the packages, links."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.util.docutils import docutils_namespace

from arena.cli.terminal.parser import build
from docs.extensions import architecture
from docs.extensions.languages import other_page
from tests.with_features import commands_off

ROOT = Path(__file__).parents[1]
SITE = ROOT / "arena" / "documentation"
PLAYERS = sorted(path.relative_to(ROOT / "docs") for path in (ROOT / "docs" / "players").rglob("*.md"))


def build_site(folder: Path, page: str) -> str:
    """Build a site of one page with the diagrams and return its HTML; raise a warning as an error."""
    (folder / "index.md").write_text(page, encoding="utf-8")
    settings = {
        "extensions": ["myst_parser", "docs.extensions.diagrams"],
        "myst_enable_extensions": ["colon_fence"],
        "language": "en",
    }
    places = (folder, None, folder / "out", folder / "trees")
    with docutils_namespace():
        app = Sphinx(*places, "html", settings, status=None, warning=None, exception_on_warning=True)
        app.build()
    return (folder / "out" / "index.html").read_text(encoding="utf-8")


def diagram(*options: str) -> str:
    return "\n".join(["# Page", "", ":::{board} loa", *options, "", "Caption", ":::", ""])


def test_diagram_shows_the_position_after_its_moves(tmp_path: Path) -> None:
    page = build_site(tmp_path, diagram(":moves: b1b3 h4f2", ":next: d1a4"))
    assert 'aria-label="Position 1bbbbbb1/w6w/w6w/w6w/w7/wb5w/w4w1w/2bbbbb1 b - 2"' in page
    assert page.count('class="sprites"') == 1
    assert page.count("marker-end=") == 1


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        (":moves: b1b4", "b1b4"),
        (":illegal: b1b3", "but legal: b1b3"),
        (":ends: connection", "not by connection"),
        (":targets: a1", "no legal move begins at a1"),
    ],
)
def test_diagram_that_contradicts_the_rules_fails_the_build(tmp_path: Path, option: str, reason: str) -> None:
    with pytest.raises(SphinxError, match=reason):
        build_site(tmp_path, diagram(option))


def test_architecture_follows_from_the_contracts() -> None:
    assert architecture.imports()["bots"] == ["protocol", "referee"]
    assert architecture.levels() == [["bots", "arena"], ["referee"], ["protocol"]]
    assert architecture.layers("referee")[0] == ["check", "verify", "family_template"]
    assert architecture.described("bots") == "imports <code>protocol</code> and parts of <code>referee</code>"
    assert "<code>coordinator</code>" in architecture.drawing()


@pytest.mark.parametrize("page", PLAYERS, ids=str)
def test_page_for_players_exists_in_french_with_the_same_diagrams(page: Path) -> None:
    english, french = ((ROOT / "docs" / part / page).read_text(encoding="utf-8") for part in ("", "fr"))
    pattern = re.compile(r"^:::\{board\} \w+\n((?::\w+:.*\n)*)", re.MULTILINE)
    assert pattern.findall(english) == pattern.findall(french)
    assert english.count("\n## ") == french.count("\n## ")


def test_switch_leads_to_the_same_page_in_the_other_language() -> None:
    assert other_page("en", "players/rules/zen") == "/docs/fr/players/rules/zen/"
    assert other_page("fr", "players/rules/zen") == "/docs/players/rules/zen/"
    assert other_page("fr", "index") == "/docs/"
    assert other_page("en", "how-to/upgrade") == "/docs/fr/"
    page = (SITE / "players" / "rules" / "zen" / "index.html").read_text(encoding="utf-8")
    assert '<a href="/docs/fr/players/rules/zen/" hreflang="fr"' in page


def test_links_of_the_site_lead_to_its_pages_and_headings() -> None:
    anchors: dict[Path, set[str]] = {}
    wrong = []
    for page in SITE.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r'href="([^"]*)"', text):
            path, anchor = urldefrag(unquote(target.partition("?")[0] if "?v=" in target else target))
            if re.match(r"[a-z]+:", target) or (path.startswith("/") and not path.startswith("/docs")):
                continue
            file = SITE / path.removeprefix("/docs").lstrip("/") if path.startswith("/") else page.parent / path
            file = (file / "index.html" if file.is_dir() else file).resolve() if path else page
            if not file.is_file():
                wrong.append(f"{page.relative_to(SITE)}: {target}")
            elif anchor and file.suffix == ".html":
                known = anchors.setdefault(file, set(re.findall(r'id="([^"]*)"', file.read_text(encoding="utf-8"))))
                if anchor not in known:
                    wrong.append(f"{page.relative_to(SITE)}: {target}")
    assert not wrong


PRESENT = sorted(path for path in (ROOT / "docs").rglob("*.md") if path.name not in ("upgrade.md", "changelog.md"))
"""Pages that do not name former commands."""


def test_commands_named_in_a_sentence_exist() -> None:
    parser, off = build(), commands_off()
    parser.fill_all()
    for page in PRESENT:
        for command, word in re.findall(r"`arena ([a-z][a-z-]*)(?: ([a-z]+))?", page.read_text(encoding="utf-8")):
            if command in off:
                continue
            assert command in parser._actions_of.choices, (page, command)
            inner = parser._actions_of.choices[command]._actions_of
            assert inner is None or not word or word in inner.choices, f"{page}: arena {command} {word}"
