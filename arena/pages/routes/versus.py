"""Two bots head to head."""

from __future__ import annotations

from aiohttp import web

from arena import services
from arena.documents.bot import MeetingsQuery
from arena.documents.rating import Score
from arena.pages import columns
from arena.pages.columns import text_column
from arena.pages.html_table import Column, sorted_table
from arena.pages.page import allow_parameters, arena_of, render, run
from arena.pages.query_form import form_names, read_form
from arena.pages.score_table import score_tables, timeline
from arena.services.versus import HeadToHead

routes = web.RouteTableDef()
_OPENINGS = (text_column("name", "Opening"), Column("wins", "W"), Column("draws", "D"), Column("losses", "L"))


@routes.get("/bots/{bot}/vs/{other}")
@allow_parameters(*form_names(MeetingsQuery), "after", "games", "openings")
async def versus(request: web.Request) -> web.Response:
    """Show the games between two bots: all versions, or those in `?mine=` and `?theirs=`."""
    names = request.match_info["bot"], request.match_info["other"]
    query = read_form(request, MeetingsQuery, after=request.query.get("after") or None).query
    found = await run(services.versus.read, arena_of(request), *names, query)
    scores = score_tables(found.tallies, set(found.mine))
    total = Score(names[0])
    for score in scores.endings.values():
        total.wins, total.draws = total.wins + score.wins, total.draws + score.draws
        total.losses, total.forfeits = total.losses + score.losses, total.forfeits + score.forfeits
    openings = sorted_table(
        request, _OPENINGS, _by_opening(found), parameter="openings", value=lambda row, key: getattr(row[1], key)
    )
    return render(
        request,
        "versus.html",
        bot=names[0],
        other=names[1],
        found=found,
        query=query,
        total=total,
        sides=sorted(scores.sides.items()),
        endings=sorted(scores.endings.values(), key=lambda score: (-score.games, score.name)),
        games=found.games,
        timeline=timeline(found.games.items, set(found.mine)),
        table=columns.sort_games(request, found.games.items, with_family=True),
        openings=openings,
    )


def _by_opening(found: HeadToHead) -> list[tuple[str, Score]]:
    """Count the results of `mine` by opening, or by variant for games without an opening; the most frequent first."""
    rows: dict[str, Score] = {}
    for game in found.games.items:
        opening = found.openings.get(game.id, "")
        score = rows.setdefault(opening or game.variant, Score(opening))
        if game.winner:
            score.add(is_first=game.first_id in found.mine, winner=game.winner)
    return sorted(rows.items(), key=lambda item: (-item[1].games, item[0]))
