#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tests of test_user_events_route.py and test_user_events_tools.py, and some of
test_user_events_lifecycle.py, on a kernel before Linux 6.4, which has a page of status bits and does not
write to gates."""

import re
import struct

import hex_trace
import parts
import test_user_events_route
import test_user_events_tools
import vm_case

KERNEL = "status-page-6.1"

# Runs the program. Its events stay; that they can be removed shows that nothing refers to them.
SCRIPT = """
"$0" || exit
cd /sys/kernel/tracing
for event in events/user_events/eventlog_*; do
    echo "stayed: ${event##*/}"
    echo "-:user_events/${event##*/}" >> dynamic_events
done
echo "left:" $(grep eventlog_ user_events_status)
"""
HASH = re.compile(r"^(eventlog_\w+)_[0-9a-f]{8}(?=:)")


class Route(test_user_events_route.Route):
    """A trace shows bytes here, and each name has a hash of the event's description behind it."""

    KERNEL = KERNEL
    SCRIPT = SCRIPT

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.formats = hex_trace.read_formats(
            "\n".join(re.findall(r"^format (.*)$", cls.result.output, re.MULTILINE))
        )

    def lines(self, title):
        return hex_trace.lines(self.whole_trace(title), self.formats)

    def trace(self, title):
        return [HASH.sub(r"\1", line) for line in self.lines(title)]

    def test_delivers_largest_event(self):
        # The kernel does not show records as large as that; perf does, see below.
        self.assertEqual(self.whole_trace("sizes").count("LINE TOO BIG"), 3)
        self.assertEqual(
            self.trace("sizes")[-2:],
            ["eventlog_traced_word: text=", "eventlog_traced_word: text=a word"],
        )

    def test_separates_versions(self):
        (other,) = self.lines("versions")
        self.assertRegex(other, r"^eventlog_traced_silent_\w{8}: code=0x12c \(300\)$")
        own = self.lines("fork")[0]
        self.assertRegex(own, r"^eventlog_traced_silent_\w{8}: number=")
        self.assertNotEqual(HASH.match(other)[0], HASH.match(own)[0])

    def test_retries_when_kernel_has_capacity(self):
        self.assertIn("\nok: the page is full\n", self.result.output)
        self.assertIn(
            "\nlimit: 1 of 1 events of provider late are not in tracefs. The first is event: the "
            "kernel has as many as it can. Remove some: echo -:user_events/NAME >> "
            "/sys/kernel/tracing/dynamic_events.\n",
            self.result.output,
        )

    def test_retries_when_permitted(self):
        self.assertRegex(
            self.result.output,
            r"\npermission: user_events_data of tracefs may not be opened \(Permission denied\), if "
            r"this kernel has it\. Root can allow it, .*; chmod a\+r user_events_status\n",
        )
        self.assertEqual(self.trace("permission"), ["eventlog_late_event: number=0x190 (400)"])

    def test_leaves_nothing_behind(self):
        stayed = re.findall(r"^stayed: (eventlog_\w+)_\w{8}$", self.result.output, re.MULTILINE)
        self.assertEqual(
            sorted(stayed),
            ["eventlog_neighbor_echo"]
            + [f"eventlog_traced_{name}"
             for name in ("empty", "in_session", "sample", "session_begin", "session_end",
                          "silent", "word")],
        )
        super().test_leaves_nothing_behind()


class Tools(test_user_events_tools.Tools):
    """perf and trace-cmd decode the bytes by themselves."""

    KERNEL = KERNEL
    KEYS = "amount"  # texts cannot be counted by
    COUNT_AS_TEXT = 5_000  # each has several lines

    def lines_of(self, name, program):
        return hex_trace.lines(
            self.read(name), hex_trace.read_formats(self.read(f"format.{program}"))
        )

    def test_records_contain_fields_not_shown(self):
        for data, record in zip(
            test_user_events_tools.DATA, hex_trace.read_records(self.read("kinds.trace")), strict=True
        ):
            place = len(data) << 16 | test_user_events_tools.BEHIND_DATA if data else 0
            fixed = struct.pack(
                "<d q I I f I 8H 4H h 4B 16s 6s 8s b", 0.5, 1500000, place, 6, 0.25, 4000000000,
                *range(1, 9), *range(1, 5), -5, 192, 0, 2, 1, b"\x20\x01\x0d\xb8",
                b"\x02\0\0\0\0\x09", b"eight is", -5
            )
            # ftrace rounds up.
            self.assertEqual(record[8:8 + len(fixed + data)], fixed + data)

    test_histogram_of_a_string = None


