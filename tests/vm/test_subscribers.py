#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Subscribers in the kernel: a module receives exactly the events of programs, other modules and the kernel
that match its patterns, in any context, and the gates close when it unsubscribes."""

import pathlib
import re

import kernel_module
import loads
import parts
import vm_case

ROUNDS = 50
SHOPS = 3
NMIS = 1000
HERE = pathlib.Path(__file__).resolve().parent

SCRIPT = parts.SHELL + rf"""
elog=$0 shop=$1 check=$2
hooks=/sys/module/eventlog/parameters/kernel_hooks
parameters=/sys/module/eventlog_test_subscriber/parameters
insmod /eventlog.ko remove_idle=1 || exit
mount -t debugfs none /sys/kernel/debug 2> /dev/null

part checks "$check" /eventlog_test_subscriber.ko $3 $4
# Runs a command beside a subscriber with these parameters, and prints its counts.
beside() {{
    insmod /eventlog_test_subscriber.ko $1 || return
    shift
    "$@"
    status=$?
    echo "received $(cat $parameters/received), left out $(cat $parameters/left_out)"
    rmmod eventlog_test_subscriber && return $status
}}
shops() {{
    for i in $(seq {SHOPS}); do "$shop" {ROUNDS} & all="$all $!"; done
    wait $all
}}
part alone beside provider=shop shops
# Subscriptions through the device with the same patterns.
record() {{ "$elog" record --via device "$@"; }}
picked() {{ beside "$1" record -e "$2" -o /tmp/$3.elog -j -- "$shop" {ROUNDS}; }}
part all picked provider=shop 'shop:*' all
part warnings picked 'provider=s* level=2' 'shop:*@warn' warnings
part sales picked 'provider=shop level=3 keywords=1' 'shop:*@info/sales' sales
part refunds picked 'event=r?fund' 'shop:refund' refunds

sleep_with_hooks() {{ sleep 0.5; echo "attached to $(cat $hooks)"; }}
part switches beside 'provider=kernel event=switch' sleep_with_hooks
part detached cat $hooks
part unnamed beside 'provider=*' sleep_with_hooks
ticks() {{
    insmod /eventlog_ticker.ko
    ticked() {{ [ $(cat $parameters/received) -ge 2 ]; }}
    wait_until ticked
    cat $parameters/last
    rmmod eventlog_ticker
}}
part ticks beside provider=ticker ticks
insmod /eventlog_nmi.ko || exit
emit() {{ echo {NMIS} > /sys/module/eventlog_nmi/parameters/emit; }}
part nmis beside provider=nmis emit
# The subscriber emits an event for each received one. It and a subscription match these events, too.
echoes() {{
    beside 'echo=1' record -e echoes -o /tmp/echoes.elog -j -- \
        sh -c 'echo {NMIS} > /sys/module/eventlog_nmi/parameters/emit'
}}
part echoes echoes
rmmod eventlog_nmi

