"""The settings of a server: one documented object, from the command line, `ARENA_…` variables and `arena.toml`.

The first that says something wins, in that order. The file is `arena.toml` in the data folder, or the one named by
`--config` or `ARENA_CONFIG`; every key of it is a field of `Settings`. Refuses to know what the settings are for.
"""

from __future__ import annotations

import ipaddress
import os
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from arena.errors import ArenaError, Exit
from arena.events.mqtt.url import BrokerUrl
from arena.validation import misfits
from referee import toml
from referee.input_file import refuse_special

PREFIX = "ARENA_"
FILE = "arena.toml"


class ConfigError(ArenaError, ValueError):
    """A setting that cannot be used; the message names it and where it was read."""


class Settings(BaseSettings):
    """Everything that can be set. Sizes in bytes, times in the unit of the name."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True, validate_default=False)

    data: Path = Field(Path("data"), description="Folder for all that the arena keeps on this machine.")
    database: str = Field(
        "", description="Database URL, such as postgresql+psycopg://arena@db/arena; empty: SQLite in the data folder."
    )
    bundles: str = Field(
        "", description="Where bots are stored, as a path or an fsspec URL such as s3://bucket/bots; empty: in data."
    )
    bundle_options: dict[str, Any] = Field(
        default_factory=dict, description="Options of that store, as fsspec takes them (endpoint_url, key, …)."
    )

    bind: str = Field("127.0.0.1", description="Address the web server listens on.")
    port: int = Field(8000, ge=0, le=65535, description="Port the web server listens on.")
    public_url: str = Field(
        "", description="Address people use, such as https://arena.example; with https, cookies are secure."
    )
    trusted_proxies: list[str] = Field(
        default_factory=list, description="Addresses and networks of proxies whose X-Forwarded-For is believed."
    )
    session_hours: int = Field(24 * 14, ge=1, description="How long a browser stays logged in.")

    sandbox: Literal["auto", "bwrap", "landlock", "rlimits", "none"] = Field(
        "auto", description="How bots are confined; auto takes the strongest this system offers."
    )
    allow_weak_sandbox: bool = Field(
        False,
        description="Run strangers' bots in a sandbox weaker than landlock too, and bots as root where there is none: "
        "they can then read this machine's files and use its network.",
    )
    executor: str = Field(
        "local",
        description="Where games are played: local, local:N with N games at once, dask://HOST:PORT or tls://HOST:PORT.",
    )
    scheduler_wait_seconds: float = Field(
        10.0, gt=0, description="How long a referee that starts waits for the scheduler of its cluster to answer."
    )
    cluster_ca: str = Field(
        "", description="For tls://: the file of the authority that signed the certificates of the whole cluster."
    )
    cluster_cert: str = Field("", description="For tls://: the file of this process's certificate.")
    cluster_key: str = Field("", description="For tls://: the file of that certificate's key.")
    worker_bundles: str = Field(
        "",
        description="Where workers get bots: a path or URL like `bundles`, as they reach it; arena: from this server "
        "at public_url, or the https://… of it, with the token they have in ARENA_WORKER_TOKEN or the file named by "
        "ARENA_WORKER_TOKEN_FILE; empty: as `bundles`.",
    )
    people_slots: int = Field(
        4, ge=0, description="How many games people play at once against bots, beside all others; 0: none."
    )
    people_games_each: int = Field(
        2, ge=1, description="How many games one person (an account, or a browser without one) may have open at a time."
    )
    people_games_per_address: int = Field(
        8, ge=1, description="How many games people may have open at a time from one address."
    )
    people_idle_minutes: float = Field(
        15.0, gt=0, description="After how long without a move a game without a clock is over: its person has left it."
    )
    verify_share: float = Field(
        0.05,
        ge=0,
        le=1,
        description="Which share of the games that a worker of a cluster brings is played again by the rules before it "
        "counts, beside its first one; a worker that was wrong is shut out. 0: none.",
    )
    throttle_tolerance: float = Field(
        0.25,
        ge=0,
        lt=1,
        description="By which share bots may search slower on a worker of a cluster than on the others, in games with "
        "a clock; one that is surely slower is shut out, and its results stay. 0: by whatever.",
    )
    referee: bool = Field(True, description="Whether `arena serve` schedules, plays and records as well.")
    mqtt: str = Field(
        "",
        description="Broker for events between processes: mqtt://HOST:1883, mqtts://USER:PASSWORD@HOST:8883, or "
        "embedded (a broker inside this process, for development); empty: none.",
    )
    mqtt_ca: str = Field(
        "", description="File of the authority that signed the certificate of an mqtts:// broker; empty: the system's."
    )
    mqtt_name: str = Field(
        "arena", pattern=r"^[A-Za-z0-9_-]{1,20}$", description="How the names of clients at the broker begin."
    )
    lease_seconds: float = Field(
        10.0, gt=0, description="How long a referee that died on another machine keeps another from taking over."
    )

    max_upload_bytes: int = Field(32 * 2**20, ge=1024, description="Largest upload of a bot.")
    max_bundle_bytes: int = Field(256 * 2**20, ge=1024, description="Largest bundle once it is unpacked.")
    max_bundle_files: int = Field(2000, ge=1, description="Most files and folders in a bundle.")
    max_bots: int = Field(20, ge=0, description="Most bots of one user.")
    max_versions: int = Field(60, ge=0, description="Most versions of one user that are not retired.")
    max_user_bytes: int = Field(2**30, ge=0, description="Most bytes of one user's bundles that are not retired.")
    cache_bytes: int = Field(4 * 2**30, ge=0, description="How much room unpacked bundles may take on this machine.")

    spool: str = Field(
        "",
        description="Folder where the referee keeps finished results while the database is away, shared by referees "
        "that stand by for one another; empty: spool in the data folder.",
    )
    backups: str = Field(
        "", description="Folder of the daily backups of the SQLite database; empty: backups in the data folder."
    )
    backup_days: int = Field(
        7, ge=0, description="For how many days they are kept; 0: none are made. PostgreSQL has means of its own."
    )

    archive: bool = Field(True, description="Whether the referee writes every finished game into a file a month.")
    archive_hour: int = Field(3, ge=0, le=23, description="The hour of the day (UTC) from which it does so.")
    archive_licence: str = Field(
        "CC0-1.0", min_length=1, max_length=200, description="What the first line of every such file allows."
    )
    dumps: str = Field("", description="Folder of these files, offered at /dumps; empty: in the data folder.")

    analysis_games_per_day: int = Field(
        20,
        ge=0,
        description="How many of the latest games are analysed a day without anybody asking, while no game is played; "
        "0: none.",
    )
    analysis_nodes: int = Field(
        10_000,
        ge=100,
        le=10_000_000,
        description="Unit of its searches, in nodes: 8 times for each position, 100 times for one in doubt.",
    )
    analysis_most_nodes: int = Field(
        1_000_000,
        ge=100,
        le=100_000_000,
        description="The greatest unit users may ask for, and the most nodes for a position alone.",
    )
    remote_bind: str = Field(
        "",
        description="Where `arena referee` takes remote bots, as PORT (of 127.0.0.1) or HOST:PORT: for its web "
        "processes alone, which pass them on; empty: nowhere.",
    )
    remote_referee: str = Field(
        "",
        description="For `arena serve --no-referee`: where the referee takes remote bots, such as http://referee:8010; "
        "of several that stand by for one another all, with blanks between; empty: none are taken.",
    )
    remote_latency_ms: float = Field(
        300.0, ge=0, le=5000, description="Of a remote bot's move, how much of the network's time is not charged."
    )
    remote_latency_game_ms: float = Field(30_000.0, ge=0, description="The same of all its moves in a game together.")
    remote_grace_seconds: float = Field(
        30.0, ge=0, le=3600, description="For how long a remote bot's connection may be lost in a game."
    )
    remote_slots: int = Field(
        2, ge=1, le=256, description="Games of remote bots at a time where games are played by a cluster: here, then."
    )
    max_remote_games: int = Field(16, ge=1, le=64, description="Most games a remote bot may play at once.")

    metrics: str = Field(
        "", description="Where `arena referee` offers its metrics, as PORT (of 127.0.0.1) or HOST:PORT; empty: nowhere."
    )

    metrics_from: list[str] = Field(
        default_factory=list,
        description="Addresses and networks that may read /metrics of the pages; all others need an admin's token.",
    )
    public_hosts: bool = Field(
        False, description="Whether everybody may read the host names of referees and workers, not only organisers."
    )

    # Of all web processes together.
    reads_per_minute: int = Field(600, ge=1, description="Requests that read, per user or address, in the long run.")
    writes_per_minute: int = Field(60, ge=1, description="Requests that write, per user, in the long run.")
    pages_per_minute: int = Field(1200, ge=1, description="Pages and their parts per address, in the long run.")
    uploads_per_minute: int = Field(6, ge=1, description="Uploads per user, in the long run.")
    logins_per_minute: int = Field(6, ge=1, description="Wrong log-ins per name and per address, in the long run.")
    connections_per_address: int = Field(
        256, ge=1, description="Connections one address may have open; trusted proxies may have any number."
    )
    streams_per_client: int = Field(20, ge=1, description="Streams one user or address may have open.")

    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="What is logged.")
    log_format: Literal["auto", "text", "json"] = Field(
        "auto", description="How it is logged; auto is text on a terminal, else JSON."
    )

    @field_validator("data", mode="after")
    @classmethod
    def _expand(cls, path: Path) -> Path:
        return path.expanduser()

    @field_validator("public_url", mode="after")
    @classmethod
    def _is_origin(cls, url: str) -> str:
        if url and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname):
            raise ValueError("write an address such as https://arena.example")
        return url.rstrip("/")

    @field_validator("archive_licence", mode="after")
    @classmethod
    def _is_line(cls, text: str) -> str:
        if not text.isprintable():
            raise ValueError("write one line, such as CC0-1.0 or CC-BY-4.0")
        return text

    @field_validator("trusted_proxies", "metrics_from", mode="after")
    @classmethod
    def _are_networks(cls, texts: list[str]) -> list[str]:
        for text in texts:
            try:
                ipaddress.ip_network(text, strict=False)
            except ValueError:
                raise ValueError(f"{text!r} is no address and no network; write 192.0.2.1 or 192.0.2.0/24") from None
        return texts

    @field_validator("metrics", "remote_bind", mode="after")
    @classmethod
    def _is_place(cls, text: str) -> str:
        port = text.rpartition(":")[2]
        if text and not (port.isascii() and port.isdecimal() and int(port) <= 65535):
            raise ValueError("write PORT or HOST:PORT")
        return text

    @field_validator("mqtt", mode="after")
    @classmethod
    def _is_broker(cls, text: str) -> str:
        if text:
            BrokerUrl.read(text)
        return text

    @field_validator("executor", mode="after")
    @classmethod
    def _is_executor(cls, text: str) -> str:
        kind, _, rest = text.partition(":")
        if kind in ("dask", "tls") and len(rest) > 2 and rest.startswith("//"):
            return text
        if kind == "local" and (not rest or (rest.isascii() and rest.isdecimal() and 0 < int(rest) <= 4096)):
            return text
        raise ValueError("write local, local:N, dask://HOST:PORT or tls://HOST:PORT")

    @model_validator(mode="after")
    def _has_address_for_workers(self) -> Self:
        if self.worker_bundles == "arena" and not self.public_url:
            raise ValueError(
                "worker_bundles is arena: set public_url to the address at which workers reach this server"
            )
        return self

    @property
    def database_url(self) -> str:
        """The database, the embedded one unless another is set."""
        return self.database or f"sqlite:///{(self.data / 'arena.sqlite3').resolve()}"

    @property
    def is_clustered(self) -> bool:
        """Whether games are played by workers of a cluster."""
        return not self.executor.startswith("local")

    @property
    def bundles_url(self) -> str:
        """Where bundles are stored."""
        return self.bundles or str((self.data / "bundles").resolve())

    @property
    def spool_folder(self) -> Path:
        """Where results wait for the database."""
        return (Path(self.spool).expanduser() if self.spool else self.data / "spool").resolve()

    @property
    def backups_folder(self) -> Path:
        """Where the backups of the SQLite database are."""
        return Path(self.backups).expanduser() if self.backups else self.data / "backups"

    @property
    def dumps_folder(self) -> Path:
        """Where the archive of games is."""
        return Path(self.dumps).expanduser() if self.dumps else self.data / "dumps"

    @property
    def metrics_address(self) -> tuple[str, int] | None:
        """Host and port of a referee's own metrics; None without them."""
        host, _, port = self.metrics.rpartition(":")
        return (host.strip("[]") or "127.0.0.1", int(port)) if self.metrics else None

    @property
    def remote_address(self) -> tuple[str, int] | None:
        """Host and port where a referee takes remote bots from web processes; None where it does not."""
        host, _, port = self.remote_bind.rpartition(":")
        return (host.strip("[]") or "127.0.0.1", int(port)) if self.remote_bind else None

    @property
    def is_https(self) -> bool:
        """Whether people come by https."""
        return self.public_url.startswith("https://")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Command line, environment, file."""
        assert isinstance(init_settings, InitSettingsSource)
        given = dict(init_settings.init_kwargs)
        file: dict[str, Any] = given.pop("__file__", {})
        return (
            InitSettingsSource(settings_cls, given),
            env_settings,
            InitSettingsSource(settings_cls, file),
        )


def read_settings(config: Path | None = None, **given: Any) -> Settings:
    """The settings, with what the command line gave (None = it did not) in front. Raises ConfigError.

    A file named explicitly must be there; `arena.toml` in the data folder is read if it is.
    """
    chosen = {name: value for name, value in given.items() if value is not None}
    named = named_file(config)
    folder = Path(chosen.get("data") or os.environ.get(f"{PREFIX}DATA") or "data").expanduser()
    file = named or folder / FILE
    table: dict[str, Any] = {}
    if named or file.exists():
        table = _read(file)
    try:
        return Settings(**{**chosen, "__file__": table})
    except ValidationError as error:
        first = misfits(error, Settings)[0]
        name = first.field.partition(".")[0] or "settings"
        place = _place(name, chosen, file if name in table else None)
        raise ConfigError(
            f"{place}: {first.problem.replace('unknown key', 'unknown setting')}", hint=first.hint
        ) from None
    except SettingsError as error:
        field = str(error).partition('"')[2].partition('"')[0]
        raise ConfigError(f"environment: {field} cannot be read", hint="write lists and tables as JSON") from None


def named_file(config: Path | None) -> Path | None:
    """The settings file that `--config` or the environment names; None for the one in the data folder."""
    variable = os.environ.get(f"{PREFIX}CONFIG")
    return config or (Path(variable) if variable else None)


def _read(file: Path) -> dict[str, Any]:
    try:
        refuse_special(file)
        return toml.read(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        wrong = ConfigError(f"{file}: cannot be read: there is no such file", hint="check the path")
        wrong.own_exit = Exit.NOT_FOUND
        raise wrong from None
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}", hint="name another file") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{file}: not UTF-8 text", hint="is it the right file?") from None
    except toml.TomlError as error:
        raise ConfigError(f"{file}: {error}", hint="correct it there") from None


def _place(name: str, chosen: dict[str, Any], file: Path | None) -> str:
    if name in chosen:
        return f"--{name.replace('_', '-')}"
    variable = f"{PREFIX}{name.upper()}"
    return variable if variable in os.environ else f"{file}: {name}" if file else name


def template() -> str:
    """A commented `arena.toml` with every setting at its default."""
    parts = [f"# Settings of the arena. Each can also be set as {PREFIX}NAME in the environment, which wins.\n"]
    for name, field in Settings.model_fields.items():
        parts.append(f"# {field.description}\n# {name} = {_toml(field)}\n")
    return "\n".join(parts)


def _toml(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, (list, dict)):
        return "[]" if isinstance(value, list) else "{}"
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