LIVES = parts.SHELL + """
lives=$0 plugin=$1
tracing=/sys/kernel/tracing
events=$tracing/events/user_events
# Removes events, which must have no users.
are_removed() {
    for each in $events/eventlog_*; do
        [ ! -e $each ] || echo "-:user_events/${each##*/}" >> $tracing/dynamic_events
    done 2> /dev/null
    [ -z "$(ls -d $events/eventlog_* 2>/dev/null)" ]
}

# With a separate copy of the library, and the kernel's page in its data.
part unloading "$lives" unloading "$plugin"
wait_until are_removed

echo > $tracing/trace
"$lives" exec > /tmp/exec 2>&1 &
program=$!
asleep() { [ "$(cat /proc/$program/comm)" = sleep ] || ! kill -0 $program 2> /dev/null; }
wait_until asleep
part exec cat /tmp/exec
part exec-format sh -c "cat $events/eventlog_lives_mark*/format"
# Each record ends with a NUL.
part exec-trace tr -d '\\0' < $tracing/trace
wait_until are_removed
part exec-lives-on cat /proc/$program/comm
kill $program

umount $tracing /sys/kernel/debug 2> /dev/null
"$lives" late-mount > /tmp/late 2>&1 &
program=$!
wait_until grep -q early /tmp/late
mkdir "/tmp/trace fs"
mount -t tracefs tracefs "/tmp/trace fs"
wait_until grep -q late: /tmp/late
echo > "/tmp/trace fs/trace"
for each in "/tmp/trace fs/events/user_events/"eventlog_lives_mark_*; do
    echo 1 > "$each/enable"
done
wait $program
part late cat /tmp/late
part late-format cat "$each/format"
part late-trace tr -d '\\0' < "/tmp/trace fs/trace"
"""


class Lives(parts.Case):
    """The page and references to events, with unmapped memory and a late tracefs."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        paths = [
            vm_case.built("PROGRAMS", "user_events_lifecycle"),
            vm_case.built("PROGRAMS", "twin_static.so"),
        ]
        cls.result = cls.run_successfully(
            vm_case.kernel_or_skip(KERNEL),
            ["sh", "-c", LIVES, *paths],
            files={path: path for path in paths},
            processors=2,
        )

    def numbers(self, title):
        """Those of the events in a trace."""
        formats = hex_trace.read_formats("\n".join(self.part(f"{title}-format")))
        shown = hex_trace.lines("\n".join(self.part(f"{title}-trace")), formats)
        return [re.sub(r"^eventlog_lives_mark_\w{8}: number=\w+ ", "", line) for line in shown]

    def test_unloaded_plugin_unregisters_its_events(self):
        lines = self.part("unloading")
        self.assertIn("ok: so is its page of status bits", lines)
        self.assertEqual(lines.count("ok: nothing is written there later"), 8)
        self.assertIn("ok: nothing refers to its event", lines)

    def test_exec_ends_the_route_and_the_next_image_has_its_own(self):
        self.assertIn("ok: it counts anew", self.part("exec"))
        self.assertEqual(self.numbers("exec"), ["(40)", "(41)"])
        # The last image has no eventlog; the events could be removed.
        self.assertEqual(self.part("exec-lives-on"), ["sleep"])

    def test_late_tracefs_mount_is_found(self):
        lines = self.part("late")
        self.assertRegex(lines[0], r"^early: tracefs is not mounted where this process can see it, ")
        self.assertIn("ok: the event is written", lines)
        self.assertEqual(self.numbers("late"), ["(50)"])


if __name__ == "__main__":
    vm_case.main()
