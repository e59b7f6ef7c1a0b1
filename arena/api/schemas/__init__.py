"""The schemas of the interface: requests it accepts and responses it sends.

Responses are filled from rows by attribute name (`from_attributes`), so every name here is part of the public
interface.
"""

from arena.api.schemas.account import (
    Account,
    AccountChange,
    LoginRequest,
    NewToken,
    PasswordRequest,
    TokenItem,
    TokenRequest,
    UserChange,
    UserItem,
    UserRequest,
)
from arena.api.schemas.bot import BotChange, BotItem, BotResponse, PresenceItem, SubmissionResponse, VersionItem
from arena.api.schemas.rating import ChangeItem, LeaderboardLine, PoolItem, PoolRating
from arena.api.schemas.service import AuditItem
from arena.api.schemas.word import (
    BotName,
    EntryName,
    FamilyName,
    GameId,
    In,
    Number,
    OneLine,
    Out,
    PoolName,
    Prose,
    RoleName,
    ScopeName,
    Sha256,
    Side,
    UserName,
    VariantName,
)

__all__ = [
    "Account",
    "AccountChange",
    "AuditItem",
    "BotChange",
    "BotItem",
    "BotName",
    "BotResponse",
    "ChangeItem",
    "EntryName",
    "FamilyName",
    "GameId",
    "In",
    "LeaderboardLine",
    "LoginRequest",
    "Moment",
    "NewToken",
    "Number",
    "OneLine",
    "Out",
    "PasswordRequest",
    "PoolItem",
    "PoolName",
    "PoolRating",
    "PresenceItem",
    "Prose",
    "RoleName",
    "ScopeName",
    "Sha256",
    "Side",
    "SubmissionResponse",
    "TokenItem",
    "TokenRequest",
    "UserChange",
    "UserItem",
    "UserName",
    "UserRequest",
    "VariantName",
    "VersionItem",
]
