#!/bin/sh
# The steps of the image without an engine: builds a wheel of these sources, installs it into a new environment, serves an
# empty store as somebody who is not root, asks it, and stops it. Says what failed and ends with 1, or "works".
#
#   sh deploy/try.sh [PYTHON]        needs a package index; PYTHON is python3 when left out
set -eu

python=${1:-python3}
sources=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d)
port=8719
server=

say() { echo "try: $*"; }
fail() { say "failed: $*"; cat "$place/log" 2>/dev/null || true; exit 1; }
end() {
    # Not at once by force: its workers would stay and hold the port.
    if [ -n "$server" ]; then kill -TERM "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
    rm -rf "$place"
}
trap end EXIT

say "a wheel of $sources"
"$python" -m venv "$place/build"
"$place/build/bin/pip" install --quiet --disable-pip-version-check build
"$place/build/bin/python" -m build --wheel --outdir "$place/wheels" "$sources" > "$place/log" 2>&1 || fail "the wheel"

say "into an environment of its own"
"$python" -m venv "$place/ltm"
wheel=$(ls "$place"/wheels/*.whl)
"$place/ltm/bin/pip" install --quiet --disable-pip-version-check "${wheel}[server,mcp,crypto]" > "$place/log" 2>&1 || fail "the installation"
"$place/ltm/bin/python" -c "from ltm_core.embed.resolve import resolve_embedder; e = resolve_embedder(None); assert e.embed_query('Where do I live?').any()" || fail "the model"

mkdir "$place/data"
chmod 755 "$place"
as_user=
if [ "$(id -u)" = 0 ]; then
    id ltm > /dev/null 2>&1 || useradd --system --no-create-home --shell /usr/sbin/nologin ltm
    chown ltm "$place/data"
    as_user="setpriv --reuid=ltm --regid=$(id -g ltm) --clear-groups"
fi
chmod 700 "$place/data"
$as_user "$place/ltm/bin/python" -c "" || fail "ltm cannot run $python: name one outside of a home directory"

say "served by $( [ -n "$as_user" ] && echo ltm || id -un )"
cd "$place/data"
env -i PATH="$place/ltm/bin:/usr/bin:/bin" HOME="$place/data" LTM_STORE="$place/data" LTM_SERVE_PORT=$port OMP_NUM_THREADS=1 PYTHONUNBUFFERED=1 \
    $as_user ltm serve --workers 2 > "$place/log" 2>&1 &
server=$!
cd /

ask() { # VERB PATH [KEY BODY]: the answer's status and text
    "$place/ltm/bin/python" - "$@" <<'PYTHON'
import sys, urllib.error, urllib.request
verb, path, key, body = (*sys.argv[1:], "", "")[:4]
headers = {"Content-Type": "application/json", "LTM-User": "ana", **({"Authorization": "Bearer " + key} if key else {})}
request = urllib.request.Request("http://127.0.0.1:8719" + path, method=verb, data=body.encode() or None, headers=headers)
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
try:
    with opener.open(request, timeout=30) as answer:
        print(answer.status, answer.read().decode())
except urllib.error.HTTPError as e:
    print(e.code, e.read().decode())
except OSError as e:
    print(0, e)
PYTHON
}

tries=0
until ask GET /ready | grep -q '^200 '; do
    tries=$((tries + 1))
    [ $tries -lt 60 ] && kill -0 $server 2>/dev/null || fail "it is not ready"
    sleep 1
done
key=$(grep -o 'ltm_[0-9a-f]*_[A-Za-z0-9_-]*' "$place/log" | head -1)
[ -n "$key" ] || fail "no key was shown"
ask POST /v1/observe | grep -q '^401 \|^422 ' || fail "who shows no key is heard"
ask POST /v1/observe "$key" '{"session_id": "s", "user": "I live in Lisbon."}' | grep -q '^200 ' || fail "observe"
ask POST /v1/context "$key" '{"query": "Where do I live?"}' | grep -q 'Lisbon' || fail "context"
ask GET /page/sign-in | grep -q '^200 ' || fail "the page"
ask GET /metrics "$key" | grep -q 'ltm_messages_total' || fail "metrics"
find "$place/data" -perm /077 \( -name '*.key' -o -name '*.json' -o -name '.*' \) ! -type d | grep . && fail "secrets that others can read"

say "stopped by SIGTERM"
began=$(date +%s)
kill -TERM $server
wait $server || fail "it ended with an error"
server=
took=$(( $(date +%s) - began ))
[ $took -le 30 ] || fail "it took $took s to stop"
ask GET /health | grep -q '^0 ' || fail "something still answers"
say "works (stopped within $took s)"
