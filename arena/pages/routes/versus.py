"""Two bots head to head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aiohttp import web

from arena import services
from arena.documents.rating import Score
from arena.pages import columns, filters
from arena.pages.columns import text_column
from arena.pages.html_table import Column, choice, sorted_table
from arena.pages.page import allow_parameters, arena_of, render, run, store_of
from arena.pages.score_table import score_tables

routes = web.RouteTableDef()
_OPENINGS = (text_column("name", "Opening"), Column("wins", "W"), Column("draws", "D"), Column("losses", "L"))


@routes.get("/bots/{bot}/vs/{other}")
@allow_parameters("mine", "theirs", "after", "games", "openings")
async def versus(request: web.Request) -> web.Response:
    """Show the games between two bots: all versions, or those in `?mine=` and `?theirs=`."""
    arena, store = arena_of(request), store_of(request)

    def read() -> dict[str, Any]:
        bot, other = (services.bot.find(arena, request.match_info[one]) for one in ("bot", "other"))
        versions, others = store.versions.of_bot(bot.id or 0), store.versions.of_bot(other.id or 0)
        mine = choice(request.query, "mine", [line.name for line in versions])
        theirs = choice(request.query, "theirs", [line.name for line in others])
        ids = [line.id for line in versions if not mine or line.name == mine]
        rivals = [line.id for line in others if not theirs or line.name == theirs]
        tallies = store.results.tally(ids, rivals) if ids and rivals else []
        found = score_tables(tallies, set(ids))
        total = Score(bot.name)
        for score in found.endings.values():
            total.wins, total.draws = total.wins + score.wins, total.draws + score.draws
            total.losses, total.forfeits = total.losses + score.losses, total.forfeits + score.forfeits
        games = (
            store.games.latest(versions=ids, against=rivals, limit=50, after=request.query.get("after") or None)
            if ids and rivals
            else None
        )
        openings = store.games.openings([game.id for game in games.items]) if games else {}
        by_opening: dict[str, Score] = {}
        for game in games.items if games else ():
            score = by_opening.setdefault(openings.get(game.id) or game.variant, Score(openings.get(game.id, "")))
            if game.winner:
                score.add(is_first=game.first_id in ids, winner=game.winner)
        return {
            "bot": bot,
            "other": other,
            "versions": [line.name for line in versions],
            "others": [line.name for line in others],
            "mine": mine,
            "theirs": theirs,
            "total": total,
            "sides": sorted(found.sides.items()),
            "endings": sorted(found.endings.values(), key=lambda score: (-score.games, score.name)),
            "openings": sorted(by_opening.items(), key=lambda item: (-item[1].games, item[0])),
            "games": games,
            "timeline": _timeline(games.items if games else [], set(ids)),
        }

    found = await run(read)
    games = columns.sort_games(request, found["games"].items if found["games"] else [], with_family=True)
    openings = sorted_table(
        request, _OPENINGS, found["openings"], parameter="openings", value=lambda row, key: getattr(row[1], key)
    )
    return render(request, "versus.html", **{**found, "table": games, "openings": openings})


def _timeline(games: Sequence[Any], mine: set[int]) -> list[tuple[str, str, str]]:
    """Return the results, oldest first: (letter, game, description)."""
    found = []
    for game in reversed(games):
        is_first = game.first_id in mine
        letter = "D" if game.winner == "draw" else "W" if (game.winner == "first") == is_first else "L"
        text = f"{filters.plain(game.first, 60)} – {filters.plain(game.second, 60)} {filters.result(game.winner)}"
        found.append((letter, game.id, f"{text}, {game.termination}"))
    return found
