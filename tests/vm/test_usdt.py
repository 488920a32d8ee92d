#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perf finds the USDT probes of a program, the kernel switches their semaphores, and each event has its
fields."""

import re

import vm_case

# perf keeps a copy of the program in its home.
SCRIPT = r"""
export HOME=/tmp
perf buildid-cache --add "$0" && perf probe --quiet --add 'sdt_probed:*' || exit
perf record --quiet --all-cpus --event 'sdt_probed:*' --output /tmp/perf.data -- "$0" 2 || exit
perf script --input /tmp/perf.data --fields event,trace 2> /dev/null
"""
EVENT = re.compile(r"sdt_probed:(\w+): +\(\w+\)(.*)")


class Usdt(vm_case.Case):
    """One guest, in which perf looks at a program that emits everything twice."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        perf = vm_case.perf_or_skip()
        program = vm_case.built("PROGRAMS", "usdt_probes")
        cls.result = cls.run_successfully(
            vm_case.kernel_or_skip("user-events-6.12"), ["sh", "-c", SCRIPT, program],
            files={"/usr/bin/perf": perf, program: program}, memory=1536,
        )
        cls.events = EVENT.findall(cls.result.output)

    def of(self, event):
        """The arguments of each hit, as far as they are no addresses."""
        return [[int(value) for value in re.findall(r"arg\d+=(-?\d+)", arguments)
                 if int(value) < 1 << 40] for name, arguments in self.events if name == event]

    def test_each_event_is_hit_as_often_as_it_is_emitted(self):
        names = [name for name, _ in self.events]
        for name in ("order_placed", "connected", "idle", "crowded", "request"):
            self.assertEqual(names.count(name), 2, name)

    def test_lazy_events_are_made_for_it(self):
        self.assertIn("2 made", self.result.output)

    def test_arguments_are_the_fields(self):
        self.assertEqual(self.of("order_placed"), [[-7, 2], [-8, 2]])
        self.assertEqual(self.of("connected"), [[80, -5, 0, 2, 1]] * 2)
        self.assertEqual(self.of("crowded"), [[*range(1, 12)]] * 2)
        self.assertEqual(self.of("request"), [[81, 4096]] * 2)


if __name__ == "__main__":
    vm_case.main()
