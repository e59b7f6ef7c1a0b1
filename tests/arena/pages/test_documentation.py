"""The documentation site and the rules of families."""

from __future__ import annotations

import re
from typing import Any

import pytest

from arena.pages.routes import documentation
from referee.rules import families
from tests.arena.pages.conftest import Site
from tests.arena.pages.test_pages import PHONE, too_wide, violations


def fetch(site: Site, path: str) -> tuple[int, str, str]:
    """Return status, text and the target of a redirect."""
    found = site.server.get(path)
    return found.status, found.body.decode(errors="replace"), found.headers.get("Location", "")


def test_the_site_is_served_with_its_parts(site: Site) -> None:
    status, text, _ = fetch(site, "/docs/")
    assert status == 200
    assert "<script>" not in text
    assert "style=" not in text
    assert "default-src 'self'" in site.server.get("/docs/").headers["Content-Security-Policy"]
    for path in ("/docs/searchindex.js", "/docs/_static/docs.css", "/docs/fr/", "/docs/reference/command-line/"):
        assert fetch(site, path)[0] == 200, path


@pytest.mark.parametrize(
    ("path", "language", "start"), [("/play", "en", "/docs/"), ("/tournaments", "fr", "/docs/fr/")]
)
def test_links_lead_to_the_site_in_the_language_of_the_page(site: Site, path: str, language: str, start: str) -> None:
    check_links(site, path, language, start)


def check_links(site: Site, path: str, language: str, start: str) -> None:
    """Check that the links of a page to the documentation lead to that in its language."""
    targets = set(re.findall(r'href="(/docs/[^"#]*)', fetch(site, f"{path}?lang={language}")[1]))
    assert start in targets
    for target in targets:
        assert fetch(site, target)[0] == 200, target
        other = target.replace("/docs/fr/", "/docs/") if language == "en" else target.replace("/docs/", "/docs/fr/", 1)
        assert target.startswith(start) or fetch(site, other)[0] == 404, f"{target} exists in {language}"


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/docs/", "/docs/fr/"),
        ("/docs/players/play/", "/docs/fr/players/play/"),
        ("/docs/reference/settings/", "/docs/fr/"),
    ],
)
def test_an_english_page_leads_a_french_reader_to_the_french_ones(site: Site, path: str, target: str) -> None:
    page = fetch(site, f"{path}?lang=fr")[1]
    assert f'<p class="admonition" lang="fr">Cette page est en anglais. <a href="{target}">' in page
    assert fetch(site, target)[0] == 200
    assert "Cette page est en anglais" not in fetch(site, path)[1] + fetch(site, f"{target}?lang=fr")[1]


FIRST = {
    "stderr": "how-to/debug-a-bot/",
    "takeback": "players/play/",
    "play a friend": "players/play/",
    "upload size": "reference/bot-files/",
    "csv": "how-to/manage-a-tournament/",
    "late entry": "how-to/manage-a-tournament/",
    "delete account": "how-to/give-roles-and-scopes/",
    "new version rating": "explanation/ratings/",
    "10+0.1": "how-to/choose-a-format/",
    "run tests": "contributing/write-tests/",
}
"""The page that a search shows first, by the words of the search."""
SEARCH = """words => {
    document.getElementById("search-results").replaceChildren();
    Search.performSearch(words);
}"""


def test_search_for_the_words_of_readers_finds_their_page_first(site: Site, page: Any) -> None:
    # The search reads every page that it names, for an excerpt.
    page.route(re.compile(r"/docs/(?!search/)[^?]*/$"), lambda route: route.fulfill(body=""))
    page.goto(f"{site.url}/docs/search/?q=arena")
    link = page.locator("#search-results ul.search > li > a").first
    link.wait_for()
    for words, place in FIRST.items():
        page.evaluate(SEARCH, words)
        assert f"/docs/{place}" in f"{link.evaluate('link => link.href')}", words


