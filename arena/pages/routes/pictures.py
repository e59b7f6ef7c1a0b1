"""Pictures: boards for link previews, animated games, and the icons with which browsers install the site."""

from __future__ import annotations

from aiohttp import web

from arena.http.kept_files import kept_file
from arena.http.problem import Problem, as_json, not_found
from arena.pages import filters, language
from arena.pages.drawing import thumbnail
from arena.pages.drawing.replay import Replay
from arena.pages.drawing.scene import Scenes
from arena.pages.page import FRAMES_PER_TOKEN, allow_parameters, in_a_language, path_family, run
from arena.pages.routes.game import replay_of
from arena.pages.viewer import ply_of
from arena.services.game import GameDetails
from referee.ratings.trueskill import conservative

routes = web.RouteTableDef()
ICON_SIZES = (180, 192, 512)
"""Pixels of the icon: for phones of Apple, and two that browsers ask for before they install a site."""


@routes.get("/games/{game}/board.png")
@allow_parameters("ply")
async def of_game(request: web.Request) -> web.Response:
    """Serve the last position of a game, or that at `?ply=`, as a picture."""
    replay, details = await replay_of(request)
    ply = ply_of(request, replay)
    caption = _caption(replay, details, is_end=ply == replay.last)
    body = await kept_file(
        request, 0, thumbnail.png, replay.rules, replay.scenes[ply], thumbnail.WIDTH, thumbnail.HEIGHT, caption
    )
    return _picture(body, "public, max-age=86400" if details.line.is_over else "public, max-age=30")


def _caption(replay: Replay, details: GameDetails, *, is_end: bool) -> thumbnail.Caption:
    """Return the texts on a picture of a game: the bots with their ratings before the game, and the result."""
    line = details.line

    def player(name: str, version: int, side: str) -> tuple[str, str]:
        change = details.changes.get(version)
        rating = f"rating {conservative(change.mu_before, change.sigma_before):.1f}" if change else ""
        return filters.plain(name, 60), ", ".join(part for part in (side, filters.minus(rating)) if part)

    first, second = replay.sides
    return thumbnail.Caption(
        title=f"{replay.rules.title}, {line.variant}",
        players=(player(line.first, line.first_id, first), player(line.second, line.second_id, second)),
        result=filters.result(line.winner).replace("-", "–") if line.winner and is_end else "",
    )


@routes.get("/games/{game}/game.gif")
@allow_parameters()
async def animated(request: web.Request) -> web.Response:
    """Serve a game that is over as an animated picture."""
    replay, details = await replay_of(request)
    if not details.line.is_over:
        raise Problem("conflict", "the game is not over", hint="try again when it is over")
    if not thumbnail.can_animate():
        raise Problem("not-found", "this server makes no animated pictures", hint="install bot-arena[gif] there")
    caption, cost = _caption(replay, details, is_end=True), len(replay.scenes) / FRAMES_PER_TOKEN
    body = await kept_file(request, cost, thumbnail.gif, replay.rules.family, replay.scenes, caption)
    return web.Response(body=body, content_type="image/gif", headers={"Cache-Control": "public, max-age=86400"})


@routes.get("/{family}/board.png")
@allow_parameters()
async def start(request: web.Request) -> web.Response:
    """Serve the start of a family as a picture."""
    rules = path_family(request)
    scene = await run(lambda: Scenes(rules.settle()).items[0])
    return _picture(await kept_file(request, 0, thumbnail.png, rules, scene), "public, max-age=86400")


def _picture(body: bytes, keep: str) -> web.Response:
    return web.Response(body=body, content_type="image/png", headers={"Cache-Control": keep})


@routes.get("/manifest.webmanifest")
@allow_parameters()
async def manifest(request: web.Request) -> web.Response:
    """Serve name, icons and start page, with which browsers install the site as an application."""
    icons = [{"src": f"/icon-{size}.png", "sizes": f"{size}x{size}", "type": "image/png"} for size in ICON_SIZES]
    content = {
        "name": "Bot arena",
        "short_name": "Arena",
        "description": language.text("Tournaments and ratings for bots that play board games"),
        "lang": language.current(),
        "id": "/",
        "start_url": "/",
        "display": "standalone",
        "background_color": "#f8f6f1",
        "theme_color": "#1d4fb0",
        "icons": [{"src": "/static/icon.svg", "sizes": "any", "type": "image/svg+xml"}, *icons],
    }
    response = web.json_response(content, content_type="application/manifest+json", dumps=as_json)
    return in_a_language(response, "public, max-age=86400")


@routes.get(r"/icon-{size:\d{2,3}}.png")
@allow_parameters()
async def icon(request: web.Request) -> web.Response:
    """Serve the icon of the site as a picture, for the home screen of phones."""
    size = int(request.match_info["size"])
    if size not in ICON_SIZES:
        raise not_found("icon", request.match_info["size"], [str(size) for size in ICON_SIZES])
    return _picture(await kept_file(request, 0, thumbnail.icon, size), "public, max-age=86400")
