#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Builds and runs benchmarks: `./dev bench [AREA] [OPTIONS]`. bench/README.md describes them.
set -euo pipefail

# File names on the command line are relative to the caller's directory.
caller_directory=${EVENTLOG_CALLER_DIRECTORY:-$PWD}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
programs=$root/build/release/bench
elog=$root/build/release/elog/elog

area=all
case ${1-} in
    emit | threads | peers | rates | memory | reading | tracing | compile)
        area=$1
        shift
        ;;
    --vm)
        area=user_events
        shift
        ;;
    --kernel)
        area=kernel
        shift
        ;;
esac

# Only these areas measure peers.
packages=build
case $area in
    all | peers | reading) packages=bench ;;
esac
scripts/setup.sh "$packages" || echo 'bench: continues without the packages that are missing' >&2

for word in "$@"; do
    if [[ $word == --against || $word == --against=* ]]; then
        cd "$caller_directory"
        # It builds both trees, after it has checked the command line.
        exec python3 -B "$root/bench/against.py" "$area" "$@"
    fi
done

script=$root/bench/$area.py
words=(--elog "$elog" --programs "$programs")
targets=(bench_programs elog)
case $area in
    compile)
        script=$root/bench/compile_time.py
        words=()
        targets=()
        ;;
    kernel) targets=(kernel_bench batch_bench) ;;
    user_events)
        words=(--program "$programs/user_events_bench")
        targets=(user_events_bench)
        ;;
esac
if ((${#targets[@]})); then
    scripts/build.sh release "${targets[@]}"
fi

cd "$caller_directory"
if [[ $area == emit ]]; then
    exec "$programs/eventlog_bench" "$@"
fi
exec python3 -B "$script" "${words[@]}" "$@"
