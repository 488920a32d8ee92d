#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Records programs and prints what was recorded. What it leaves in DIRECTORY the test compares.
#
#     round_trip.sh ELOG EXAMPLES PROGRAMS DIRECTORY
elog=$1 examples=$2 programs=$3
mkdir -p "$4" && cd "$4" || exit 1

fail() {
    cat ./*.summary
    echo "round_trip: failed: $1"
    exit 1
}

# A program from its first event to its last.
"$elog" record -e 'hello:*' -o hello.elog -- "$examples/hello" 5 2>hello.summary || fail 'record'
"$elog" print hello.elog >hello.text || fail 'print'

# Threads on all processors, which a scheduler of a busy machine may not give them by itself.
# shellcheck disable=SC2016  # the inner shell expands it
"$elog" record -e 'counter:*' -o counter.elog -- \
    sh -c 'taskset 1 "$0" 4 1000 & taskset 2 "$0" 4 1000; wait' "$programs/counter" \
    2>counter.summary || fail 'record counter'
"$elog" print counter.elog >counter.text || fail 'print counter'

# One processor fills its own buffers while the reader stands still. Writers without restartable
# sequences would fill those that all processors share.
"$elog" record --wait --buffer-size 128K -e 'counter:*' -o full.elog 2>full.summary &
recorder=$!
export EVENTLOG_DIR="${EVENTLOG_DIR:-/dev/shm/eventlog-$(id -u)}"
tries=0
until [ -n "$(ls "$EVENTLOG_DIR/subscriptions" 2>/dev/null)" ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 600 ] || fail 'the recorder did not subscribe'
    sleep 0.1
done
kill -STOP "$recorder"
taskset 2 "$programs/counter" 1 20000 >full.attempted || fail 'counter on the second processor'
kill -CONT "$recorder"
kill -TERM "$recorder"
wait "$recorder" || fail 'record full'
"$elog" print full.elog >full.text || fail 'print full'
