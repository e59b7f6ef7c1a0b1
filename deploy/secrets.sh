#!/usr/bin/env bash
# Create the secrets of compose.yaml in deploy/secrets/ (or the given folder): passwords, the settings file that
# contains them, the broker's password file, the certificates of the cluster, and a self-signed certificate of the
# pages if there is none yet.
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
(umask 0077 && printf 'arena:%s\nspectator:%s\n' "$(cat "$FOLDER/broker_password")" "$(cat "$FOLDER/spectator_password")" >"$FOLDER/plain")
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
# Certificates of scheduler, referee and workers, as `arena scheduler --init-tls` makes them. Move cluster-ca.key to a
# safe place: it signs those of further machines.
if [ ! -e "$FOLDER/cluster-ca.pem" ]; then
    KEY="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
    openssl req -x509 $KEY -days 3650 -subj "/CN=arena cluster" \
        -keyout "$FOLDER/cluster-ca.key" -out "$FOLDER/cluster-ca.new" 2>/dev/null
    for role in scheduler referee worker; do
        openssl req $KEY -subj "/CN=$role" -keyout "$FOLDER/cluster-$role.key" -out "$FOLDER/csr" 2>/dev/null
        openssl x509 -req -in "$FOLDER/csr" -CA "$FOLDER/cluster-ca.new" -CAkey "$FOLDER/cluster-ca.key" \
            -set_serial "0x$(openssl rand -hex 16)" -days 3650 -out "$FOLDER/cluster-$role.pem" 2>/dev/null
        chmod 0644 "$FOLDER/cluster-$role.key"
    done
    rm "$FOLDER/csr"
    chmod 0600 "$FOLDER/cluster-ca.key"
    mv "$FOLDER/cluster-ca.new" "$FOLDER/cluster-ca.pem"
    echo "$FOLDER/cluster-*.pem, cluster-*.key: certificates of the cluster; keep cluster-ca.key elsewhere"
fi
# Filled by `arena user token` once the database exists; containers start only if the files exist.
for name in worker_token metrics_token; do
    [ -e "$FOLDER/$name" ] || : >"$FOLDER/$name"
done
