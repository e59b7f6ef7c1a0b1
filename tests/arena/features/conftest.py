"""The fixtures of services and pages, for the tests of features."""

from tests.arena.pages.conftest import browser, chromium, page, server, site, witness
from tests.arena.services.conftest import arena, ear, person

__all__ = ["arena", "browser", "chromium", "ear", "page", "person", "server", "site", "witness"]
