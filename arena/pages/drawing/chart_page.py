"""A page of charts that stands alone: one file without a server, a style sheet or scripts."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

_STYLE = Markup("""
body { font: 15px system-ui, sans-serif; margin: 1rem auto; max-width: 45rem; padding: 0 1rem; }
body { color: #222; background: #fff; }
svg { display: block; width: 100%; } text { fill: #666; font-size: 11px; }
.axis { stroke: #ddd; fill: none; } .line { fill: none; stroke: #1460a8; stroke-width: 2; stroke-linejoin: round; }
""")


def page(title: str, charts: Sequence[tuple[str, Markup]], refresh_s: int = 0) -> str:
    """Charts below their headings; read anew every `refresh_s` seconds unless that is 0."""
    refresh = Markup('<meta http-equiv="refresh" content="{}">').format(refresh_s) if refresh_s else ""
    body = Markup("").join(Markup("<h2>{}</h2>\n{}\n").format(heading, chart) for heading, chart in charts)
    return Markup(
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">{}\n<title>{}</title>\n<style>{}</style>\n'
        "<h1>{}</h1>\n{}</html>\n"
    ).format(refresh, title, _STYLE, title, body)
