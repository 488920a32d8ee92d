# SPDX-License-Identifier: MIT
"""Scripts in guests that consist of parts: each has a title, output and a status, which tests check."""

import re

import vm_case

# The beginning of such scripts. `part TITLE COMMAND...` runs a part; `wait_until COMMAND...` waits until
# the command succeeds. It fails after minutes, because the machine may be busy, and then prints the
# processes, the kernel's messages and the ends of output files. `start_processors` sets all processors of
# a guest with parallel processors (machine.Run) online.
SHELL = """
part() {
    echo "part $1"
    shift
    "$@" 2>&1
    echo "status $?"
    echo "end"
}
wait_until() {
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        if [ $tries -ge 3000 ]; then
            describe
            echo "waited in vain: $*"
            exit 1
        fi
        sleep 0.1
    done
}
start_processors() {
    for online in /sys/devices/system/cpu/cpu[1-9]/online; do
        echo 1 > $online || exit
    done
}
describe() {
    ps
    ls -l /tmp /sys/kernel/tracing/events/*/eventlog* 2>&1 | tail -n 15
    dmesg | tail -n 10
    for file in /tmp/*output /tmp/*errors; do
        [ ! -f "$file" ] || tail -n 5 "$file" | sed "s|^|$file: |"
    done
}
"""


class Case(vm_case.Case):
    """One guest that has run a script; the tests check its parts."""

    def part(self, title, status=0):
        """The lines that a part has printed."""
        found = re.search(
            rf"^part {title}\n(.*?)^status (\d+)\nend$", self.result.output,
            re.MULTILINE | re.DOTALL,
        )
        self.assertIsNotNone(found, self.result.output)
        self.assertNotIn("WRONG", found[1])
        self.assertEqual(int(found[2]), status, found[1])
        return found[1].splitlines()

    def assert_rejected(self, sentences):
        """Checks that these parts failed with these messages."""
        for title, sentence in sentences.items():
            with self.subTest(title):
                self.assertIn(sentence, "\n".join(self.part(title, 1)))
