#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The route through user_events over the life of a process: fork, spawn, exec, absent memory and a late
tracefs; and the rules of the kernel that the route depends on."""


import parts
import vm_case

LIVES = parts.SHELL + """
lives=$0 load=$1 elog=$2 plugin=$3 single=$4
tracing=/sys/kernel/tracing
events=$tracing/events/user_events
are_removed() { [ -z "$(ls -d $events/eventlog_* 2>/dev/null)" ]; }
# Each course begins with an empty trace, after the events of the previous one are removed.
course() {
    # After a failed course.
    [ ! -e $events/enable ] || echo 0 > $events/enable
    wait_until are_removed
    echo > $tracing/trace
    part "$1" "$lives" "$1"
}

course fault
course absent-page
course listeners
course stale-gate
course toggling
course spawning
course shared-memory

# Linux 6.4 to 6.8. Programs and elog kernel register the same names.
wait_until are_removed
part single-format env LD_PRELOAD="$single" "$lives" single-format
wait_until are_removed
echo 'provider single { event event info { number: u32 } }' > /tmp/first.schema
echo 'provider single { event event info { code: u64 } }' > /tmp/second.schema
part single-first env LD_PRELOAD="$single" "$elog" kernel register /tmp/first.schema
part single-second env LD_PRELOAD="$single" "$elog" kernel register /tmp/second.schema
part single-programs env LD_PRELOAD="$single" "$lives" single-format
part single-unregister "$elog" kernel unregister single

wait_until are_removed
"$elog" kernel register "$plugin" > /dev/null
part unloading "$lives" unloading "$plugin"
part unregister "$elog" kernel unregister plugin

# exec: twice, then into a program without eventlog, which lives on without the events.
wait_until are_removed
"$lives" exec > /tmp/exec 2>&1 &
program=$!
asleep() { [ "$(cat /proc/$program/comm)" = sleep ] || ! kill -0 $program 2> /dev/null; }
wait_until asleep
wait_until are_removed
part exec-lives-on cat /proc/$program/comm
part exec cat /tmp/exec
kill $program
part exec-trace sh -c "grep -o 'eventlog_lives_mark: .*' $tracing/trace"

# tracefs is mounted after the program's start, at another place.
umount $tracing /sys/kernel/debug
"$lives" late-mount > /tmp/late 2>&1 &
program=$!
wait_until grep -q early /tmp/late
mkdir "/tmp/trace fs"
mount -t tracefs tracefs "/tmp/trace fs"
wait_until grep -q late: /tmp/late
echo 1 > "/tmp/trace fs/events/user_events/eventlog_lives_mark/enable"
wait $program
part late-mount sh -c "cat /tmp/late; grep -o 'eventlog_lives_mark: .*' '/tmp/trace fs/trace'"
echo 0 > "/tmp/trace fs/events/user_events/enable"
umount "/tmp/trace fs"
mount -t tracefs tracefs $tracing

# elog record and ftrace record the same events.
wait_until are_removed
"$elog" kernel register "$load" > /dev/null
echo > $tracing/trace
echo 1 > $events/eventlog_load_item/enable
part record "$elog" record -e 'load:*' -o /tmp/run.elog -- "$load" 2000 < /dev/null
echo 0 > $events/eventlog_load_item/enable
part record-events sh -c "$elog print /tmp/run.elog | grep -o 'number=[0-9]*'"
part ftrace-events sh -c "grep -o 'number=0x[0-9a-f]* ([0-9]*)' $tracing/trace"
"$elog" kernel unregister load > /dev/null

