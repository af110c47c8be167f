#!/bin/sh
# The outside judges of an audit's reports: the schemas of JUnit and SARIF, Prometheus's own parser, and for pages a headless Chromium.
# ASSETVAULT_COMMAND names the command; without it, it is built.
set -eu
cd "$(dirname "$0")/../../.."
# shellcheck source=Samples/prerequisites.sh
. Samples/prerequisites.sh
need_packages python3 python3-venv chromium fonts-dejavu-core
if [ -z "${ASSETVAULT_COMMAND:-}" ]; then
    build_command
    # shellcheck disable=SC2154 # from prerequisites.sh
    export ASSETVAULT_COMMAND="$assetvault"
fi
venv=$PWD/.build-judges-of-reports
[ -e "$venv/complete" ] || {
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r Tests/Interop/report/requirements.txt
    touch "$venv/complete"
}
PYTHONDONTWRITEBYTECODE=1 exec "$venv/bin/python" -m pytest -q -p no:cacheprovider Tests/Interop/report
