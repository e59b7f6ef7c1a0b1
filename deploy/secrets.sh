#!/usr/bin/env bash
# Create the secrets of compose.yaml in deploy/secrets/ (or the given folder): passwords, the settings file that
# contains them, the broker's password file, and a self-signed certificate if there is none yet.
# Existing files are not changed, so you can run it again.
#
#   deploy/secrets.sh [FOLDER]        needs openssl, and mosquitto_passwd (package mosquitto)
set -euo pipefail
cd "$(dirname "$0")"
FOLDER=${1:-secrets}
HOST=$(sed -n 's|^ARENA_PUBLIC_URL=https\{0,1\}://\([^:/]*\).*|\1|p' .env 2>/dev/null | tail -n 1)
HOST=${HOST:-localhost}
for program in openssl mosquitto_passwd; do
    command -v $program >/dev/null || {
        echo "secrets.sh: $program is not installed; apt-get install openssl mosquitto" >&2
        exit 3
    }
done
mkdir -p "$FOLDER"
# Other users cannot enter the folder. The files themselves are readable, since containers run as other users.
chmod 0700 "$FOLDER"
umask 0022
secret() { openssl rand -hex 24; }
keep() { # write stdin into a file atomically, unless it exists
    if [ -e "$FOLDER/$1" ]; then
        echo "$FOLDER/$1 (left as it is)"
        cat >/dev/null
    else
        cat >"$FOLDER/$1.new"
        mv "$FOLDER/$1.new" "$FOLDER/$1"
        echo "$FOLDER/$1"
    fi
}
secret | keep database_password
secret | keep broker_password
secret | keep spectator_password
printf 'arena:%s\nspectator:%s\n' "$(cat "$FOLDER/broker_password")" "$(cat "$FOLDER/spectator_password")" >"$FOLDER/plain"
mosquitto_passwd -U "$FOLDER/plain"
keep broker_passwords <"$FOLDER/plain"
rm "$FOLDER/plain"
keep arena.toml <<TOML
# Settings with passwords; the others are in compose.yaml and have priority.
database = "postgresql+psycopg://arena:$(cat "$FOLDER/database_password")@database/arena"
mqtt = "mqtt://arena:$(cat "$FOLDER/broker_password")@broker:1883"
TOML
if [ ! -e "$FOLDER/tls.crt" ]; then
    openssl req -x509 -newkey rsa:2048 -nodes -days 365 -subj "/CN=$HOST" -addext "subjectAltName=DNS:$HOST" \
        -keyout "$FOLDER/tls.key" -out "$FOLDER/tls.crt" 2>/dev/null
    chmod 0644 "$FOLDER/tls.key"
    echo "$FOLDER/tls.crt, tls.key: signed by itself for $HOST; put those of an authority in their place"
fi
# Filled by `arena user token` once the database exists; containers start only if the files exist.
for name in worker_token metrics_token; do
    [ -e "$FOLDER/$name" ] || : >"$FOLDER/$name"
done
