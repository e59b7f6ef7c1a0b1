"""Tournaments: from a settings document to planned games and a final table.

- Document: `settings`, `handicap`, `toml_text`, `example`; its size and duration: `preview`, `time_class`
- Bots: `entry` (who is entered), `eligibility` (who may play), `participants` (who takes part)
- Start positions: `openings`, `opening_draw`
- Formats as pure functions from results to the next matches: `roundrobin`, `swiss`, `knockout`, `ladder`, `race`,
  `sequential`, with data types in `match` and dispatch in `format`; `spec` turns matches into game specifications
- Actions: `creation`, `enrolment`, `control`, `extension` by organisers; `lifecycle` by the coordinator
- Results: `standing`, `crosstable`, `overview`, `findings`
"""

from arena.errors import ConflictError as StateError
from arena.tournaments.control import cancel, drain, extend, pause, resume, start
from arena.tournaments.creation import change, create
from arena.tournaments.enrolment import enter, withdraw
from arena.tournaments.lifecycle import PlanningResult, advance, plan
from arena.tournaments.settings import Document, SettingsError, problems, read, read_toml
from arena.tournaments.toml_text import as_toml

__all__ = [
    "Document",
    "PlanningResult",
    "SettingsError",
    "StateError",
    "advance",
    "as_toml",
    "cancel",
    "change",
    "create",
    "drain",
    "enter",
    "extend",
    "pause",
    "plan",
    "problems",
    "read",
    "read_toml",
    "resume",
    "start",
    "withdraw",
]
