#!/bin/sh
# Plants faults in a copy of the sources, and expects the tests named beside them to fail: `run.sh [ROUND...]`.
# The faults of a round are planted together, since a build takes minutes; all rounds take about an hour.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=Samples/prerequisites.sh
. Samples/prerequisites.sh
need_swift
# shellcheck disable=SC2086,SC2154 # a list of words, from prerequisites.sh
need_packages $build_packages python3 rclone rsync strace
exec python3 Tests/PlantedFaults/plant.py Tests/PlantedFaults/faults.txt "$@"