def test_words_are_entered_on_every_page(site: Site, page: Any) -> None:
    page.goto(f"{site.url}/docs/")
    page.fill("header input[name=q]", "10+0.1")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{site.url}/docs/search/?q=10%2B0.1*")


def test_search_in_french_finds_the_page_for_players_first(site: Site, page: Any) -> None:
    page.goto(f"{site.url}/docs/fr/search/?q=jouer+contre+un+ami")
    first = page.locator("#search-results ul.search > li > a").first
    assert "/docs/fr/players/play/#" in f"{first.evaluate('link => link.href')}"


@pytest.mark.parametrize(
    "path",
    ["", "reference/settings/", "reference/sdk/", "search/?q=sprt"],
)
def test_page_of_the_site_is_accessible_and_fits_a_phone(site: Site, page: Any, path: str) -> None:
    page.goto(f"{site.url}/docs/{path}")
    found = violations(page)
    page.emulate_media(color_scheme="dark")
    found += violations(page, "color-contrast")
    page.set_viewport_size(PHONE)
    assert not [*found, *too_wide(page, path)]


@pytest.mark.parametrize("path", ["reference/protocol/", "reference/rules/pijersi/"])
def test_positions_are_whole_on_a_phone(site: Site, page: Any, path: str) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{site.url}/docs/{path}")
    assert page.locator("main pre").count()
    assert not page.evaluate(
        "[...document.querySelectorAll('main pre')].filter((pre) => pre.scrollWidth > pre.clientWidth + 1).length"
    )


def test_a_folder_without_slash_redirects_to_its_page(site: Site) -> None:
    assert fetch(site, "/docs/tutorials/first-bot")[::2] == (308, "/docs/tutorials/first-bot/")


@pytest.mark.parametrize("name", ["../app.py", "..%2f..%2fapp.py", "%2e%2e/config.py", "/etc/passwd"])
def test_files_outside_the_site_are_not_found(site: Site, name: str) -> None:
    assert fetch(site, f"/docs/{name}")[0] == 404


def test_rules_in_english_lead_to_those_in_the_language_of_the_page(site: Site) -> None:
    for family in families():
        assert f'href="/docs/fr/players/rules/{family}/"' in fetch(site, f"/{family}/rules?lang=fr")[1]
        assert "is in English." not in fetch(site, f"/{family}/rules?lang=en")[1]


@pytest.mark.parametrize(("code", "folder"), [("en", "/docs"), ("fr", "/docs/fr")])
def test_links_to_rules_lead_to_those_with_diagrams(site: Site, code: str, folder: str) -> None:
    for page in ("/explore", "/loa"):
        assert f'href="{folder}/players/rules/loa/"' in fetch(site, f"{page}?lang={code}")[1], page


def test_rules_without_a_page_with_diagrams_are_the_exact_ones() -> None:
    assert documentation.rules_address("othello") == "/othello/rules"


def test_a_document_lists_its_parts_and_its_wide_texts_are_reached_by_keys(site: Site) -> None:
    text = fetch(site, "/abalone/rules")[1]
    contents, _, article = text.partition("</article>")[0].partition("<article")
    parts = re.findall(r'<li><a href="#([^"]+)">', contents)
    assert parts == re.findall(r'<h2 id="([^"]+)">', article)
    assert len(parts) > 2
    assert all('tabindex="0"' in one for one in re.findall("<pre.*?<code.*?>", article))


def test_each_family_shows_its_rules_and_its_protocol(site: Site) -> None:
    for name in families():
        for page in ("rules", "protocol"):
            status, text, _ = fetch(site, f"/{name}/{page}")
            assert status == 200
            assert "<article" in text
            for target in re.findall(r'href="(/docs/[^"#]*)', text.partition("<article")[2]):
                assert fetch(site, target)[0] == 200, target
        assert f"/docs/players/rules/{name}/" in fetch(site, f"/{name}/rules")[1]
