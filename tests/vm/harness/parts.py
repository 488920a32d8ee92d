# SPDX-License-Identifier: MIT
"""Scripts in guests that have parts: each has a title, says what it has to say, and ends with a
status, for tests to look at one by one."""

import re

import vm_case

# What such a script begins with. `part TITLE COMMAND...` runs a part; `wait_until COMMAND...` waits
# until the command succeeds. That it waits in vain is told after minutes, for a machine may be busy,
# together with what there is then: who runs, what the kernel said, and what was sent to files.
# `start_processors` sets all processors of a guest online that runs in parallel (machine.Run).
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
    for file in /tmp/*said /tmp/*errors; do
        [ ! -f "$file" ] || tail -n 5 "$file" | sed "s|^|$file: |"
    done
}
"""


class Case(vm_case.Case):
    """One guest, in which a script has run whose parts are looked at."""

    def part(self, title, status=0):
        """What a part has said, by line."""
        found = re.search(
            rf"^part {title}\n(.*?)^status (\d+)\nend$", self.result.output,
            re.MULTILINE | re.DOTALL,
        )
        self.assertIsNotNone(found, self.result.output)
        self.assertNotIn("WRONG", found[1])
        self.assertEqual(int(found[2]), status, found[1])
        return found[1].splitlines()

    def assert_rejected(self, sentences):
        """That these parts have failed, and what each has said."""
        for title, sentence in sentences.items():
            with self.subTest(title):
                self.assertIn(sentence, "\n".join(self.part(title, 1)))
