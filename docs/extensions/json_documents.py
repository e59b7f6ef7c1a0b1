"""Keys of the JSON documents of the command line, for the reference and for the test that compares them with the code.

Add a new key here. If you remove a key or change its meaning, raise `SCHEMA` of `arena.cli.terminal.output`.
"""

from __future__ import annotations

from collections.abc import Mapping

PINNED: Mapping[str, tuple[str, str]] = {
    "archive._import": ("archive import", "files"),
    "archive._list": ("archive list", "sources"),
    "archive._search": ("archive search", "games total total_exact"),
    "archive._index": ("archive index", "indexed taken"),
    "atlas._show": ("atlas show", "starts"),
    "book._check": ("book check", "openings"),
    "database._upgrade": ("db upgrade", "before after features"),
    "database._check": ("db check", "revision differences damage"),
    "database._backup": ("db backup", "file bytes"),
    "database._restore": ("db restore", "file aside salvaged waiting"),
    "database._show_dump": ("db dump, db load", "file rows bytes"),
    "doctor.run": ("doctor", "parts"),
    "family_package._conformance": ("rules conformance", "family seed laws broken"),
    "recorded_games.verify": ("verify", "checked failed failures"),
    "recorded_games._print": ("dump update, dump list", "folder added through problems files"),
    "recorded_games._fit": ("analysis fit", "family win_model"),
    "init.run": ("init", "data settings revision admin"),
    "login.login": ("login", "server"),
    "kernels.perft": ("perft", "nodes seconds nodes_per_second divide"),
    "play_run._finish": ("play", "games"),
    "kernels.playouts": ("playouts", "games plies seconds plies_per_second results reasons seed"),
    "find.find": ("problems find", "problems games"),
    "problems._add": ("problems add", "problems"),
    "recorded_games._rebuild": ("ratings rebuild", "games pools problems"),
    "printer.rows": ("lists of a server", "items next"),
    "game_view.show_record": ("replay", "shown"),
    "rules._list": ("rules list", "families"),
    "rules._moves": ("rules moves", "position side legal_moves result"),
    "rules._vectors": ("rules vectors", "files"),
    "rules._setup": ("rules setup", "position notation numbers permutations"),
    "solve._print": (
        "solve",
        "position side condition result in keys unique later defences line no_win_in complete nodes seconds",
    ),
    "tournament._check": ("tournament create --check", "ok problems"),
    "tournament._show": ("tournament show", "standings"),
    "user._add": ("user add", "name role password"),
    "user._token": ("user token", "name token scopes expires"),
    "user._change": ("user change", "name role active password"),
    "user._tokens": ("user tokens", "name tokens"),
    "user._revoke": ("user revoke", "name revoked"),
    "user._change_own": ("user password", "changed tokens_revoked"),
    "user._list": ("user list", "users"),
    "user._show_link": ("user invite, user reset", "link expires"),
    "kernels.warmup": ("warmup", "families compiled seconds"),
}
"""By module and function of `arena.cli`: the command, and the keys that the function writes itself."""

MORE: Mapping[str, tuple[str, str]] = {
    "analyse": ("game family nodes plies blunders accuracy", "with --record: the record and its marks"),
    "check": (
        "command family fit fit_from_ms overshoot_ms first_overshoot_ms name author variants refused capabilities "
        "steps",
        "",
    ),
    "leaderboard": ("items", "those of the JSON interface"),
    "play": (
        "standings crosstable ratings terminations elapsed_s moves moves_per_second first findings match",
        "of two bots `elo`, of more `performance`, of a test `sprt`, of a race `race`",
    ),
    "replay": ("", "those of the record"),
    "tournament show": ("strengths findings", "those of the JSON interface"),
}
"""By command the keys of a document that other rooms make, and what else is to be said of them."""


def table() -> list[str]:
    """Return the table of all documents for the reference."""
    keys: dict[str, list[str]] = {}
    for command, own in PINNED.values():
        keys[command] = [f"`{key}`" for key in own.split()]
    for command, (others, remark) in MORE.items():
        cells = keys.setdefault(command, [])
        cells += [*(f"`{key}`" for key in others.split()), *filter(None, [remark])]
    return ["| command | keys |", "|---|---|", *(f"| `{name}` | {', '.join(keys[name])} |" for name in sorted(keys))]