insmod /eventlog_watch.ko || exit
in_use() {{ rmmod eventlog; }}
part in_use in_use
watched() {{ "$shop" {ROUNDS}; cat /sys/kernel/debug/eventlog_watch; }}
part watched watched
rmmod eventlog_watch || exit
is_unloaded() {{ rmmod eventlog 2> /dev/null; [ ! -e /sys/module/eventlog ]; }}
part unload wait_until is_unloaded
"""
FILES = tuple(f"{name}.elog" for name in ("all", "warnings", "sales", "refunds", "echoes"))


class Subscribers(parts.Case):
    """One guest in which subscribers are loaded and unloaded; the tests check the results."""

    KERNEL = "debian-6.12"
    COUNT = vm_case.by_tier(5_000, 20_000)
    CYCLES = vm_case.by_tier(20, 50)
    PARAMETERS = ("preempt=full",)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        kernel = vm_case.kernel_or_skip(cls.KERNEL)
        module = vm_case.module_or_skip(kernel)
        programs = [vm_case.built("ELOG"),
                    *(vm_case.built("PROGRAMS", name)
                      for name in ("device_provider", "eventlog_subscriber_check"))]
        using = [kernel_module.kernel_with_module(kernel, pathlib.Path(module), HERE / folder) / name
                 for folder, name in (("subscriber", "eventlog_test_subscriber.ko"),
                                      ("nmi", "eventlog_nmi.ko"))]
        cls.result = cls.run_script(
            kernel, SCRIPT, programs, str(cls.COUNT), str(cls.CYCLES),
            files={"/eventlog.ko": module,
                   **{f"/{path.name}": str(path) for path in using},
                   **{f"/{name}": str(kernel_module.sample_of_module(module, name))
                      for name in ("eventlog_ticker.ko", "eventlog_watch.ko")}},
            collect=tuple(f"/tmp/{name}" for name in FILES),
            parameters=cls.PARAMETERS,
            processors=2,
            time_limit=1200,
        )

    def received(self, title):
        """The number of events that the subscriber received in a part, and of those left out."""
        output = "\n".join(self.part(title))
        counts = re.search(r"^received (\d+), left out (\d+)$", output, re.MULTILINE)
        return tuple(int(count) for count in counts.groups())

    def recorded(self, title):
        """The number of events, including lost ones, of the subscription in a part."""
        totals = loads.summary(self.part(title))
        return totals["events"] + totals["lost"]

    def test_receives_every_program_event_unchanged(self):
        self.assertEqual(self.part("checks")[-1], "ok: all subscriber checks")

    def test_enables_events_without_other_listeners(self):
        self.assertEqual(self.received("alone"), (SHOPS * 16 * ROUNDS, 0))

    def test_receives_same_events_as_subscriptions(self):
        self.assertEqual(self.received("all"), (16 * ROUNDS, 0))
        for title in ("all", "warnings", "sales", "refunds"):
            with self.subTest(title):
                self.assertGreaterEqual(self.recorded(title), ROUNDS)
                self.assertEqual(self.received(title), (self.recorded(title), 0))

    def test_attaches_kernel_provider_only_while_subscribed(self):
        self.assertGreater(self.received("switches")[0], 3)
        self.assertIn("attached to 1", self.part("switches"))
        self.assertEqual(self.part("detached"), ["0"])

    def test_receives_kernel_events_only_by_name(self):
        self.assertEqual(self.received("unnamed"), (0, 0))
        self.assertIn("attached to 0", self.part("unnamed"))

    def test_receives_events_of_module_loaded_later_and_unloaded_earlier(self):
        last, _ = self.part("ticks")
        shown = re.search(r"^ticker:tick number=0 level=4 keywords=0 schema=\d+ hash=\w+ "
                         r"owner=eventlog_ticker process=0 thread=\d+ user=0 "
                         r"payload=(\w{16})$", last)
        self.assertIsNotNone(shown, last)
        seconds = int.from_bytes(bytes.fromhex(shown[1]), "little")
        count, left_out = self.received("ticks")
        self.assertGreaterEqual(seconds, 2)
        # More seconds may pass before it is unloaded.
        self.assertGreaterEqual(count, seconds)
        self.assertEqual(left_out, 0)

    def test_receives_nmi_events(self):
        self.assertEqual(self.received("nmis"), (2 * NMIS, 0))

    def test_skips_and_counts_recursive_events(self):
        self.assertEqual(self.received("echoes"), (2 * NMIS, 2 * NMIS))
        self.assertEqual(self.recorded("echoes"), 2 * NMIS)

    def test_prevents_module_unload(self):
        self.part("in_use", 1)

    def test_counts_errors_as_documented(self):
        self.assertEqual(self.part("watched"), [f"{ROUNDS} shop:break_in", "0 others"])

    def test_leaves_nothing_behind(self):
        self.part("unload")


@vm_case.full_tier
class SubscribersBefore66(Subscribers):
    """The tests on an older kernel."""

    KERNEL = "debian-6.1"


@vm_case.full_tier
class SubscribersUnderDebugging(Subscribers):
    """The tests on a kernel with checkers."""

    KERNEL = "debug-6.12"
    COUNT = 2_000
    PARAMETERS = ()


if __name__ == "__main__":
    vm_case.main()
