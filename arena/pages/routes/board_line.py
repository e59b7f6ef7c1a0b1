"""The line on the analysis board: from a start, a position or a ply of a game, all of it in the address."""

from __future__ import annotations

from dataclasses import dataclass

from aiohttp import web
from yarl import URL

from arena import services
from arena.errors import BadValueError
from arena.http.request_context import charge
from arena.pages.drawing.replay import Replay
from arena.pages.drawing.scene import Scene
from arena.pages.html_table import number
from arena.pages.page import ANALYSIS_LINES, GAME_ID, run_use_case
from arena.pages.routes.archive import replay_at
from arena.pages.routes.game import replay_of
from arena.pages.viewer import ply_of
from arena.services.study import Study
from referee.rules.rules import Rules

LINE_PARAMETERS = ("variant", "options", "position", "game", "archive", "ply", "moves")
"""The query parameters that name a line."""
MAX_PLY = 100_000
_PLIES_PER_TOKEN = 20
"""Plies of a game that count as one request. Moves in the address count by its length."""


@dataclass(frozen=True, slots=True)
class BoardLine:
    """A line and the game it branches off from.

    The first `base` plies are the game's, `back` is its address, and `kept` are the query parameters that name the
    start.
    """

    study: Study
    scenes: list[Scene]
    base: int = 0
    back: str = ""
    kept: tuple[tuple[str, str], ...] = ()

    @property
    def moves(self) -> tuple[str, ...]:
        """The moves of the line after those of the game."""
        return self.study.moves[self.base :]

    def address(self, rules: Rules, end: int | None = None) -> str:
        """Return the address of the line, or of its beginning up to a ply."""
        end = len(self.study.moves) if end is None else end
        base = min(self.base, end)
        query = dict(self.kept)
        if self.back:
            query["ply"] = str(base)
        if moves := self.study.moves[base:end]:
            query["moves"] = " ".join(moves)
        return str(URL(f"/{rules.family}/board").with_query(query))


async def read_line(request: web.Request, rules: Rules) -> BoardLine:
    """Return the line in the address, with `move` appended to `moves`. Raises BadValueError, Problem (400, 404)."""
    query = request.query
    text = {name: query.get(name, "").strip() for name in LINE_PARAMETERS}
    kept = tuple((name, text[name]) for name in ("variant", "options", "position") if text[name])
    base, back = 0, ""
    moves = [*text["moves"].split(), *([query["move"].strip()] if query.get("move", "").strip() else [])]
    if text["game"] or text["archive"]:
        replay, back = await _game(request, text)
        if replay.ruleset is None or replay.rules.family != rules.family:
            raise BadValueError(f"that game belongs to the family {replay.rules.family}", field="game")
        base = ply_of(request, replay)
        await charge(request, base / _PLIES_PER_TOKEN)
        before = [scene.canonical for scene in replay.scenes[1 : base + 1]]
        kept = (("game", text["game"]),) if text["game"] else (("archive", text["archive"]),)
        study = await run_use_case(services.study.read, replay.ruleset, replay.scenes[0].position, [*before, *moves])
    else:
        ruleset = await run_use_case(services.study.settle, rules.family, text["variant"], text["options"])
        study = await run_use_case(services.study.read, ruleset, text["position"], moves)
    scenes = await run_use_case(request.app[ANALYSIS_LINES].scenes, study.ruleset, study.start, study.moves)
    return BoardLine(study, scenes, base, back, kept)


async def _game(request: web.Request, text: dict[str, str]) -> tuple[Replay, str]:
    """Return the game from which a line branches off, and its address."""
    if text["game"]:
        if not GAME_ID.fullmatch(text["game"]):
            raise BadValueError("invalid game id", field="game", hint="expected 16 to 32 characters of 0-9 and a-f")
        replay, _ = await replay_of(request, text["game"])
        return replay, f"/games/{text['game']}"
    serial = number(request.query, "archive", 0, low=1, high=2**31 - 1)
    return await replay_at(request, serial), f"/archive/{serial}"
