#!/usr/bin/env bash
# The whole topology as plain processes on this machine, on free ports: PostgreSQL, Mosquitto, Dask scheduler, two
# workers, referee, pages, nginx where it is installed. Makes an administrator, submits two bots, plays a tournament
# through the interface, checks ratings and games, tests backup and restore, and ends what it started.
#
#   deploy/smoke.sh            print a report and exit with 0, or print the ends of the logs
#   deploy/smoke.sh --keep     leave it running until Ctrl-C, and print the addresses
#
# If you are root, PostgreSQL runs as the user postgres, as it requires; everything else runs as you.
set -euo pipefail

usage() { sed -n '2,9s/^# \{0,1\}//p' "$0"; }
KEEP=
for word; do
    case $word in
    --keep) KEEP=1 ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
    esac
done

ROOT=$(cd "$(dirname "$0")/.." && pwd)
PYTHON=${PYTHON:-$ROOT/.venv/bin/python}
GAMES=8 # of two bots, whose sides are swapped after each
BEGAN=$SECONDS

say() { printf '%4d s  %s\n' $((SECONDS - BEGAN)) "$*"; }
find_program() {
    command -v "$1" || ls /usr/sbin/"$1" /usr/local/sbin/"$1" 2>/dev/null | head -n 1 || true
}
need() {
    [ -n "$2" ] || {
        echo "smoke: $1 is not installed; $3" >&2
        exit 3
    }
}
PG=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1 || true)
[ -n "$PG" ] || PG=$(dirname "$(command -v initdb || true)" 2>/dev/null | sed 's|^\.$||')
MOSQUITTO=$(find_program mosquitto) SUBSCRIBE=$(find_program mosquitto_sub) NGINX=$(find_program nginx)
need python "$([ -x "$PYTHON" ] && echo yes)" "\`make test\` makes the environment, or set PYTHON"
need postgresql "$PG" "apt-get install postgresql"
need mosquitto "$MOSQUITTO" "apt-get install mosquitto"
need mosquitto_sub "$SUBSCRIBE" "apt-get install mosquitto-clients"
[ -z "$NGINX" ] || need openssl "$(command -v openssl || true)" "apt-get install openssl"

# Discard the caller's own settings.
for name in $(compgen -e ARENA_ || true); do unset "$name"; done
unset PGHOST PGPORT PGUSER PGDATABASE PGPASSWORD PGSERVICE

WORK=$(mktemp -d "${TMPDIR:-/tmp}/arena-smoke.XXXXXX")
chmod 0711 "$WORK" # the user postgres and bots traverse it
mkdir "$WORK/logs" "$WORK/client"
mkdir -m 1777 "$WORK/tmp"
export TMPDIR=$WORK/tmp # temporary files of other programs are removed with it
NAMES=() PIDS=()

# Start a program in the background: its name, whether it runs as postgres, its command. Its output is in logs/NAME.
launch() {
    local name=$1
    shift
    # In a session of its own, so that Ctrl-C reaches only this script, which then ends them one after the other.
    setsid "$@" >"$WORK/logs/$name" 2>&1 </dev/null &
    NAMES+=("$name")
    PIDS+=($!)
}

