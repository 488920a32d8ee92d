# SPDX-License-Identifier: MIT
"""The base of the tests of flight recorders: emits events of the program `counter` and reads
snapshots.
"""

import json
import os
import re
import struct

import harness

OVERWRITTEN = re.compile(r"(\d+) older events were overwritten")

# Offsets in the header of a region: see linux/eventlog.h.
FEATURES = 12
DETACHED = 2
FILTER_SIZE = 44
OWNER_PID = 96
START_CLOCK = 120
START_REALTIME = 136
STATE = 192
FILTER = 384


class Case(harness.Case):
    def overwritten(self, errors):
        found = OVERWRITTEN.search(errors)
        return int(found[1]) if found else 0

    def begin(self, *arguments, name="flight"):
        return self.run_elog(
            "flight", "start", name, "-e", "counter:*", "--buffer-size", "128K", *arguments
        )

    def emit(self, threads, events, **options):
        """Runs the program to its end; returns the number of events that it attempted."""
        environment = {**self.environment, **options}
        program = self.start(
            harness.program("counter"), str(threads), str(events), env=environment
        )
        output, _ = self.finish(program)
        return int(output.split()[1])

    def numbers(self, text):
        """{worker: the numbers of its events, in the order of the lines}"""
        found = {}
        for line in text.splitlines():
            match = re.search(r" number=(\d+) check=(\d+) worker=(\d+) ", line)
            if match:
                number, check, worker = (int(part) for part in match.groups())
                # A torn event has no valid check.
                expected = (number + worker) * 0x9E3779B97F4A7C15 % 2**64
                self.assertEqual(check, expected, line)
                found.setdefault(worker, []).append(number)
        return found

    def snapshot(self, *arguments, name="flight"):
        """(output, events, overwritten, lost) of a snapshot."""
        result = self.run_elog("flight", "snapshot", name, *arguments)
        events, _, lost = self.summary(result.stderr)
        return result.stdout, events, self.overwritten(result.stderr), lost

    def timeless(self, taken):
        """A snapshot's lines without their times: each snapshot reads the clocks again, to 1 us."""
        text, *counts = taken
        return [line.partition(" [")[2] or line for line in text.splitlines()], counts

    def status(self):
        return json.loads(self.run_elog("flight", "status", "--json").stdout)["flight_recorders"]

    def region_word(self, offset, value=None):
        """Reads a word in the header of the only subscription, after it has set it to the value."""
        (name,) = self.names("subscriptions")
        with open(os.path.join(self.directory, "subscriptions", name), "r+b") as file:
            if value is not None:
                file.seek(offset)
                file.write(struct.pack("<I", value))
            file.seek(offset)
            return struct.unpack("<I", file.read(4))[0]

    def is_detached(self):
        """Whether the only subscription is published as a flight recorder."""
        return bool(self.region_word(FEATURES) & DETACHED)

    def clear_detached(self):
        """Makes it a subscription that its owner is removing."""
        self.region_word(FEATURES, self.region_word(FEATURES) & ~DETACHED)
