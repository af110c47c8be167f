#!/bin/sh
# Everything that is too long for Tests/run.sh: all tests with the release build of the command, power loss, the samples, ten
# minutes of each fuzzer, and the sanitizers. Takes hours; ASSETVAULT_WHOLE=3 runs three times as many random rounds.
# Arguments go to `swift build`.
#
# Not in it, since it needs a quiet machine: Tests/Benchmarks/run.sh.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=Samples/prerequisites.sh
. Samples/prerequisites.sh

echo "== the command, as it is shipped"
unset ASSETVAULT_COMMAND
build_command
export ASSETVAULT_COMMAND="$assetvault"
# shellcheck disable=SC2086,SC2154 # a list of words, from prerequisites.sh
swift build $shipped --product request-peer
REQUEST_PEER="$(dirname "$assetvault")/request-peer"
export REQUEST_PEER

failed=
# part NAME COMMAND...: the others run even when it fails.
part() {
    name=$1
    shift
    echo "== $name"
    "$@" || failed="$failed $name"
}
part tests env ASSETVAULT_WHOLE="${ASSETVAULT_WHOLE:-1}" sh Tests/run.sh "$@"
part power-loss sh Tests/PowerLoss/run.sh
part quickstart sh Samples/quickstart.sh
part teams sh Samples/teams.sh
part maze sh Samples/maze.sh
part tagged sh Samples/tagged.sh
part studio sh Samples/studio.sh
part requests sh Samples/requests.sh
part keyservice sh Samples/keyservice.sh
part reports sh Tests/Interop/report/run.sh
part servers sh Samples/hosting/servers.sh
# Here, as it builds a release app several times.
part embedded sh Samples/embedded.sh
part own-transport sh Tests/OwnTransport/run.sh
part fuzzing sh Tests/Fuzzing/run.sh 600
part planted-faults env -u ASSETVAULT_COMMAND -u REQUEST_PEER sh Tests/PlantedFaults/run.sh
# Without the release command: the sanitizers build their own.
part sanitizing env -u ASSETVAULT_COMMAND -u REQUEST_PEER sh Tests/Sanitizing/run.sh
[ -z "$failed" ] || {
    echo "failed:$failed" >&2
    exit 1
}