# End the started programs: first all parts of the arena, then (`others`) the services they use. Programs that do not
# end within 50 s are killed.
stop() {
    local index told=() end=$((SECONDS + 50))
    for ((index = ${#PIDS[@]} - 1; index >= 0; index--)); do
        case $1-${NAMES[index]} in arena-postgres | arena-mosquitto | arena-scheduler) continue ;; esac
        if kill -TERM "${PIDS[index]}" 2>/dev/null; then told+=("$index"); fi
    done
    for index in "${told[@]}"; do
        while kill -0 "${PIDS[index]}" 2>/dev/null && [ $SECONDS -lt $end ]; do sleep 0.05; done
        if kill -KILL "${PIDS[index]}" 2>/dev/null; then
            echo "smoke: ${NAMES[index]} did not end on SIGTERM" >&2
            [ "$code" != 0 ] || code=1
        fi
        wait "${PIDS[index]}" 2>/dev/null || true
    done
}
finish() {
    local code=$?
    trap - EXIT
    trap '' INT TERM
    if [ "$code" != 0 ]; then
        echo "smoke: failed; the ends of the logs:" >&2
        for file in "$WORK"/logs/*; do
            printf '\n== %s\n' "${file##*/}" >&2
            tail -n 15 "$file" | cut -c 1-500 >&2
        done
    fi
    stop arena
    stop others
    # Every process below has the folder on its command line or in its environment: none may be left.
    # A process that was killed with its parent may take a moment to end.
    local left end=$((SECONDS + 20))
    while left=$(remaining) && [ -n "$left" ] && [ $SECONDS -lt $end ]; do sleep 0.1; done
    if [ -n "$left" ]; then
        echo "smoke: left behind: $left" >&2
        [ "$code" != 0 ] || code=1
    fi
    rm -rf "$WORK"
    [ "$code" != 0 ] || say "all processes have ended"
    exit "$code"
}
remaining() { # the pattern must not match the searching process itself
    grep -lsaF -f - /proc/[0-9]*/cmdline <<<"$WORK/" | sed 's|/proc/\([0-9]*\)/cmdline|\1|' | tr '\n' ' ' || true
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Try a command until it succeeds: seconds, what it waits for, the command.
await() {
    local seconds=$1 what=$2 end=$((SECONDS + $1)) index
    shift 2
    until "$@" >/dev/null 2>&1; do
        for index in "${!PIDS[@]}"; do
            if ! kill -0 "${PIDS[index]}" 2>/dev/null; then
                echo "smoke: ${NAMES[index]} has ended while waiting for $what" >&2
                exit 1
            fi
        done
        if [ $SECONDS -ge $end ]; then
            echo "smoke: no $what within $seconds s" >&2
            exit 1
        fi
        sleep 0.3
    done
}
arena() { "$PYTHON" -m arena "$@"; }
secret() { "$PYTHON" -c 'import secrets; print(secrets.token_hex(16))'; }
answers() { (: <"/dev/tcp/127.0.0.1/$1"); }
fetch() { # fetch an address of the pages without the proxy, optionally with a token
    "$PYTHON" - "$@" <<'PYTHON'
import sys, urllib.request
request = urllib.request.Request(sys.argv[1], headers={"Authorization": f"Bearer {t}"} if (t := "".join(sys.argv[2:])) else {})
sys.stdout.write(urllib.request.urlopen(request, timeout=10).read().decode())
PYTHON
}

# The arena of that Python's environment, from any folder.
cd "$WORK"
# No ladder and no analyses: ratings and rows stay as they are while a backup is restored, and no idle core is taken.
export PYTHONUNBUFFERED=1 ARENA_LOG_FORMAT=json ARENA_LADDER_TIME_CONTROL= ARENA_ANALYSIS_GAMES_PER_DAY=0
read -r PG_PORT MQTT_PORT DASK_PORT WEB_PORT HTTP_PORT HTTPS_PORT METRICS_PORT < <("$PYTHON" - <<'PYTHON'
import random, socket
free = []
# Below the kernel's ephemeral ports, one of which another program could take before it is used.
for port in random.sample(range(10_000, 32_000), 1_000):
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        continue
    free.append(port)
    if len(free) == 7:
        break
print(*free)
PYTHON
)

# Takes a second or two if the kernels are compiled already; without them no bot would be ready in time.
arena -q warmup loa >"$WORK/logs/warmup" 2>&1
say "kernels compiled"

# -- PostgreSQL, with a password --------------------------------------------------------------------------------------
mkdir "$WORK/pg"
PG_PASSWORD=$(secret)
echo "$PG_PASSWORD" >"$WORK/pg/password"
AS=()
if [ "$(id -u)" = 0 ]; then
    chown -R postgres "$WORK/pg"
    AS=(setpriv --reuid postgres --regid postgres --init-groups --)
fi
chmod 0700 "$WORK/pg"
"${AS[@]}" "$PG/initdb" -D "$WORK/pg/data" -U arena -A scram-sha-256 --pwfile "$WORK/pg/password" --no-sync -E UTF8 \
    --locale=C.UTF-8 >"$WORK/logs/initdb" 2>&1
launch postgres "${AS[@]}" "$PG/postgres" -D "$WORK/pg/data" -c listen_addresses=127.0.0.1 -p "$PG_PORT" \
    -c unix_socket_directories= -c fsync=off
export PGPASSWORD=$PG_PASSWORD
PG_URL=postgresql://arena@127.0.0.1:$PG_PORT
await 60 "answer from PostgreSQL" "$PG/psql" -q "$PG_URL/postgres" -c "CREATE DATABASE arena"
say "PostgreSQL on port $PG_PORT"

# -- Mosquitto, with the ACL of deploy/ and passwords -----------------------------------------------------------------
MQTT_PASSWORD=$(secret) VIEW_PASSWORD=$(secret)
mkdir "$WORK/mqtt"
printf 'arena:%s\nspectator:%s\n' "$MQTT_PASSWORD" "$VIEW_PASSWORD" >"$WORK/mqtt/passwords"
mosquitto_passwd -U "$WORK/mqtt/passwords"
sed -e "s|^listener 1883.*|listener $MQTT_PORT 127.0.0.1|; s|/etc/mosquitto/arena.passwd|$WORK/mqtt/passwords|" \
    -e "s|/etc/mosquitto/arena.acl|$ROOT/deploy/mosquitto.acl|; s|/var/lib/mosquitto/|$WORK/mqtt/|" \
    "$ROOT/deploy/mosquitto.conf" >"$WORK/mqtt/mosquitto.conf"
[ "$(id -u)" != 0 ] || echo "user root" >>"$WORK/mqtt/mosquitto.conf"
launch mosquitto "$MOSQUITTO" -c "$WORK/mqtt/mosquitto.conf"
await 60 "answer from Mosquitto" answers "$MQTT_PORT"
"$SUBSCRIBE" -p "$MQTT_PORT" -u spectator -P "$VIEW_PASSWORD" -t 'arena/v1/#' -F '%t' >"$WORK/heard" 2>"$WORK/logs/spectator" &
NAMES+=(spectator) PIDS+=($!)
say "Mosquitto on port $MQTT_PORT"

# -- the arena: one settings file, as deployed ------------------------------------------------------------------------
mkdir "$WORK/arena" "$WORK/store"
cat >"$WORK/arena/arena.toml" <<TOML
database = "postgresql+psycopg://arena:$PG_PASSWORD@127.0.0.1:$PG_PORT/arena"
mqtt = "mqtt://arena:$MQTT_PASSWORD@127.0.0.1:$MQTT_PORT"
executor = "tls://127.0.0.1:$DASK_PORT"
cluster_ca = "$WORK/cluster/ca.pem"
cluster_cert = "$WORK/cluster/referee.pem"
cluster_key = "$WORK/cluster/referee.key"
bundles = "$WORK/store/bundles"
dump_folder = "$WORK/store/dumps"
worker_bundles = "http://127.0.0.1:$WEB_PORT"
port = $WEB_PORT
public_url = "https://localhost:$HTTPS_PORT"
trusted_proxies = ["127.0.0.1"]
metrics = "127.0.0.1:$METRICS_PORT"
TOML
chmod 0600 "$WORK/arena/arena.toml"
unset PGPASSWORD
CONFIG=(--data "$WORK/arena" --config "$WORK/arena/arena.toml")
arena -q init "${CONFIG[@]}" --json >"$WORK/admin.json"
TOKEN=$("$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["admin"]["token"])' <"$WORK/admin.json")
WORKER_TOKEN=$(arena -q user token admin --scopes worker --label workers "${CONFIG[@]}")
say "tables and an administrator created"

launch serve "$PYTHON" -m arena serve --no-referee "${CONFIG[@]}"
arena -q scheduler --init-tls "$WORK/cluster" >/dev/null
certificates() { # the settings of a role as variables
    printf '%s\n' "ARENA_CLUSTER_CA=$WORK/cluster/ca.pem" "ARENA_CLUSTER_CERT=$WORK/cluster/$1.pem" \
        "ARENA_CLUSTER_KEY=$WORK/cluster/$1.key"
}
mapfile -t OF_SCHEDULER < <(certificates scheduler)
mapfile -t OF_WORKER < <(certificates worker)
launch scheduler env "${OF_SCHEDULER[@]}" "$PYTHON" -m arena scheduler --tls --bind 127.0.0.1 --port "$DASK_PORT"
await 60 "answer from the scheduler" answers "$DASK_PORT"
for number in 1 2; do
    launch "worker$number" env "${OF_WORKER[@]}" ARENA_WORKER_TOKEN="$WORKER_TOKEN" "$PYTHON" -m arena worker \
        --scheduler "tls://127.0.0.1:$DASK_PORT" --slots 1 --data "$WORK/worker$number" --name "worker$number" --no-warm
done
launch referee "$PYTHON" -m arena referee "${CONFIG[@]}"
await 60 "pages" fetch "http://127.0.0.1:$WEB_PORT/healthz"
has_referee() { fetch "http://127.0.0.1:$WEB_PORT/readyz" | grep -q '"referee": "ok"'; }
await 60 "referee" has_referee
say "pages, scheduler, two workers and a referee"

# -- the proxy ---------------------------------------------------------------------------------------------------------
export ARENA_TOKEN=$TOKEN ARENA_SERVER=http://127.0.0.1:$WEB_PORT XDG_CONFIG_HOME=$WORK/client
if [ -n "$NGINX" ]; then
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
        -keyout "$WORK/tls.key" -out "$WORK/tls.crt" 2>"$WORK/logs/openssl"
    mkdir "$WORK/nginx"
    sed -e "s|/tmp/|$WORK/nginx/|; s|/run/secrets/|$WORK/|; s|arena:8000|127.0.0.1:$WEB_PORT|" \
        -e "s|listen 8080|listen 127.0.0.1:$HTTP_PORT|; s|listen 8443|listen 127.0.0.1:$HTTPS_PORT|" \
        "$ROOT/deploy/nginx.conf" >"$WORK/nginx/nginx.conf"
    launch nginx "$NGINX" -c "$WORK/nginx/nginx.conf" -p "$WORK/nginx" -e stderr -g 'daemon off;'
    await 60 "answer from nginx" answers "$HTTPS_PORT"
    export ARENA_SERVER=https://localhost:$HTTPS_PORT SSL_CERT_FILE=$WORK/tls.crt
    if fetch "$ARENA_SERVER/metrics" >/dev/null 2>&1; then
        echo "smoke: the proxy shows /metrics to all clients" >&2
        exit 1
    fi
    say "nginx with TLS on port $HTTPS_PORT"
else
    say "nginx is not installed: using the pages directly"
fi

# -- two bots, a tournament -------------------------------------------------------------------------------------------
submitting=()
# These bots think briefly, so interpreted rules are fast enough where the referee uses them too.
RUN=${NUMBA_DISABLE_JIT:+\"env\", \"NUMBA_DISABLE_JIT=1\", }
for bot in random:random_mover greedy:greedy; do
    folder=$WORK/bots/${bot%%:*}
    mkdir -p "$folder"
    cat >"$folder/bot.toml" <<TOML
families = ["loa"]
command = [$RUN"python", "-m", "bots.samples.${bot##*:}", "--family", "loa"]
TOML
    timeout 300 "$PYTHON" -m arena -q bot submit "$folder" --name "smoke-${bot%%:*}" --watch >>"$WORK/submitted" 2>&1 &
    submitting+=($!)
done
for pid in "${submitting[@]}"; do
    wait "$pid" || {
        echo "smoke: not both bots passed their check within 300 s:" >&2
        cat "$WORK/submitted" >&2
        exit 1
    }
done
say "$(wc -l <"$WORK/submitted") bots submitted, checked and active"
cat >"$WORK/cup.toml" <<TOML
name = "smoke"
family = "loa"
games = $GAMES
time_control = "nodes:100"
[entries]
bots = ["smoke-random", "smoke-greedy"]
[adjudication]
max_plies = 80
TOML
CUP=$(arena tournament create "$WORK/cup.toml" --json | "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["id"])')
played_from=$SECONDS
timeout 300 "$PYTHON" -m arena tournament watch "$CUP" -o ndjson >"$WORK/watched" || {
    echo "smoke: the tournament did not end" >&2
    exit 1
}
PLAYED=$((SECONDS - played_from))
say "the tournament has ended"

# -- is it right? ------------------------------------------------------------------------------------------------------
arena -q leaderboard loa >"$WORK/leaderboard"
for bot in random greedy; do
    grep -q "smoke-$bot v1" "$WORK/leaderboard" || {
        echo "smoke: smoke-$bot is not on the leaderboard" >&2
        exit 1
    }
done
FINISHED=$(arena tournament show "$CUP" --json | "$PYTHON" -c '
import json, sys
found = json.load(sys.stdin)
assert found["state"] == "finished", found["state"]
print(found["finished_games"])')
[ "$FINISHED" = "$GAMES" ] || {
    echo "smoke: $FINISHED games with a result, $GAMES were to be played" >&2
    exit 1
}
has_heard() { [ "$(grep -c "^arena/v1/tournaments/$CUP/games$" "$WORK/heard")" -ge "$GAMES" ] && grep -q "^arena/v1/tournaments/$CUP/state$" "$WORK/heard"; }
await 60 "news of all results over the broker" has_heard
arena ratings rebuild --check "${CONFIG[@]}" >"$WORK/ratings"
arena verify --all "${CONFIG[@]}" >"$WORK/verified"
for metric in arena_referee_acting arena_referee_up; do
    fetch "http://127.0.0.1:$METRICS_PORT/metrics" | grep -q "^$metric 1" || {
        echo "smoke: the referee does not show $metric 1 at /metrics" >&2
        exit 1
    }
done
fetch "http://127.0.0.1:$WEB_PORT/metrics" "$TOKEN" | grep -q '^arena_referee_up 1' || {
    echo "smoke: the pages do not show arena_referee_up 1 at /metrics" >&2
    exit 1
}
say "leaderboard, ratings, games, news and metrics are right"

# -- backup, restored into another PostgreSQL database and into SQLite -----------------------------------------------------
arena -q db dump "$WORK/arena.ndjson.zst" "${CONFIG[@]}" --json >"$WORK/dumped"
export PGPASSWORD=$PG_PASSWORD
"$PG/pg_dump" -Fc -f "$WORK/arena.pgdump" "$PG_URL/arena"
tar -C "$WORK/store" -cf "$WORK/bundles.tar" bundles
"$PG/psql" -q "$PG_URL/postgres" -c "CREATE DATABASE restored"
"$PG/pg_restore" --exit-on-error --no-owner -d "$PG_URL/restored" "$WORK/arena.pgdump"
mkdir "$WORK/restored"
arena -q db load "$WORK/arena.ndjson.zst" --data "$WORK/restored" --json >"$WORK/loaded"
tar -C "$WORK/restored" -xf "$WORK/bundles.tar"
diff -r "$WORK/store/bundles" "$WORK/restored/bundles"
rows() { "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["rows"])' <"$1"; }
[ "$(rows "$WORK/dumped")" = "$(rows "$WORK/loaded")" ]
for place in "--database postgresql+psycopg://arena@127.0.0.1:$PG_PORT/restored" "--data $WORK/restored"; do
    # shellcheck disable=SC2086 # two words
    arena -q ratings rebuild --check $place >"$WORK/ratings-again"
    cmp "$WORK/ratings" "$WORK/ratings-again" >&2 || {
        echo "smoke: restored by $place, the ratings differ" >&2
        exit 1
    }
done
unset PGPASSWORD
say "backed up, and restored: by pg_restore into PostgreSQL, by arena db load into SQLite, bundles by tar"

echo
cat "$WORK/leaderboard"
echo
printf '%s\n' \
    "games       $FINISHED of $GAMES in $PLAYED s, $(tail -n 1 "$WORK/verified")" \
    "ratings     $(tail -n 1 "$WORK/ratings")" \
    "news        $(wc -l <"$WORK/heard") messages heard, $(grep -c '/games$' "$WORK/heard") of them results" \
    "backup      $(rows "$WORK/dumped") rows, $(stat -c %s "$WORK/arena.ndjson.zst") bytes by arena db dump, $(stat -c %s "$WORK/arena.pgdump") by pg_dump" \
    "proxy       ${NGINX:-none}"

if [ -n "$KEEP" ]; then
    cat <<TEXT

Running until Ctrl-C. In $WORK are the settings (arena/arena.toml) and the logs (logs/).
  pages       $ARENA_SERVER   (user admin, password $("$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["admin"]["password"])' <"$WORK/admin.json"))
  token       $TOKEN
  news        mosquitto_sub -p $MQTT_PORT -u spectator -P $VIEW_PASSWORD -t 'arena/v1/#' -v
TEXT
    trap 'exit 0' INT TERM
    sleep infinity &
    NAMES+=(sleep) PIDS+=($!)
    wait $!
fi
