#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The demonstration: shows in half a minute how to observe a running program.
# Needs ELOG, the elog command, and EXAMPLES, the directory of the built examples. Called by ./dev demo.
set -euo pipefail

: "${ELOG:?Set ELOG to the elog command, or run ./dev demo.}"
: "${EXAMPLES:?Set EXAMPLES to the directory of the built examples, or run ./dev demo.}"

# A private directory: it does not list programs of the user, and is removed at the end.
work=$(mktemp -d /dev/shm/eventlog-demo-XXXXXX)
export EVENTLOG_DIR="$work/eventlog"
export ELOG_PAGER=  # the demonstration goes on by itself
service=
# shellcheck disable=SC2317 # called by the trap
clean_up() {
    if [ -n "$service" ]; then
        kill "$service" 2>/dev/null || true
        wait "$service" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap clean_up EXIT

step() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] || step() { printf '\n%s\n' "$*"; }

step "An order service is running: worker threads, payments, retries. It has no listener yet."
"$EXAMPLES/order_service" 30 &
service=$!
for _ in $(seq 100); do
    [ -n "$(ls "$EVENTLOG_DIR/processes" 2>/dev/null)" ] && break
    sleep 0.05
done
echo "process $service"

step "elog list                      # running programs and their events"
"$ELOG" list

step "elog record -e 'shop:payment_retry' --duration 1s      # watch one event, live"
"$ELOG" record -e 'shop:payment_retry' --duration 1s >"$work/live.txt" 2>"$work/live.err"
head -n 5 "$work/live.txt"
echo "..."
cat "$work/live.err"

step "elog record -e 'shop:*' -o run.elog --duration 3s      # record everything for three seconds"
"$ELOG" record -e 'shop:*' -o "$work/run.elog" --duration 3s

step "elog print run.elog | head      # read it"
"$ELOG" print "$work/run.elog" >"$work/run.txt"
head -n 8 "$work/run.txt"

step "elog stat run.elog              # count it"
"$ELOG" stat "$work/run.elog"

step "elog agg 'quantize(took_us) by accepted' --where 'attempt == 1' run.elog     # draw it"
"$ELOG" agg 'quantize(took_us) by accepted' --where 'attempt == 1' "$work/run.elog"

step "Now you:"
cat <<EOF
  $EXAMPLES/order_service &                  start the service
  $ELOG list
  $ELOG record -e 'shop:order_*'             Ctrl-C ends it
  less examples/order_service.cpp            how a program emits events
  less README.md                             how to add them to yours
EOF
