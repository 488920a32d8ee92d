#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A provider's events are in tracefs with all fields while they are enabled there and the program runs."""

import re

import parts
import vm_case

# Runs the program, then waits for the kernel to forget its events, which it does when it has time.
SCRIPT = parts.SHELL + """
"$0" || exit
cd /sys/kernel/tracing
are_removed() { [ -z "$(ls events/user_events 2>/dev/null)" ]; }
wait_until are_removed
echo "left:" $(grep eventlog_ user_events_status)
"""


def sample(number):
    """The text of an event in the trace, without its process and time."""
    below = number % 1000
    maybe = 0 if number % 5 == 0 else 7
    return (
        f"eventlog_traced_sample: number={integer(number)} share={integer(0x3FE0000000000000)}"
        f" why=reason {number % 7} below={integer(-below, 32)} maybe={integer(maybe)}"
        f" port={integer(number % 65536)} paint={integer(number % 3)}"
        f" yes={byte(number % 2 == 0)} tag=tag has_maybe={byte(maybe != 0)}"
    )


def integer(value, bits=64):
    return f"0x{value % (1 << bits):x} ({value})"


def byte(value):
    return f"({int(value)})"


class Route(vm_case.Case):
    """One guest in which a program emits and follows its events; the tests check its output."""

    KERNEL = "user-events-6.12"
    SCRIPT = SCRIPT

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        program = vm_case.built("PROGRAMS", "user_events_route")
        cls.result = cls.run_successfully(
            vm_case.kernel_or_skip(cls.KERNEL),
            ["sh", "-c", cls.SCRIPT, program],
            files={program: program},
            time_limit=1800,
        )

    def whole_trace(self, title):
        """A trace as the program has shown it."""
        found = re.search(
            rf"^trace {title}\n(.*?)^end of trace$", self.result.output, re.MULTILINE | re.DOTALL
        )
        self.assertIsNotNone(found, self.result.output)
        return found[1]

    def trace(self, title):
        """The lines of a trace, without their prefixes."""
        lines = self.whole_trace(title).splitlines()
        for line in lines:
            # The name of a process that has not been switched from yet is not known.
            self.assertRegex(
                line, r"^ *(user_events_rou|<\.\.\.>)-\d+ +\[\d+\] \S+ +\d+\.\d+: \S"
            )
        return [re.sub(r"^.*?\d+\.\d+: ", "", line) for line in lines]

    def test_passes_abi_steps(self):
        self.assertNotIn("WRONG", self.result.output)
        self.assertIn("ok: the route can still be used", self.result.output)

    def test_reports_route_status(self):
        self.assertIn(
            "\nstatus: The events of provider traced are in tracefs as "
            "user_events:eventlog_traced_*.\n",
            self.result.output,
        )

    def test_shows_every_field(self):
        self.assertEqual(self.trace("fields"), [sample(10), sample(11), sample(12)])

    def test_shows_the_session(self):
        self.assertEqual(
            self.trace("session"),
            [f"eventlog_traced_in_session: session={integer(4711)} step={integer(3)}"],
        )

    def test_shows_an_event_without_fields(self):
        self.assertEqual(self.trace("empty"), ["eventlog_traced_empty:No fields found"] * 2)

    def test_delivers_ten_thousand_events(self):
        self.assertEqual(self.trace("many"), [sample(number) for number in range(10_000)])

    def test_delivers_only_enabled_events(self):
        self.assertEqual(self.trace("nothing"), [])

    def test_delivers_largest_event(self):
        self.assertEqual(
            self.trace("sizes"),
            [f"eventlog_traced_word: text={text}"
             for text in ("x" * 4043, "y" * 4043, "z" * 4043, "", "a word")],
        )

    def test_records_parent_and_child(self):
        self.assertEqual(
            self.trace("fork"),
            [f"eventlog_traced_silent: number={integer(number)}" for number in (100, 101)],
        )

    def test_separates_versions(self):
        (line,) = self.trace("versions")
        self.assertRegex(line, rf"^eventlog_traced_silent\.\w+: code={re.escape(integer(300))}$")

    def test_supports_longest_names(self):
        self.assertEqual(
            self.trace("longest names"),
            [f"eventlog_{'p' * 63}_{'e' * 63}: number={integer(500)}"],
        )

    def test_shares_events_of_one_name(self):
        self.assertEqual(
            self.trace("shared name"),
            [f"eventlog_left_right_end: number={integer(number)}" for number in (501, 502)],
        )

    def test_retries_when_kernel_has_capacity(self):
        self.assertIn(
            "\nlimit: 1 of 1 events of provider late are not in tracefs. The first is event: the "
            "kernel has as many as kernel.user_events_max allows. Raise that with sysctl.\n",
            self.result.output,
        )

    def test_retries_when_permitted(self):
        self.assertRegex(
            self.result.output,
            r"\npermission: user_events_data of tracefs may not be opened \(Permission denied\)\. "
            r"Root can allow it: chmod a\+x /sys/kernel/tracing; ",
        )
        self.assertEqual(
            self.trace("permission"), [f"eventlog_late_event: number={integer(400)}"]
        )

    def test_survives_closed_descriptor(self):
        self.assertEqual(
            self.trace("descriptor"), [f"eventlog_traced_silent: number={integer(200)}"]
        )

    def test_does_not_use_descriptor_of_other_provider(self):
        echo, silent = "eventlog_neighbor_echo", "eventlog_traced_silent"
        order = [(echo, 0), (silent, 0), (silent, 1), (echo, 1), (echo, 2), (silent, 2)]
        self.assertEqual(
            self.trace("descriptors of two"),
            [f"{name}: number={integer(number)}" for name, number in order],
        )

    def test_leaves_nothing_behind(self):
        self.assertRegex(self.result.output, r"\nleft:\n$")


@vm_case.full_tier
class RouteUnderDebugging(Route):
    """The tests on a kernel with checkers."""

    KERNEL = "debug-6.12"


if __name__ == "__main__":
    vm_case.main()
