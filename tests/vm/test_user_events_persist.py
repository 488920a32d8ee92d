#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog kernel register registers events with the kernel before their program starts, so that listeners that
were enabled before receive its first event; elog kernel unregister removes them."""

import json
import re

import json_page
import parts
import vm_case

# Each part has elog's output and exit status.
SCRIPT = parts.SHELL + """
elog=$0 load=$1 examples=$2
tracing=/sys/kernel/tracing
events=$tracing/events/user_events
cat > /tmp/other.schema <<'END'
provider load {
    event item info { another: u8 }
}
END
listing() {
    ls -d $tracing/events/user_events*/eventlog_* 2>/dev/null | sed 's|.*/events/||'
}
emit() {
    echo > $tracing/trace
    "$load" $1 < /dev/null > /dev/null || echo "the program failed"
    grep eventlog_ $tracing/trace | sed 's/.*eventlog_/eventlog_/'
}

part nothing "$elog" kernel unregister load
part register "$elog" kernel register --persist "$load"
part registered listing
part again "$elog" kernel register "$load"
echo 1 > $events/eventlog_load_item/enable
part emitted emit 3
part in-use "$elog" kernel unregister load
echo 0 > $events/eventlog_load_item/enable
part unlistened emit 3
part unregister "$elog" kernel unregister 'load:it*'
part unregistered listing

part register-json "$elog" kernel register --json "$load"
part again-json "$elog" kernel register --json "$load"
echo 1 > $events/eventlog_load_item/enable
part in-use-json "$elog" kernel unregister --json load
echo 0 > $events/eventlog_load_item/enable
part unregister-json "$elog" kernel unregister --json load

part register-other "$elog" kernel register --persist /tmp/other.schema
part register-second "$elog" kernel register --persist "$load"
part second-again "$elog" kernel register --persist "$load"
echo 1 > $tracing/events/user_events_multi/enable
part emitted-second emit 2
echo 0 > $tracing/events/user_events_multi/enable
part unregister-both "$elog" kernel unregister load
part unregistered-both listing

# A program's own event does not become one that stays.
mkfifo /tmp/hold
"$load" 0 < /tmp/hold > /dev/null &
program=$!
exec 9> /tmp/hold
wait_until [ -e $events/eventlog_load_item ]
part running "$elog" kernel register "$load"
part of-program "$elog" kernel unregister load
exec 9>&-
wait $program
wait_until [ ! -e $events/eventlog_load_item ]

part examples-register "$elog" kernel register $examples/order_service $examples/hello \
    $examples/sessions $examples/timed_scopes_and_gauges
part examples-before listing
echo 1 > $tracing/events/user_events/enable
echo > $tracing/trace
part examples-run sh -c "($examples/order_service 1 && $examples/hello 2 && $examples/sessions 1 &&
    $examples/timed_scopes_and_gauges 1) > /dev/null"
echo 0 > $tracing/events/user_events/enable
part examples-after listing
part examples-events sh -c "grep -o 'eventlog_[a-z_]*' $tracing/trace | sort -u"
part examples-unregister "$elog" kernel unregister '*'
part examples-left listing

echo 0 > /proc/sys/kernel/user_events_max
part limit "$elog" kernel register "$load"
echo 32768 > /proc/sys/kernel/user_events_max

chmod 755 $tracing $tracing/events $events
chmod 666 $tracing/user_events_data
part permission su -s /bin/sh user -c "$elog kernel register $load"
"$elog" kernel register "$load" > /dev/null
part permission-remove su -s /bin/sh user -c "$elog kernel unregister load"
chmod 666 $tracing/dynamic_events
part permission-by-hand su -s /bin/sh user -c "echo u:by_hand >> $tracing/dynamic_events"
part refused-by-hand grep by_hand $tracing/dynamic_events
part made-by-hand sh -c "echo u:by_hand >> $tracing/dynamic_events &&
    grep -o u:by_hand $tracing/dynamic_events"
