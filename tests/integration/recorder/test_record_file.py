#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog record -o keeps all events; elog print and elog stat show them."""

import os
import re
import struct

import harness


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def set_flag(content, flag, wanted):
    """Sets a flag in the first `wanted` records of an .elog file of verbatim, extended records."""
    at = harness.FILE_HEADER_SIZE
    while at < len(content):
        kind, size = struct.unpack_from("<4xHxxI", content, at)
        payload = at + 32
        record = payload + 64  # behind the head
        while kind == 4 and record < payload + size and wanted > 0:
            payload_size, words = struct.unpack_from("<HxxxxB", content, record + 16)
            content[record + 18] |= flag
            record += (24 + 8 * words + payload_size + 7) // 8 * 8
            wanted -= 1
        struct.pack_into("<I", content, at + 12, crc32c(content[payload : payload + size]))
        struct.pack_into("<I", content, at + 28, crc32c(content[at : at + 28]))
        at = payload + (size + 7) // 8 * 8


class RecordFile(harness.Case):
    def record_one_newer_of_three(self):
        """A file with three events, the first with an unknown flag."""
        path = self.path("run.elog")
        self.environment["EVENTLOG_TEST_COMPACTION"] = "0"
        self.environment["EVENTLOG_RSEQ"] = "off"  # the shared ring has extended records only
        self.run_elog("record", "-e", "counter:*", "-o", path, "--", harness.program("counter"),
                      "1", "3")
        with open(path, "rb") as file:
            content = bytearray(file.read())
        set_flag(content, 0x80, 1)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def test_newer_version_is_printed_as_far_as_known(self):
        lines = self.run_elog("print", self.record_one_newer_of_three()).stdout.splitlines()
        self.assertEqual([" number=1 " in lines[0], " number=2 " in lines[1]], [True, True])
        self.assertEqual(
            lines[2:], ["-- 1 events of a newer version of eventlog are left out --"]
        )

    def test_newer_version_is_reported_with_any_filter(self):
        path = self.record_one_newer_of_three()
        lines = self.run_elog("print", path, "--where", "number == 2").stdout.splitlines()
        self.assertIn(" number=2 ", lines[0])
        self.assertEqual(
            lines[1:], ["-- 1 events of a newer version of eventlog are left out --"]
        )

    def test_newer_version_is_counted_as_far_as_known(self):
        lines = self.run_elog("stat", self.record_one_newer_of_three()).stdout.splitlines()
        self.assertRegex(lines[1], r"^counter:count +2 ")
        self.assertRegex(lines[2], r"^all +2 ")
        self.assertEqual(lines[-1], "1 events of a newer version of eventlog are left out")

    def test_counts_truncated_events_like_others(self):
        path = self.record_one_newer_of_three()
        with open(path, "rb") as file:
            content = bytearray(file.read())
        set_flag(content, 1, 3)
        with open(path, "wb") as file:
            file.write(content)
        self.assertRegex(self.run_elog("stat", path).stdout, r"\ncounter:count +2 ")

    def test_several_processes_and_threads_are_conserved(self):
        recording = self.start_recording("-e", "counter:*", "-o", self.path("run.elog"), "--wait")
        counters = [self.start(harness.program("counter"), "3", "20000") for _ in range(4)]
        attempted = 0
        for counter in counters:
            output, _ = self.finish(counter)
            attempted += int(output.split()[1])
        _, errors = self.stop(recording)
        events, _, lost = self.summary(errors)
        self.assertEqual(events + lost, attempted)
        self.assertEqual(attempted, 4 * 3 * 20000)

        lines = self.run_elog("print", self.path("run.elog")).stdout.splitlines()
        records = [harness.LINE.match(line) for line in lines if not line.startswith("-- lost")]
        self.assertNotIn(None, records)
        self.assertEqual(len(records), events)
        told = [int(found[1]) for found in map(re.compile(r"-- lost (\d+) ").match, lines) if found]
        self.assertLessEqual(sum(told), lost)
        self.check_order(records)

        stat = self.run_elog("stat", self.path("run.elog")).stdout
        self.assertRegex(stat, rf"counter:count +{events} ")
        self.assertIn(f"{events} events in ", stat)
        self.assertIn(f", {lost} lost", stat)
        self.assert_no_files_left()

    def check_order(self, records):
        """Requires order by time over all, and each thread's order of emitting."""
        time = ""
        numbers = {}
        for record in records:
            self.assertGreaterEqual(record["time"], time)
            time = record["time"]
            number, check, worker, text = re.match(
                r' number=(\d+) check=(\d+) worker=(\d+) text="([a-z]*)"$', record["fields"]
            ).groups()
            self.assertEqual(
                int(check), (int(number) + int(worker)) * 0x9E3779B97F4A7C15 % 2**64
            )
            self.assertEqual(text, "abcdefghijklmnopqrstuvwxyz"[: int(number) % 26])
            self.assertGreater(int(number), numbers.get(record["thread"], -1))
            numbers[record["thread"]] = int(number)

    def test_duration_ends_recording(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        result = self.run_elog(
            "record", "-e", "counter:*", "-o", self.path("run.elog"), "--duration", "300ms"
        )
        events, size, lost = self.summary(result.stderr)
        self.assertGreater(events, 0)
        self.assertGreater(size, events * 24)
        self.assertEqual(lost, 0)
        seconds = float(harness.SUMMARY.search(result.stderr)[4])
        self.assertGreaterEqual(seconds, 0.3)
        # A busy machine ends it late, but not by tens of the duration.
        self.assertLess(seconds, 10)
        self.assertIn(f"in {self.path('run.elog')}", result.stderr)
        self.assertEqual(self.names("subscriptions"), [])

    def test_sleeps_when_idle(self):
        recording = self.start_recording("-e", "counter:*", "--wait", "-o", self.path("run.elog"))
        self.assertLess(self.cpu_share(recording), 0.25)
        # It looks for events every 5 ms, half of its latency.
        self.assertLess(self.wakeups(recording), 2 * 200)
        self.stop(recording)

    def test_can_be_read_while_it_is_written(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        recording = self.start_recording("-e", "counter:*", "-o", self.path("run.elog"))
        self.wait_for(
            lambda: "counter:count" in self.run_elog("print", self.path("run.elog")).stdout,
            "events in the file",
        )
        result = self.run_elog("print", self.path("run.elog"))
        self.assertIn("has no end", result.stderr)
        self.stop(recording)
        self.assertEqual(self.run_elog("print", self.path("run.elog")).stderr, "")

    def test_has_only_selected_events(self):
        self.start_provider(harness.example("order_service"), "30")
        path, wanted = self.path("run.elog"), {"order_placed", "order_done", "queue_length"}
        recording = self.start_recording("-e", "shop:order_*", "-e", "shop:queue_length", "-o", path)

        def seen():
            lines = self.run_elog("print", path).stdout.splitlines()
            # Some threads may lose events while another one attaches.
            return {harness.LINE.match(line)["event"] for line in lines
                    if not line.startswith("-- lost ")}
        # Each order also emits events that are not selected.
        self.wait_for(lambda: seen() >= wanted, "an order")
        self.stop(recording)
        self.assertEqual(seen(), wanted)

    def test_tiny_buffers_count_losses(self):
        _, events, lost, errors = self.record_with_losses(self.path("run.elog"), 2, 100000)
        self.assertIn("--buffer-size", errors)
        stat = self.run_elog("stat", self.path("run.elog")).stdout
        self.assertIn(f", {lost} lost", stat)
        lines = self.run_elog("print", self.path("run.elog")).stdout.splitlines()
        told = [int(found[1]) for found in map(re.compile(r"-- lost (\d+) ").match, lines) if found]
        self.assertEqual(sum(told), lost)

    def test_losses_fail_only_with_fail_on_loss(self):
        *_, errors = self.record_with_losses(self.path("run.elog"), 2, 100000, "--fail-on-loss",
                                             status=3)
        self.assertNotIn("fail-on-loss", errors)
        # Readers of the file are not affected.
        self.run_elog("verify", self.path("run.elog"))
        self.run_elog("stat", self.path("run.elog"))
        # A recording without unknown flags is not affected either.
        result = self.run_elog(
            "record", "-e", "counter:*", "--force", "-o", self.path("run.elog"), "--fail-on-loss",
            "--", harness.program("counter"), "1", "10",
        )
        self.assertEqual(self.summary(result.stderr)[::2], (10, 0))

    def test_unread_events_are_losses_with_fail_on_loss(self):
        for options, status in (([], 0), (["--fail-on-loss"], 3)):
            readable, writable = os.pipe()
            os.close(readable)
            recording = self.start(harness.ELOG, "record", "-e", "counter:*", *options, "--",
                                   harness.program("counter"), "1", "1000", stdout=writable)
            os.close(writable)
            _, errors = self.finish(recording, status)
            self.assertEqual("Standard output was closed" in errors, status == 3, errors)


if __name__ == "__main__":
    harness.main()
