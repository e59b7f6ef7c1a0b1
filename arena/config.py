"""Settings of a server, from the command line, `ARENA_…` variables or `arena.toml`: the first that sets one wins."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, PrivateAttr, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from arena.mail import is_mail_address
from arena.setting_types import (
    BrokerAddress,
    Contact,
    ExecutorAddress,
    License,
    ListenAddress,
    MailServerAddress,
    Networks,
    Origin,
    TimeControlText,
)

PREFIX = "ARENA_"


class Settings(BaseSettings):
    """All settings. Sizes are in bytes; other units are part of the name."""

    # Defaults are not validated: they are right, and validators load other modules.
    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True, validate_default=False)
    _named_file: Path | None = PrivateAttr(None)

    # -- data and bundles ----------------------------------------------------------------------------------------------
    data: Path = Field(Path("data"), description="Data folder of this machine.")
    database: str = Field(
        "", description="Database URL, such as postgresql+psycopg://arena@db/arena; empty: SQLite in the data folder."
    )
    bundles: str = Field(
        "", description="Storage of bot bundles: a path or an fsspec URL such as s3://bucket/bots; empty: data folder."
    )
    bundle_options: dict[str, Any] = Field(
        default_factory=dict, description="fsspec options of the storage of bot bundles (endpoint_url, key, …)."
    )

    # -- web server ----------------------------------------------------------------------------------------------------
    bind: str = Field("127.0.0.1", description="Address on which the web server listens.")
    port: int = Field(8000, ge=0, le=65535, description="Port on which the web server listens.")
    public_url: Origin = Field(
        "",
        description="Public address, such as https://arena.example; with https, cookies are marked secure. Feeds and "
        "the site map (/sitemap.xml) need it for absolute addresses.",
    )
    trusted_proxies: Networks = Field(
        default_factory=list, description="Addresses and networks of proxies whose X-Forwarded-For header is trusted."
    )
    session_hours: int = Field(24 * 14, ge=1, description="Lifetime of a browser session, in hours.")

    contact: Contact = Field(
        "",
        description="How people reach the operator: a mail address, or the address of a page. Pages that send people "
        "to the operator show it, and push services get it. Empty: it is not shown.",
    )

    # -- accounts and mail ---------------------------------------------------------------------------------------------
    registration: Literal["open", "invite", "closed"] = Field(
        "invite",
        description="Who may create an account: open (every visitor), invite (people with a link of "
        "`arena user invite`), closed (administrators only).",
    )
    smtp: MailServerAddress = Field(
        "",
        description="Mail server for daily digests and for links to reset a forgotten password: "
        "smtp://USER:PASSWORD@HOST:587, smtps://USER:PASSWORD@HOST:465 or smtp://localhost; it needs public_url and "
        "mail_from. Empty: no mail, and `arena user reset` makes the links.",
    )
    mail_from: str = Field("", description="Sender of mail, such as arena@arena.example.")
    digest_hour_utc: int = Field(
        6, ge=0, le=23, description="Hour of the day (UTC) at which users get the digests that they have asked for."
    )

    # -- sandbox -------------------------------------------------------------------------------------------------------
    sandbox: Literal["auto", "bwrap", "landlock", "rlimits", "none"] = Field(
        "auto", description="Sandbox in which bots run; auto: the strongest that this system supports."
    )
    allow_weak_sandbox: bool = Field(
        False,
        description="Run untrusted bots in a sandbox weaker than landlock, and bots as root without a sandbox. Such "
        "bots can read this machine's files and use its network.",
    )

    # -- cluster -------------------------------------------------------------------------------------------------------
    executor: ExecutorAddress = Field(
        "local",
        description="Where games are played: local, local:N (N games at once), dask://HOST:PORT or tls://HOST:PORT.",
    )
    scheduler_wait_seconds: float = Field(
        10.0, gt=0, description="Time to wait at startup for the cluster's scheduler to answer, in seconds."
    )
    cluster_ca: str = Field("", description="For a cluster at tls://…: file with its CA certificate.")
    cluster_cert: str = Field("", description="For a cluster at tls://…: file with the certificate of this process.")
    cluster_key: str = Field(
        "", description="For a cluster at tls://…: file with the private key of this process's certificate."
    )
    worker_bundles: str = Field(
        "",
        description="Source from which workers load bundles: a path or URL like `bundles`, as seen by the worker; "
        "empty: the value of `bundles`. arena or https://…: this server, at public_url or that address; the worker "
        "sends the token from ARENA_WORKER_TOKEN or from the file ARENA_WORKER_TOKEN_FILE.",
    )

    # -- games of people against bots ----------------------------------------------------------------------------------
    human_slots: int = Field(
        4,
        ge=0,
        description="Limit on concurrent games of people against bots, which have slots of their own; 0: no such "
        "games. Of several slots, a quarter is kept for people with an account.",
    )
    human_games_per_player: int = Field(
        2, ge=1, description="Open games allowed per player (an account, or a browser without one)."
    )
    human_games_per_address: int = Field(
        8, ge=1, description="Open games of people without an account allowed per IP address."
    )
    human_idle_timeout_minutes: float = Field(
        15.0, gt=0, description="Minutes without a move after which a game without a clock ends as abandoned."
    )

    # -- permanent ladders ---------------------------------------------------------------------------------------------
    ladder_time_control: TimeControlText = Field(
        "5+0.1",
        description="Time control of the permanent ladders, which have a low priority. The first checked bot of a "
        "family creates its ladder, and every later one joins it. Empty: no ladders are created.",
    )

    # -- checks of the workers of a cluster ----------------------------------------------------------------------------
    verify_sample_rate: float = Field(
        0.05,
        ge=0,
        le=1,
        description="Share of each cluster worker's games that are replayed by the rules before they count, in "
        "addition to its first game; a worker with a wrong result is quarantined. 0: no replays.",
    )
    slow_worker_tolerance: float = Field(
        0.25,
        ge=0,
        lt=1,
        description="Share by which bots may search slower on one cluster worker than on the others, in games with a "
        "clock. A worker that is certainly slower is quarantined; its results stand. 0: no limit.",
    )

    # -- coordinator and broker ----------------------------------------------------------------------------------------
    referee: bool = Field(True, description="Let `arena serve` also schedule, play and record games.")
    mqtt: BrokerAddress = Field(
        "",
        description="MQTT broker for events between processes: mqtt://HOST:1883, mqtts://USER:PASSWORD@HOST:8883, or "
        "embedded (a broker in this process, for development); empty: no broker.",
    )
    mqtt_ca: str = Field(
        "", description="File with the CA certificate of an mqtts:// broker; empty: the CAs of the system."
    )
    mqtt_name: str = Field(
        "arena", pattern=r"^[A-Za-z0-9_-]{1,20}$", description="Prefix of this server's MQTT client names."
    )
    lease_ttl_seconds: float = Field(
        10.0, gt=0, description="Seconds after which a coordinator on another machine takes over from one that died."
    )

    # -- uploads and quotas --------------------------------------------------------------------------------------------
    max_upload_bytes: int = Field(32 * 2**20, ge=1024, description="Size limit of an uploaded bot.")
    max_bundle_bytes: int = Field(256 * 2**20, ge=1024, description="Size limit of an unpacked bundle.")
    max_bundle_files: int = Field(2000, ge=1, description="Limit on files and folders in a bundle.")
    quota_bots: int = Field(20, ge=0, description="Limit on bots per user.")
    quota_versions: int = Field(60, ge=0, description="Limit on versions per user, not counting retired ones.")
    quota_bytes: int = Field(
        2**30, ge=0, description="Size limit of all bundles of a user, not counting retired versions."
    )
    version_tests: int = Field(
        2, ge=0, le=100, description="Limit on open tests of two versions per author (`arena test`); 0: none."
    )
    version_test_games: int = Field(4000, ge=2, le=1_000_000, description="Limit on games of a test of two versions.")
    bundle_cache_max_bytes: int = Field(
        4 * 2**30, ge=0, description="Size limit of the unpacked bundles cached on this machine."
    )

    # -- spool and backups ---------------------------------------------------------------------------------------------
    spool: str = Field(
        "",
        description="Folder in which finished results wait until the database has stored them, shared by a coordinator "
        "and its standbys; empty: spool in the data folder.",
    )
    backups: str = Field(
        "", description="Folder of the daily backups of the SQLite database; empty: backups in the data folder."
    )
    backup_days: int = Field(
        7, ge=0, description="Days for which backups of SQLite are kept; 0: no backups. Back up PostgreSQL yourself."
    )

    # -- dumps ---------------------------------------------------------------------------------------------------------
    dumps: bool = Field(True, description="Write all finished games into dumps, one file per month.")
    dump_hour_utc: int = Field(3, ge=0, le=23, description="Hour of the day (UTC) from which dumps are written.")
    dump_license: License = Field(
        "CC0-1.0", min_length=1, max_length=200, description="License named in the first line of every dump."
    )
    dump_folder: str = Field("", description="Folder of the dumps, served at /dumps; empty: dumps in the data folder.")

    # -- analysis ------------------------------------------------------------------------------------------------------
    analysis_games_per_day: int = Field(
        20,
        ge=0,
        description="Recent games analysed per day without a request, while no game is being played; 0: none.",
    )
    analysis_nodes_per_position: int = Field(
        10_000,
        ge=100,
        le=10_000_000,
        description="Base node budget of an analysis: 8 times this for each position, 100 times for an unclear one.",
    )
    analysis_max_nodes: int = Field(
        1_000_000,
        ge=100,
        le=100_000_000,
        description="Limit on the base node budget that users may request, and on the nodes for a single position.",
    )
    analysis_board_nodes: int = Field(
        200_000,
        ge=0,
        le=10_000_000,
        description="Maximum of nodes for a position on the analysis board, which a low-priority process evaluates at "
        "once; 0: none are evaluated.",
    )

    # -- remote bots ---------------------------------------------------------------------------------------------------
    remote_bind: ListenAddress = Field(
        "",
        description="Address where `arena referee` accepts remote bots that its web processes relay: PORT (on "
        "127.0.0.1) or HOST:PORT; empty: none.",
    )
    remote_referee: str = Field(
        "",
        description="For `arena serve --no-referee`: address to which remote bots are relayed, such as "
        "http://referee:8010; list a coordinator and its standbys separated by blanks; empty: no remote bots.",
    )
    remote_latency_ms: float = Field(
        300.0, ge=0, le=5000, description="Network latency that is not charged to a remote bot, per move, in ms."
    )
    remote_latency_game_ms: float = Field(
        30_000.0, ge=0, description="Network latency that is not charged to a remote bot, per game, in ms."
    )
    remote_grace_seconds: float = Field(
        30.0, ge=0, le=3600, description="Seconds for which a remote bot may be disconnected during a game."
    )
    remote_slots: int = Field(
        2,
        ge=1,
        le=256,
        description="Limit on concurrent games of remote bots. The coordinator's machine plays them, even if a cluster "
        "plays all others.",
    )
    max_remote_games: int = Field(16, ge=1, le=64, description="Limit on games at once per remote bot.")

    # -- monitoring ----------------------------------------------------------------------------------------------------
    metrics: ListenAddress = Field(
        "",
        description="Address where `arena referee` serves its metrics: PORT (on 127.0.0.1) or HOST:PORT; empty: none.",
    )
    metrics_from: Networks = Field(
        default_factory=list,
        description="Addresses and networks that may read /metrics of the web server without an admin's token.",
    )
    public_hosts: bool = Field(
        False, description="Show the host names of coordinators and workers to everybody, not only to organisers."
    )

    # -- limits of requests and connections ----------------------------------------------------------------------------
    # These limits hold for all web processes together.
    reads_per_minute: int = Field(600, ge=1, description="Rate limit of requests that read, per user or IP address.")
    writes_per_minute: int = Field(60, ge=1, description="Rate limit of requests that write, per user.")
    pages_per_minute: int = Field(1200, ge=1, description="Rate limit of pages and page fragments, per IP address.")
    uploads_per_minute: int = Field(6, ge=1, description="Rate limit of uploads, per user.")
    registrations_per_hour: int = Field(
        10, ge=1, description="Rate limit of registrations and of requests to reset a password, per IP address."
    )
    logins_per_minute: int = Field(6, ge=1, description="Rate limit of failed log-ins, per name and per IP address.")
    # Those below hold for each web process by itself.
    connections_per_address: int = Field(
        256, ge=1, description="Open connections of a web process per IP address; trusted proxies have no limit."
    )
    streams_per_client: int = Field(20, ge=1, description="Open event streams of a web process per user or IP address.")
    max_connections: int = Field(
        12_000, ge=10, description="Open connections of a web process; the system's limit on open files must be higher."
    )
    max_streams: int = Field(
        10_000, ge=1, description="Open event streams of a web process; each takes about 30 kB of memory."
    )

    # -- features ------------------------------------------------------------------------------------------------------
    disabled_features: list[str] = Field(
        default_factory=list,
        description="Features to leave out, such as problems; all: the arena without any. Their pages, operations "
        "and background work are gone, and what they have stored is kept. Their commands are gone if the environment "
        "sets it.",
    )

    # -- logs ----------------------------------------------------------------------------------------------------------
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Lowest level that is logged.")
    log_format: Literal["auto", "text", "json"] = Field(
        "auto", description="Log format; auto: text on a terminal, otherwise JSON."
    )

    # -- checks --------------------------------------------------------------------------------------------------------

    @field_validator("data")
    @classmethod
    def _expand(cls, path: Path) -> Path:
        return path.expanduser()

    @model_validator(mode="after")
    def _has_address_for_workers(self) -> Self:
        if self.worker_bundles == "arena" and not self.public_url:
            raise ValueError(
                "worker_bundles is arena: set public_url to the address by which workers reach this server"
            )
        return self

    @model_validator(mode="after")
    def _can_mail(self) -> Self:
        if self.smtp and not (self.public_url and is_mail_address(self.mail_from)):
            raise ValueError("smtp needs public_url, and mail_from with an address such as arena@arena.example")
        return self

    # -- derived from them ---------------------------------------------------------------------------------------------

    @property
    def database_url(self) -> str:
        """Database URL; SQLite in the data folder unless `database` is set."""
        return self.database or f"sqlite:///{(self.data / 'arena.sqlite3').resolve()}"

    @property
    def is_clustered(self) -> bool:
        """True if workers of a cluster play the games."""
        return not self.executor.startswith("local")

    @property
    def bundles_url(self) -> str:
        """Path or URL of the bundle storage."""
        return self.bundles or str((self.data / "bundles").resolve())

    @property
    def spool_folder(self) -> Path:
        """Folder of results not yet committed to the database."""
        return (Path(self.spool).expanduser() if self.spool else self.data / "spool").resolve()

    @property
    def backups_folder(self) -> Path:
        """Folder of the SQLite backups: by default in the data folder, better on another disk."""
        return Path(self.backups).expanduser() if self.backups else self.data / "backups"

    @property
    def named_file(self) -> Path | None:
        """The settings file that the command line or the environment named."""
        return self._named_file

    @property
    def guest_slots(self) -> int:
        """Maximum of the `human_slots` that people without an account may use at once."""
        # A quarter, rounded up, is kept for people with an account; a single slot is open to everybody.
        return max(min(1, self.human_slots), 3 * self.human_slots // 4)

    @property
    def is_https(self) -> bool:
        """True if the public address uses https."""
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
        """Return the sources in order: command line, environment, file."""
        # The table of the file comes from `combined`, as the file is chosen at run time.
        assert isinstance(init_settings, InitSettingsSource)
        given = dict(init_settings.init_kwargs)
        file: dict[str, Any] = given.pop("__file__", {})
        return InitSettingsSource(settings_cls, given), env_settings, InitSettingsSource(settings_cls, file)

    @classmethod
    def combined(cls, given: dict[str, Any], table: dict[str, Any], named_file: Path | None) -> Self:
        """Return the settings of the command line, the environment and the table of a file. Raises ValidationError."""
        settings = cls(**{**given, "__file__": table})
        settings._named_file = named_file
        return settings