chmod 700 $tracing
part no-way su -s /bin/sh user -c "$elog kernel unregister load"
"""


def items(count):
    return [
        f"eventlog_load_item: number=0x{number:x} ({number}) amount=0x{number:x} ({number})"
        f" word=word {number}"
        for number in range(count)
    ]


class Persist(parts.Case):
    """One guest; the tests check the parts of its script."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        elog = vm_case.built("ELOG")
        load = vm_case.built("PROGRAMS", "user_events_load")
        examples = vm_case.built("EXAMPLES")
        names = ("order_service", "hello", "sessions", "timed_scopes_and_gauges")
        paths = [elog, load, *(f"{examples}/{name}" for name in names)]
        cls.result = cls.run_successfully(
            vm_case.kernel_or_skip("user-events-6.12"),
            ["sh", "-c", SCRIPT, elog, load, examples],
            files={path: path for path in paths},
        )

    def json(self, title, status=0):
        """The only object that a part has written."""
        (line,) = [line for line in self.part(title, status) if line.startswith("{")]
        return json.loads(line)

    def test_registers_events_of_stopped_program(self):
        self.assertEqual(self.part("register"), ["user_events:eventlog_load_item"])
        self.assertEqual(self.part("registered"), ["user_events/eventlog_load_item"])

    def test_records_from_first_event(self):
        self.assertEqual(self.part("emitted"), items(3))

    def test_records_nothing_while_disabled(self):
        self.assertEqual(self.part("unlistened"), [])

    def test_twice_is_reported(self):
        lines = self.part("again")
        self.assertEqual(lines[0], "user_events:eventlog_load_item")
        self.assertRegex(lines[1], r"^1 of 1 events existed before\. .*end it, and register")

    def test_enabled_event_is_not_removed(self):
        lines = self.part("in-use", status=1)
        self.assertRegex(lines[0], r"^elog: eventlog_load_item is in use: .*; then try again\.$")
        self.assertRegex(lines[1], r"^elog: 1 of 1 events have not been removed")

    def test_is_removed_by_a_pattern(self):
        self.assertEqual(self.part("unregister"), ["eventlog_load_item"])
        self.assertEqual(self.part("unregistered"), [])

    def test_is_shown_as_json(self):
        name = "user_events:eventlog_load_item"
        registered = {"version": 1, "kernel_event": name, "provider": "load", "event": "item",
                      "reason": None}
        self.assertEqual(self.json("register-json"), {**registered, "state": "new"})
        self.assertEqual(self.json("again-json"), {**registered, "state": "existing"})
        output = self.json("in-use-json", status=1)
        self.assertEqual((output["kernel_event"], output["state"]), ("eventlog_load_item", "stays"))
        self.assertEqual(list(json_page.JsonPage().check("kernel registration", output)), [])
        self.assertRegex(output["reason"], r"^eventlog_load_item is in use: .*; then try again\.$")
        self.assertEqual(
            self.json("unregister-json"),
            {"version": 1, "kernel_event": "eventlog_load_item", "state": "removed",
             "reason": None},
        )

    def test_missing_event_is_an_error(self):
        (line,) = self.part("nothing", status=1)
        self.assertRegex(line, r"^elog: The kernel has no event that matches 'load'\. See the events ")

    def test_coexists_with_other_version(self):
        self.assertEqual(self.part("register-other"), ["user_events:eventlog_load_item"])
        self.assertEqual(self.part("register-second"), ["user_events_multi:eventlog_load_item.*"])
        self.assertRegex(self.part("second-again")[1], "^1 of 1 events existed before")
        # In that system the trace has the number, too.
        second = [re.sub(r"item\.\w+:", "item:", line) for line in self.part("emitted-second")]
        self.assertEqual(second, items(2))
        self.assertEqual(self.part("unregister-both"), ["eventlog_load_item"])
        self.assertEqual(self.part("unregistered-both"), [])

    def test_of_running_program_reports_lifetime(self):
        self.assertRegex(self.part("running")[1], "^1 of 1 events existed before")
        self.assertRegex(self.part("of-program", status=1)[0], "is in use: a program has it")

    def test_matches_registration_of_every_example(self):
        before = self.part("examples-before")
        self.assertGreater(len(before), 6)
        # One that differs in any way would be in user_events_multi now.
        self.assertEqual(self.part("examples-after"), before)
        self.assertEqual(self.part("examples-run"), [])
        recorded = self.part("examples-events")
        for name in ("eventlog_shop_order_placed", "eventlog_hello_greeting"):
            self.assertIn(name, recorded)
        self.assertEqual(
            [f"user_events/{name}" for name in self.part("examples-unregister")], before
        )
        self.assertEqual(self.part("examples-left"), [])

    def test_above_limit_is_rejected(self):
        (line,) = self.part("limit", status=1)
        self.assertRegex(line, r"^elog: The kernel has as many events as kernel\.user_events_max ")

    def test_without_permission_reports_required_user(self):
        (line,) = self.part("permission", status=1)
        self.assertRegex(line, r"^elog: The kernel requires root or CAP_PERFMON to regis")
        lines = self.part("permission-remove", status=1)
        self.assertRegex(lines[0], r"^elog: The kernel requires root or CAP_PERFMON to re")
        (line,) = self.part("no-way", status=1)
        self.assertRegex(line, r"^elog: user_events_data of tracefs may not be opened")

    def test_manual_registration_requires_permission(self):
        """Whatever the mode of the file."""
        self.assertIn("Operation not permitted", self.part("permission-by-hand", status=1)[0])
        self.assertEqual(self.part("refused-by-hand", status=1), [])
        self.assertEqual(self.part("made-by-hand"), ["u:by_hand"])


if __name__ == "__main__":
    vm_case.main()
