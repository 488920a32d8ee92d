#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Configures and builds targets of a preset. The output goes to build/logs; it is shown on failure.
# usage: build.sh PRESET [TARGET...]
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# run NAME COMMAND...: one line with the duration, or the end of the log.
run() {
    local log=build/logs/${1//[^a-z0-9]/_}.log start=$SECONDS
    printf '%s ... ' "$1"
    if ! "${@:2}" >"$log" 2>&1 </dev/null; then
        printf 'failed\n'
        tail -n 100 "$log"
        printf 'The whole output is in %s.\n' "$log" >&2
        return 1
    fi
    printf '%d s\n' "$((SECONDS - start))"
}

preset=${1:?usage: build.sh PRESET [TARGET...]}
shift
if ! grep -q "\"configurePreset\": \"$preset\"" CMakePresets.json; then
    echo "build: there is no preset called $preset. Run: cmake --list-presets" >&2
    exit 2
fi
mkdir -p build/logs
run "$preset: configure" cmake --preset "$preset"
run "$preset: build" cmake --build --preset "$preset" ${1+--target "$@"}