course multitude
"""


class Lives(parts.Case):
    """One guest in which a program runs all scenarios."""

    KERNEL = "user-events-6.12"
    SCRIPT = LIVES

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        paths = [
            vm_case.built("PROGRAMS", "user_events_lifecycle"),
            vm_case.built("PROGRAMS", "user_events_load"),
            vm_case.built("ELOG"),
            vm_case.built("PROGRAMS", "plugin_shared.so"),
            vm_case.built("PROGRAMS", "user_events_single.so"),
        ]
        cls.result = cls.run_successfully(
            vm_case.kernel_or_skip(cls.KERNEL),
            ["sh", "-c", cls.SCRIPT, *paths],
            files={path: path for path in paths},
            processors=2,
        )

    def test_paged_out_memory_is_a_counted_loss(self):
        self.assertIn("ok: it is refused, and counted", self.part("fault"))

    def test_absent_gate_page_is_faulted_in(self):
        self.assertIn("ok: each enabled event is written", self.part("absent-page"))

    def test_perf_and_ftrace_start_and_stop(self):
        lines = self.part("listeners")
        for used in ("", " # Used by ftrace", " # Used by ftrace perf", " # Used by perf"):
            self.assertIn(f"ok: eventlog_lives_mark{used}", lines)
        self.assertIn("ok: three are written", lines)

    def test_disable_during_write_is_no_loss(self):
        self.assertIn("ok: that counts as no loss", self.part("stale-gate"))

    def test_enable_and_disable_under_load_lose_no_event(self):
        self.assertIn("ok: nothing is lost", self.part("toggling"))

    def test_vfork_and_spawn_do_not_affect_the_route(self):
        self.assertIn("ok: both events are written", self.part("spawning"))

    def test_a_process_that_shares_memory_shares_the_route(self):
        self.assertIn("ok: the events of both are counted", self.part("shared-memory"))

    def test_versions_get_separate_names_on_single_format_kernels(self):
        (second,) = [line for line in self.part("single-format") if line.startswith("second: ")]
        self.assertRegex(second, r"^second: eventlog_single_event_[0-9a-f]{8} $")
        name = second.removeprefix("second: ").rstrip()
        self.assertEqual(self.part("single-first"), ["user_events:eventlog_single_event"])
        self.assertEqual(self.part("single-second"), [f"user_events:{name}"])
        # The program finds both, with its fields.
        self.assertIn(second, self.part("single-programs"))
        self.assertEqual(
            sorted(self.part("single-unregister")), sorted(["eventlog_single_event", name])
        )

    def test_unloaded_plugin_unregisters_its_events(self):
        lines = self.part("unloading")
        # Both states twice, over zeros and over ones.
        self.assertEqual(lines.count("ok: nothing is written there"), 8)
        self.assertEqual(lines.count("ok: nothing is written there later"), 8)
        # Its event has no users.
        self.assertEqual(self.part("unregister"), ["eventlog_plugin_call"])

    def test_exec_ends_the_route_and_the_next_image_has_its_own(self):
        self.assertIn("ok: it counts anew", self.part("exec"))
        self.assertEqual(self.part("exec-lives-on"), ["sleep"])

    def test_late_tracefs_mount_is_found(self):
        lines = self.part("late-mount")
        self.assertRegex(lines[0], r"^early: tracefs is not mounted where this process can see it\.")
        self.assertRegex("\n".join(lines), r"\nlate: The events of provider lives are in tracefs")
        self.assertEqual(lines[-1], "eventlog_lives_mark: number=0x32 (50)")

    def test_elog_and_ftrace_record_same_events(self):
        self.part("record")
        self.assertEqual(self.part("record-events"), [f"number={n}" for n in range(2000)])
        self.assertEqual(
            self.part("ftrace-events"), [f"number=0x{n:x} ({n})" for n in range(2000)]
        )

    def test_a_thousand_events_of_a_hundred_processes(self):
        lines = self.part("multitude")
        found = [line for line in lines if line.startswith("eventlog_many_")]
        expected = [
            f"eventlog_many_{process}_kind_{kind}: number=0x{number:x} ({number})"
            for process in range(100) for kind in range(10)
            for number in [1000 * process + kind]
        ]
        self.assertEqual(sorted(found), sorted(expected))


class Rules(vm_case.Case):
    """The rules that the route depends on."""

    def test_abi_rules_hold(self):
        program = vm_case.built("PROGRAMS", "user_events_rules")
        result = self.run_guest(
            vm_case.kernel_or_skip("user-events-6.12"), [program], files={program: program}
        )
        self.assertIsNone(result.problem())
        self.assertNotIn("WRONG", result.output)
        self.assertEqual(result.status, 0, result.output)
        self.assertIn("ok: the status has neither bits nor their maximum", result.output)


@vm_case.full_tier
class LivesAmongWatchpoints(Lives):
    """The tests with KCSAN, which delays processors to find data races."""

    KERNEL = "race-6.12"
    SCRIPT = (
        "echo on > /sys/kernel/debug/kcsan\n"
        + LIVES
        + "mount -t debugfs debugfs /sys/kernel/debug\npart watched cat /sys/kernel/debug/kcsan\n"
    )

    def test_is_watched(self):
        # Reports are in the kernel's log, and fail the class.
        found = dict(line.split(": ") for line in self.part("watched") if ": " in line)
        self.assertEqual(found["enabled"], "1")
        self.assertGreater(int(found["setup_watchpoints"]), 1000)


if __name__ == "__main__":
    vm_case.main()
