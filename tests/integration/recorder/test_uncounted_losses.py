#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Commands that read live events report a program that has overwritten counts of lost events."""

import json
import os
import signal
import struct

import harness
import second_reader

LOST = 8  # in struct eventlog_ring
REPORT = "A program has overwritten counts of lost events"


class UncountedLosses(harness.Case):
    def overwrite_counts(self, reader):
        """What a program does that writes anywhere in the buffers: to the first ring's count."""
        self.wait_for(lambda: self.is_mapped(reader, "subscriptions"), "a subscription")
        (name,) = self.names("subscriptions")
        with open(os.path.join(self.directory, "subscriptions", name), "r+b") as file:
            file.seek(second_reader.REGION_SIZE + second_reader.PAUSE_LOG_SIZE + LOST)
            file.write(struct.pack("<Q", 1 << 62))

    def start_reader(self, *command):
        reader = self.start(harness.ELOG, *command, "--wait")
        self.overwrite_counts(reader)
        return reader

    def test_top_shows_them(self):
        top = self.start_reader("top", "-e", "counter:*", "--interval", "1h", "--json")
        output, _ = self.stop(top)
        said = json.loads(output)
        self.assertEqual((said["lost"], said["counts_overwritten"], said["losses_incomplete"]),
                         (0, True, False))

    def test_top_shows_them_on_the_screen(self):
        top = self.start_reader("top", "-e", "counter:*", "--interval", "2s", "--iterations", "2")
        output, errors = self.finish(top)
        self.assertIn(" so far, at least 0 lost\n", output)
        self.assertIn(REPORT, errors)

    def test_agg_reports_them(self):
        _, errors = self.stop(self.start_reader("agg", "count()", "-e", "counter:*"))
        self.assertIn(REPORT, errors)

    def test_script_reports_them(self):
        _, errors = self.stop(self.start_reader("run", "-n", "counter:* { @ = count(); }"))
        self.assertIn(REPORT, errors)

    def test_agg_reports_lost_events(self):
        agg = self.start(harness.ELOG, "agg", "count()", "-e", "counter:*", "--wait",
                         "--buffer-size", "128K")
        self.wait_for(lambda: self.is_mapped(agg, "subscriptions"), "a subscription")
        agg.send_signal(signal.SIGSTOP)
        self.finish(self.start(harness.program("counter"), str(harness.THREADS), "100000"))
        agg.send_signal(signal.SIGCONT)
        _, errors = self.stop(agg)
        self.assertRegex(errors, r"elog: \d+ events found no room in the buffers and are missing")


if __name__ == "__main__":
    harness.main()
