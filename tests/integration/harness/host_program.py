# SPDX-License-Identifier: MIT
"""Drives tests/programs/host_limits, the program with limits and sandboxes, step by step."""

import mmap
import os
import re
import struct
import time

import harness

HEADER = struct.Struct("<IIII4Q256s256s")  # control_page, but for the output
OUTPUT_SIZE = 2048
EMITS_OF_STEP = 20
END_STATUS = 3
STEPS = {"restrict": "r", "emit": "e", "burst": "b", "work": "w", "callbacks": "c", "fork": "f",
         "status": "s", "request": "p", "end": "q"}
PAGE = os.path.join(os.path.dirname(__file__), "../../../docs/man/eventlog.7")
RUNS_ON, ENDED, HANGS = range(3)


class Host:
    """One run of the program, with the library or without."""

    def __init__(self, test, name, when, *restrictions, with_library=True, **options):
        self.path = test.path(name)
        with open(self.path, "wb") as file:
            file.truncate(HEADER.size + OUTPUT_SIZE)
        with open(self.path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), HEADER.size + OUTPUT_SIZE)
        self.number = 0
        program = harness.program("host_limits" if with_library else "host_limits_without")
        command = [*options.pop("wrapper", ()), program, self.path, when, *restrictions]
        self.process = test.start(*command, **options)
        test.expect(self.process, END_STATUS, 1)

    def begin_step(self, step):
        self.number += 1
        # In one store: the program polls the word.
        with memoryview(self.memory).cast("I") as words:
            words[0] = self.number << 8 | ord(STEPS[step])

    def state(self):
        _, done = struct.unpack_from("<II", self.memory, 0)
        if done >> 8 == self.number:
            return RUNS_ON
        return HANGS if self.process.poll() is None else ENDED

    def wait(self):
        """For the end of the step. False if the program hangs."""
        end = time.monotonic() + harness.TIMEOUT / 5
        while self.state() == HANGS:
            if time.monotonic() > end:
                return False
            time.sleep(0.001)
        return True

    def step(self, *steps):
        for step in steps:
            self.begin_step(step)
            if not self.wait():
                return False
        return True

    def result(self):
        """(exit status, output in the control page, output of the process), after the end."""
        output, errors = self.process.communicate(timeout=harness.TIMEOUT)
        _, _, size, *_ = HEADER.unpack_from(self.memory)
        return (self.process.returncode,
                self.memory[HEADER.size:HEADER.size + size].decode(), output + errors)

    def status(self):
        """(code, sentence, (written, lost, unattached, emits)) of the last step `status`."""
        _, _, _, code, *counters, sentence, _ = HEADER.unpack_from(self.memory)
        return code, sentence.split(b"\0")[0].decode(), tuple(counters)


def finish(hosts):
    """Ends the programs of a list, and returns their results."""
    for host in hosts:
        host.begin_step("end")
    return [host.result() for host in hosts]


def step_all(hosts, *steps):
    """Runs steps in all programs at the same time. Returns those that hang."""
    for step in steps:
        for host in hosts:
            host.begin_step(step)
        hanging = [host for host in hosts if not host.wait()]
        if hanging:
            return hanging
    return []


def listed_calls():
    """The system calls that eventlog(7) lists, by step."""
    with open(PAGE, encoding="utf-8") as file:
        section = file.read().split(".Ss System calls\n")[1].split("\n.El\n")[0]
    steps = {}
    for item in section.split("\n.It ")[1:]:
        step, _, calls = item.partition("\n")
        # Behind a semicolon are notes.
        steps[step] = set(re.findall(r"[a-z_0-9]+", calls.partition(";")[0]))
    return steps


def system_call_number(name):
    """The number of a system call of this machine, or None."""
    folders = ["/usr/include/x86_64-linux-gnu", "/usr/include/aarch64-linux-gnu", "/usr/include"]
    for folder in folders:
        for header in ("asm/unistd_64.h", "asm-generic/unistd.h"):
            path = os.path.join(folder, header)
            if not os.path.exists(path):
                continue
            with open(path, encoding="ascii") as file:
                for line in file:
                    words = line.split()
                    if words[:2] == ["#define", f"__NR_{name}"] and words[2].isdigit():
                        return int(words[2])
    return None
