#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Records programs and prints the recordings. The test compares the files in DIRECTORY.
#
#     round_trip.sh ELOG EXAMPLES PROGRAMS DIRECTORY
elog=$1 examples=$2 programs=$3
mkdir -p "$4" && cd "$4" || exit 1

fail() {
    cat ./*.summary
    echo "round_trip: failed: $1"
    exit 1
}

# All events of a program.
"$elog" record -e 'hello:*' -o hello.elog -- "$examples/hello" 5 2>hello.summary || fail 'record'
"$elog" print hello.elog >hello.text || fail 'print'

# Threads on all processors; the scheduler of a busy machine might not use all.
# shellcheck disable=SC2016  # the inner shell expands it
"$elog" record -e 'counter:*' -o counter.elog -- \
    sh -c 'taskset 1 "$0" 4 1000 & taskset 2 "$0" 4 1000; wait' "$programs/counter" \
    2>counter.summary || fail 'record counter'
"$elog" print counter.elog >counter.text || fail 'print counter'

# One processor fills its buffers while the reader is stopped. Writers without restartable sequences
# would fill the shared ring.
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
