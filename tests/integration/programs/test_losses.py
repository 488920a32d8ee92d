#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""For every reason of a loss, the process counts the lost events, and elog list --stats shows them.

The recorder reports the losses that it can know.
"""

import json
import os
import shutil
import struct
import subprocess
import time

import harness
from second_reader import Region

SCHEMA = "provider shop { event order info { number: u32 name: text } }"
PROGRAM = """
import os, resource, sys
sys.path.insert(0, sys.argv[1])
import shop
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
files = resource.getrlimit(resource.RLIMIT_NOFILE)
print("ready", flush=True)
for line in sys.stdin:
    exec(line)
    print("done", flush=True)
"""
SHORT_PROGRAM = """
import os, resource, signal, sys
import ctypes
sys.path.insert(0, sys.argv[1])
how, wait = sys.argv[2:]
if not wait:
    # No room to map a subscription.
    with open("/proc/self/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (3 << 20), resource.RLIM_INFINITY))
if how == "fork":
    child = os.fork()
    if child:
        sys.exit(os.waitpid(child, 0)[1])
import shop
files = resource.getrlimit(resource.RLIMIT_NOFILE)
if wait:
    print("ready", flush=True)
    sys.stdin.readline()
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, files[1]))
for number in range(3): shop.order(number, "a")
resource.setrlimit(resource.RLIMIT_NOFILE, files)
if how == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
"""
ENDS = ("exit", "kill", "fork")
FEWEST_BUFFER_BYTES = 128 << 10
BUFFERS = 4
# Header, number, location of the text, text and NUL, in whole words.
RECORD_OF_A_LONG_NAME = (24 + 4 + 4 + 1000 + 1 + 7) // 8 * 8
RING_LOCK = 24  # in struct eventlog_ring
ROUTE = struct.Struct("=8Q")
REASONS = ("full", "too_large", "busy", "unattached", "refused")


def counted(written, truncated, **lost):
    """The expected counters in JSON."""
    return {"written": written, "truncated": truncated, "lost": sum(lost.values()),
            "lost_by_reason": {**dict.fromkeys(REASONS, 0), **lost}}


class Losses(harness.Case):
    def setUp(self):
        super().setUp()
        self.environment["COLUMNS"] = "200"  # one line each, however long the numbers

    def make_shop(self):
        """The folder of the module with the provider."""
        folder = self.path("shop")
        os.mkdir(folder)
        with open(folder + ".schema", "w", encoding="utf-8") as file:
            file.write(SCHEMA)
        self.run_elog("schema", "gen", "--lang", "python", folder + ".schema", "-o", folder + "/shop.py")
        return folder

    def start_short_program(self, folder, end, wait):
        """A program, or its child, that loses three events and ends."""
        program = self.start_python(self.start, "-c", SHORT_PROGRAM, folder, end, wait)
        self.expect(program, -harness.signal.SIGKILL if end == "kill" else 0)
        if wait:
            self.assertEqual(program.stdout.readline(), "ready\n")
        return program

    def start_shop(self, **variables):
        """Starts a program that emits events on request, from one CPU."""
        folder = self.make_shop()
        shop = self.start_python(self.start, "-c", PROGRAM, folder, **variables)
        self.assertEqual(shop.stdout.readline(), "ready\n")
        return shop

    def listen(self):
        recording = self.start_recording("-e", "shop:*", "-o", self.path("run.elog"),
                                         "--buffer-size", "128K")
        # The subscription is visible shortly before all gates are open.
        self.wait_for(lambda: self.listed()["events"][0]["listeners"], "an open gate")
        return recording

    def send_line(self, program, line):
        program.stdin.write(line + "\n")
        program.stdin.flush()
        self.assertEqual(program.stdout.readline(), "done\n")

    def listed(self):
        (provider,) = json.loads(self.run_elog("list", "--json", "shop").stdout)["providers"]
        return provider

    def assert_counted(self, program, text, written, **lost):
        """Checks the shared-memory counters in both forms of the list."""
        self.assertIn(
            f"\n  counted   python3 {program.pid}: {text}\n",
            self.run_elog("list", "--stats", "shop").stdout,
        )
        (process,) = self.listed()["processes"]
        self.assertEqual(process["counters"], counted(written, 0, **lost))

    def assert_recorded(self, recording, recorded, lost, said=""):
        _, errors = self.stop(recording)
        self.assertEqual(self.summary(errors)[::2], (recorded, lost))
        if said:
            printed = self.run_elog("print", self.path("run.elog")).stdout.splitlines()
            self.assertIn(said, printed)
        return errors

    def hold_shared_ring(self, holder):
        """Stores a thread as the holder of the shared ring's lock; 0: none."""
        path = f"{self.directory}/subscriptions/00"
        with Region(path) as region:
            header = region.header
        last = header.rings_offset + (header.ring_count - 1) * header.ring_stride
        namespace = os.stat("/proc/self/ns/pid").st_ino & 0xFFFFFFFF
        with open(path, "r+b", buffering=0) as file:
            file.seek(last + RING_LOCK)
            file.write(struct.pack("=Q", holder and namespace << 32 | holder))

    def test_full(self):
        shop = self.start_shop()
        recording = self.listen()
        recording.send_signal(harness.signal.SIGSTOP)
        attempted = 1000
        self.send_line(shop, f"for number in range({attempted}): shop.order(number, 1000 * 'x')")
        written = BUFFERS * (FEWEST_BUFFER_BYTES // RECORD_OF_A_LONG_NAME)
        lost = attempted - written
        self.assert_counted(shop, f"{written} written {lost} lost ({lost} full)", written,
                            full=lost)
        recording.send_signal(harness.signal.SIGCONT)
        self.assert_recorded(recording, written, lost)

    def test_too_large(self):
        shop = self.start_shop()
        recording = self.listen()
        self.send_line(shop, "for size in (65503, 65504, 70000, 1): shop.order(size, size * 'x')")
        # 65512 bytes; number, location of the text and NUL are nine of them.
        self.assert_counted(shop, "2 written 2 lost (2 too_large)", 2, too_large=2)
        errors = self.assert_recorded(recording, 2, 2, "-- lost 2 events of shop: too_large --")
        self.assertIn("2 events were over 65512 bytes, or over 4048 for the kernel.", errors)

    def test_shared_ring_held_by_another(self):
        shop = self.start_shop(EVENTLOG_RSEQ="off")
        recording = self.listen()
        self.send_line(shop, "shop.order(0, 'joins')")
        self.hold_shared_ring(os.getpid())
        self.send_line(shop, "for number in range(7): shop.order(number, 'a')")
        self.hold_shared_ring(0)
        self.send_line(shop, "shop.order(8, 'goes on')")
        self.assert_counted(shop, "2 written 7 lost (7 busy)", 2, busy=7)
        self.assert_recorded(recording, 2, 7, "-- lost 7 events of shop: busy --")

    def test_shared_ring_held_by_the_same_thread(self):
        # The view of a signal handler that interrupted the holder.
        shop = self.start_shop(EVENTLOG_RSEQ="off")
        recording = self.listen()
        self.send_line(shop, "shop.order(0, 'joins')")
        self.hold_shared_ring(shop.pid)
        self.send_line(shop, "for number in range(3): shop.order(number, 'nested')")
        self.hold_shared_ring(0)
        self.assert_counted(shop, "1 written 3 lost (3 busy)", 1, busy=3)
        self.assert_recorded(recording, 1, 3, "-- lost 3 events of shop: busy --")

    def test_subscription_that_cannot_be_attached(self):
        shop = self.start_shop()
        recording = self.listen()
        self.send_line(shop, "resource.setrlimit(resource.RLIMIT_NOFILE, (0, files[1]))")
        self.send_line(shop, "for number in range(5): shop.order(number, 'a')")
        self.send_line(shop, "resource.setrlimit(resource.RLIMIT_NOFILE, files)")
        self.assert_counted(shop, "0 written 5 lost (5 unattached)", 0, unattached=5)
        self.assert_recorded(recording, 0, 5, "-- lost 5 events of shop: unattached --")

    def test_top_counts_events_lost_before_attaching(self):
        shop = self.start_shop()
        top = self.start(harness.ELOG, "top", "-e", "shop:*", "--json", "--interval", "200ms",
                         "--iterations", "300")
        self.wait_for(lambda: self.listed()["events"][0]["listeners"], "an open gate")
        self.send_line(shop, "resource.setrlimit(resource.RLIMIT_NOFILE, (0, files[1]))")
        self.send_line(shop, "for number in range(5): shop.order(number, 'a')")
        lost = 0
        while lost != 5:
            line = top.stdout.readline()
            self.assertNotEqual(line, "", lost)
            lost = json.loads(line)["lost"]
        self.stop(top)

    def test_lost_by_another_process_is_not_lost_by_the_command(self):
        shop = self.start_shop()
        # Ends when its standard input does.
        recording = self.start(harness.ELOG, "record", "-e", "shop:*", "--json", "--fail-on-loss",
                               "-o", self.path("run.elog"), "--", "cat", stdin=subprocess.PIPE)
        self.wait_for(lambda: self.listed()["events"][0]["listeners"], "an open gate")
        self.send_line(shop, "resource.setrlimit(resource.RLIMIT_NOFILE, (0, files[1]))")
        self.send_line(shop, "for number in range(5): shop.order(number, 'a')")
        said = json.loads(recording.communicate("", timeout=harness.TIMEOUT)[0])
        self.assertEqual((said["lost"], said["lost_by_provider"]), (0, []))
        self.assertEqual(said["command"]["lost_outside"], 5)
        self.assertEqual(recording.returncode, 0)
        found = json.loads(self.run_elog("stat", "--json", self.path("run.elog")).stdout)
        self.assertEqual(found["lost"], 0)

    def test_lost_before_attaching_is_counted_when_the_program_has_ended(self):
        for end in (harness.signal.SIGTERM, harness.signal.SIGKILL):
            shop = self.start_shop()
            recording = self.start_recording("-e", "shop:*", "-o", self.path("run.elog"),
                                             "--force", "--json", "--fail-on-loss")
            self.wait_for(lambda: self.listed()["events"][0]["listeners"], "an open gate")
            self.send_line(shop, "resource.setrlimit(resource.RLIMIT_NOFILE, (0, files[1]))")
            self.send_line(shop, "for number in range(3): shop.order(number, 'a')")
            time.sleep(1.5)  # longer than the interval in which counts are read
            self.send_line(shop, "resource.setrlimit(resource.RLIMIT_NOFILE, files)")
            self.send_line(shop, "shop.order(3, 'joins')")
            self.wait_for(lambda: self.run_elog("print", self.path("run.elog")).stdout, "an event")
            self.expect(shop, -end)
            shop.send_signal(end)
            shop.wait()
            said, _ = self.stop(recording, status=3)
            found = self.run_elog("stat", "--json", self.path("run.elog")).stdout
            for output in (said, found):
                shown = json.loads(output)
                self.assertEqual((shown["lost"], shown["lost_by_reason"]["unattached"]), (3, 3))
                (provider,) = shown["lost_by_provider"]
                self.assertEqual((provider["provider"], provider["pid"]), ("shop", shop.pid))
            self.run_elog("verify", self.path("run.elog"))
            copy = self.path("copy.elog")
            for command in (["merge"], ["repair"], ["cut"]):
                self.run_elog(*command, self.path("run.elog"), "--force", "-o", copy)
                self.assertEqual(json.loads(self.run_elog("stat", "--json", copy).stdout)["lost"],
                                 3, command)
            shutil.rmtree(self.path("shop"))
            os.remove(self.path("shop.schema"))

    def assert_unattached(self, document, lost):
        self.assertEqual((document["lost"], document["lost_by_reason"]["unattached"]),
                         (lost, lost))
        shown = document.get("lost_by_provider", [])
        self.assertTrue(all(each["provider"] == "shop" for each in shown), shown)

    def test_program_that_ends_unseen_is_counted(self):
        folder = self.make_shop()
        path = self.path("run.elog")
        recording = self.start_recording("-e", "shop:*", "-o", path, "--json", "--wait",
                                         "--fail-on-loss")
        recording.send_signal(harness.signal.SIGSTOP)
        for end in ENDS:
            self.start_short_program(folder, end, "").wait()
        self.run_elog("list")  # removes the files of programs that have ended
        recording.send_signal(harness.signal.SIGCONT)
        said, _ = self.stop(recording, status=3)
        lost = 3 * len(ENDS)
        for output in (said, self.run_elog("stat", "--json", path).stdout):
            self.assert_unattached(json.loads(output), lost)
            self.assertEqual(len(json.loads(output)["lost_by_provider"]), len(ENDS))
        self.run_elog("verify", path)
        self.assertEqual(self.names("processes"), [])

    def test_flight_recorder_counts_programs_that_have_ended(self):
        folder = self.make_shop()
        path = self.path("run.elog")
        programs = [self.start_short_program(folder, end, "wait") for end in ENDS]
        self.run_elog("flight", "start", "flight", "-e", "shop:*")
        lost = 0
        for program in programs:
            program.communicate("\n")
            lost += 3
            status = self.run_elog("flight", "status", "--json").stdout
            self.assert_unattached(json.loads(status)["flight_recorders"][0], lost)
            self.assertIn(f"\n  lost        {lost} events, {lost} of them unattached\n",
                          self.run_elog("flight", "status").stdout)
            said = self.run_elog("flight", "snapshot", "flight", "--json", "--force", "-o", path)
            self.assert_unattached(json.loads(said.stdout), lost)
            self.assert_unattached(json.loads(self.run_elog("stat", "--json", path).stdout), lost)
        lines = self.run_elog("flight", "snapshot", "flight", "--json").stdout.splitlines()
        self.assertEqual([json.loads(line) for line in lines],
                         len(ENDS) * [{"lost": 3, "reason": "unattached", "provider": "shop"}])
        # A successor in the slot has lost nothing.
        self.run_elog("flight", "stop", "flight", "--force", "-o", path)
        self.assert_unattached(json.loads(self.run_elog("stat", "--json", path).stdout), lost)
        self.assertEqual(self.names("processes"), [])
        self.run_elog("flight", "start", "flight", "-e", "shop:*")
        status = self.run_elog("flight", "status", "--json").stdout
        self.assert_unattached(json.loads(status)["flight_recorders"][0], 0)
        self.run_elog("flight", "stop", "flight", "--discard")

    def test_successor_in_the_slot_has_its_own(self):
        shop = self.start_shop()
        recording = self.listen()
        self.send_line(shop, "shop.order(0, 'joins')")
        self.send_line(shop, "resource.setrlimit(resource.RLIMIT_NOFILE, (0, files[1]))")
        self.assert_recorded(recording, 1, 0)
        os.remove(self.path("run.elog"))
        recording = self.listen()
        self.send_line(shop, "for number in range(4): shop.order(number, 'a')")
        self.assert_recorded(recording, 0, 4, "-- lost 4 events of shop: unattached --")
        os.remove(self.path("run.elog"))
        recording = self.listen()
        self.send_line(shop, "resource.setrlimit(resource.RLIMIT_NOFILE, files)")
        self.send_line(shop, "import time; time.sleep(0.1); shop.order(5, 'joins')")
        self.assert_recorded(recording, 1, 0)

    def test_several_reasons_are_shown_side_by_side(self):
        shop = self.start_shop(EVENTLOG_RSEQ="off")
        recording = self.listen()
        self.send_line(shop, "resource.setrlimit(resource.RLIMIT_NOFILE, (0, files[1]))")
        self.send_line(shop, "shop.order(0, 'not attached')")
        self.send_line(shop, "resource.setrlimit(resource.RLIMIT_NOFILE, files)")
        self.send_line(shop, "import time; time.sleep(0.1); shop.order(1, 'joins')")
        self.send_line(shop, "shop.order(2, 70000 * 'x')")
        self.hold_shared_ring(os.getpid())
        self.send_line(shop, "shop.order(3, 'busy')")
        self.hold_shared_ring(0)
        self.assert_counted(
            shop, "1 written 3 lost (1 too_large, 1 busy, 1 unattached)", 1,
            too_large=1, busy=1, unattached=1,
        )
        self.assert_recorded(recording, 1, 3)

    def test_each_of_two_providers_has_its_own(self):
        shop = self.start_shop()
        with open(self.path("bakery.schema"), "w", encoding="utf-8") as file:
            file.write("provider bakery { event loaf info { name: text } }")
        self.run_elog("schema", "gen", "--lang", "python", self.path("bakery.schema"), "-o",
                      self.path("shop/bakery.py"))
        self.send_line(shop, "import bakery")
        path = self.path("run.elog")
        recording = self.start_recording("-e", "shop:*", "-e", "bakery:*", "-o", path, "--json")
        self.wait_for(
            lambda: all(each["events"][0]["listeners"] for each in
                        json.loads(self.run_elog("list", "--json").stdout)["providers"]),
            "open gates",
        )
        self.send_line(shop, "for name in 3 * [70000 * 'x']: bakery.loaf(name)")
        self.send_line(shop, "shop.order(1, 70000 * 'x')")
        said, _ = self.stop(recording)
        found = self.run_elog("stat", "--json", path).stdout
        expected = [{"provider": name, "comm": "python3", "pid": shop.pid, "lost": lost,
                     "lost_by_reason": {"full": 0, "too_large": lost, "busy": 0, "unattached": 0}}
                    for name, lost in (("bakery", 3), ("shop", 1))]
        for output in (said, found):
            self.assertCountEqual(json.loads(output)["lost_by_provider"], expected)

    def test_kernel_route_has_its_own_line(self):
        # Replaces a refusing kernel: stores that route's counters in the process's file.
        shop = self.start_shop()
        (provider,) = (provider for provider in self.providers_of(shop.pid)
                       if provider.name == "shop")
        with open(provider.path, "r+b", buffering=0) as file:
            file.seek(provider.counters_offset + ROUTE.size)
            file.write(ROUTE.pack(9, 1, 0, 2, 0, 3, 4, 0))
        self.assertIn(
            f"\n  kernel    python3 {shop.pid}: 9 written (1 truncated) 9 lost"
            " (2 too_large, 3 unattached, 4 refused)\n",
            self.run_elog("list", "--stats", "shop").stdout,
        )
        self.assertEqual(
            self.listed()["processes"][0]["user_events"],
            counted(9, 1, too_large=2, unattached=3, refused=4),
        )
        self.assert_counted(shop, "0 written 0 lost", 0)


if __name__ == "__main__":
    harness.main()
