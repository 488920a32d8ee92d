# SPDX-License-Identifier: MIT
"""What the integration tests share: the real elog, real programs, a directory of their own.

Each test file is a program: it exits with 0, with 1 if a test failed, with 77 if all were skipped.
"""

import calendar
import ctypes
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

ELOG = os.environ["ELOG"]
PROGRAMS = os.environ["PROGRAMS"]
EXAMPLES = os.environ["EXAMPLES"]
LIBRARY = os.environ["LIBRARY"]
# Of the sanitizer that the library was built with, if a program that loads it has to bring that.
SANITIZER_RUNTIME = os.environ.get("SANITIZER_RUNTIME", "")

# Until something counts as hanging. A sanitizer's machine is slow, and CI's is shared: there ten
# thousand providers have been seen to take more than a minute.
TIMEOUT = 150

# The quick tier runs often; the full one takes its time. What is tried by chance is tried more often
# there: see trials.
TIER = os.environ.get("EVENTLOG_TEST_TIER", "quick")
if TIER not in ("quick", "full"):
    sys.exit(f"EVENTLOG_TEST_TIER is '{TIER}', and neither quick nor full. Set one of them.")

# How each sanitizer's report begins. AddressSanitizer's exit status is 1, as that of an error of elog.
SANITIZER_REPORT = re.compile(
    r"ERROR: (Address|Leak)Sanitizer|runtime error: |WARNING: ThreadSanitizer"
)

# A shell that starts the tests in the background has them, and all that they start, ignore the keys
# that interrupt; programs of ours go by that. Tests begin as if from a terminal.
for number, action in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGQUIT, signal.SIG_DFL),
):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, action)

# Without restartable sequences all threads share one ring, and lose what finds it held by others:
# integration.conservation counts that. Where nothing may be lost, there are as many as THREADS.
IS_SHARED = os.environ.get("EVENTLOG_RSEQ") == "off"
THREADS = 1 if IS_SHARED else 2

# That ring gets its memory from those who write there. On kernels before 5.14 it is reserved at
# once.
KERNEL = tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2])
IS_SHARED_RING_LAZY = KERNEL >= (5, 14)

# What is said of a file in which a byte has changed, in a block or in what tells its size.
DAMAGE = r"the block at \d+ is damaged|bytes \d+ to \d+ are not a whole block"
FILE_HEADER_SIZE = 32
BLOCK_HEADER = struct.Struct("<4sHHI20x")  # elog(5): magic, type, flags, size
RECORDS_BLOCK = 4
LINE = re.compile(
    r"^(?P<time>\d\d:\d\d:\d\d\.\d{6}) \[(?P<cpu>\d{3,})\] (?P<process>.+)-(?P<thread>\d+) "
    r"(?P<provider>\w+):(?P<event>\w+)(?P<fields>( \w+=.*)?)$"
)
SUMMARY = re.compile(r"(\d+) events, (\d+) bytes, (\d+) lost, ([\d.]+) s, (\d+) events/s")


def trials(quick, full):
    """How often to try what only chance makes fail, by the tier."""
    return full if TIER == "full" else quick


def read_blocks(document, language):
    """The pieces of a document of ours between ``` that are in a language."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
    with open(os.path.join(root, document), encoding="utf-8") as file:
        return re.findall(rf"^```{re.escape(language)}\n(.*?)^```$", file.read(), re.M | re.S)


def nanoseconds(text):
    """Since 1970, of a time as JSON has it."""
    seconds, digits = text.removesuffix("Z").split(".")
    return calendar.timegm(time.strptime(seconds, "%Y-%m-%dT%H:%M:%S")) * 10**9 + int(digits)


def flip(path, at, bits=1):
    """Changes bits of one byte of a file."""
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ bits]))


def records_in_the_middle(path):
    """Where a block of records about half way through a recording begins, and its payload's size.

    Half way through the file itself may as well be an index, without which no event is missing.
    """
    found = []
    with open(path, "rb") as file:
        at = file.seek(FILE_HEADER_SIZE)
        while header := file.read(BLOCK_HEADER.size):
            magic, kind, _, size = BLOCK_HEADER.unpack(header)
            assert magic == b"EBLK", f"{path} is damaged before it was to be"
            if kind == RECORDS_BLOCK:
                found.append((at, size))
            at = file.seek(at + BLOCK_HEADER.size + (size + 7) // 8 * 8)
    return found[len(found) // 2]


def damage_records(path):
    """Flips a bit among the records of a block half way through a recording."""
    at, size = records_in_the_middle(path)
    flip(path, at + BLOCK_HEADER.size + size // 2)


def deny_syscall(number, error):
    """From now on that system call fails in this process, and in all that it starts."""
    steps = (
        (0x20, 0, 0, 0),  # what is called?
        (0x15, 0, 1, number),
        (0x06, 0, 0, 0x00050000 | error),
        (0x06, 0, 0, 0x7FFF0000),  # all else is allowed
    )
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    rules = struct.pack("HP", len(steps), ctypes.addressof(code))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    zero = ctypes.c_ulong(0)
    no_new_privileges, seccomp, by_filter = 38, 22, 2
    if (prctl(no_new_privileges, ctypes.c_ulong(1), zero, zero, zero) != 0
            or prctl(seccomp, ctypes.c_ulong(by_filter), rules, zero, zero) != 0):
        raise OSError(ctypes.get_errno(), "no filter of calls")


class Process(subprocess.Popen):
    """A process in the background, and in which ways it may have ended when its test is over."""

    def __init__(self, *arguments, **options):
        self.expected = {0}
        super().__init__(*arguments, **options)

    def send_signal(self, sig):
        self.expected.add(-sig)
        super().send_signal(sig)


def program(name):
    return os.path.join(PROGRAMS, name)


def example(name):
    return os.path.join(EXAMPLES, name)


class Case(unittest.TestCase):
    """A test with a scratch directory, in which EVENTLOG_DIR lies, and no process left behind.

    A process that the test has started and that still runs at its end is killed. Each other one must
    have ended with 0, by a signal of the test, or as finish() or expect() was told, and none may have
    written a sanitizer's report: otherwise the test fails.
    """

    def setUp(self):
        self.scratch = tempfile.mkdtemp(prefix="eventlog-test-", dir="/dev/shm")
        self.directory = os.path.join(self.scratch, "eventlog")
        self.environment = {**os.environ, "EVENTLOG_DIR": self.directory, "TZ": "UTC"}
        self.processes = []

    def tearDown(self):
        try:
            # The end of one process may end another: unshare(1) fails when its child is killed.
            running = [each for each in self.processes if each.poll() is None]
            for process in running:
                process.kill()
            found = [self.exit_problem(process, process in running) for process in self.processes]
        finally:
            shutil.rmtree(self.scratch, ignore_errors=True)
        found = [each for each in found if each]
        if found:
            self.fail("\n".join(found))

    @staticmethod
    def exit_problem(process, was_killed):
        """A sentence about a process that ended in a way that the test did not expect, or None. The
        status of a process that the harness killed says nothing."""
        said = process.communicate(timeout=TIMEOUT)
        text = "".join(each if isinstance(each, str) else each.decode(errors="replace")
                       for each in said if each)
        is_expected = was_killed or process.returncode in process.expected
        if is_expected and not SANITIZER_REPORT.search(text):
            return None
        return f"{process.args} has ended with {process.returncode}:\n{text}"

    def path(self, name):
        return os.path.join(self.scratch, name)

    def create_once(self, name, make):
        """A copy, for this test, of a file that the first test of its class to want it has made.

        `make` makes it where this test has it. No name stands for two contents."""
        kind = type(self)
        if "kept_files" not in vars(kind):
            kind.kept_files = tempfile.mkdtemp(prefix="eventlog-test-", dir="/dev/shm")
            kind.addClassCleanup(shutil.rmtree, kind.kept_files, ignore_errors=True)
        kept = os.path.join(kind.kept_files, name)
        if os.path.exists(kept):
            return shutil.copy(kept, self.path(name))
        make(self.path(name))
        shutil.copy(self.path(name), kept)
        return self.path(name)

    def start(self, *command, **options):
        """Starts a command in the background."""
        settings = {
            "env": self.environment,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "encoding": "utf-8",
            **options,
        }
        process = Process(list(command), **settings)
        self.processes.append(process)
        return process

    def start_python(self, start, *arguments, **variables):
        """Starts a Python that loads the library, by self.start or self.start_provider."""
        environment = {**self.environment, "LD_LIBRARY_PATH": os.path.dirname(LIBRARY), **variables}
        if SANITIZER_RUNTIME:
            environment["LD_PRELOAD"] = SANITIZER_RUNTIME
            # Python itself leaves much behind.
            environment["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        return start("python3", "-B", *arguments, env=environment, stdin=subprocess.PIPE)

    def run_elog(self, *arguments, status=0, **options):
        """Runs elog to its end, checks its exit status, returns the finished process."""
        settings = {
            "env": self.environment,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "encoding": "utf-8",
            "timeout": TIMEOUT,
            **options,
        }
        result = subprocess.run([ELOG, *arguments], check=False, **settings)
        said = f"{arguments}\n{result.stdout}{result.stderr}"
        self.assertEqual(result.returncode, status, said)
        self.assertNotRegex(said, SANITIZER_REPORT)
        return result

    def cpu_share(self, process, seconds=0.5):
        """Which part of the time a process runs, of that in which it does not wait for a CPU.

        So one that never sleeps is told from one that does on a machine with other work, too."""
        def times():
            """In nanoseconds: running, and waiting for a CPU, of all threads."""
            running = waiting = 0
            for thread in os.listdir(f"/proc/{process.pid}/task"):
                with open(f"/proc/{process.pid}/task/{thread}/schedstat", encoding="ascii") as file:
                    found = file.read().split()
                running += int(found[0])
                waiting += int(found[1])
            return running, waiting

        begin, before = time.monotonic_ns(), times()
        time.sleep(seconds)
        running, waiting = (late - early for late, early in zip(times(), before))
        return running / max(time.monotonic_ns() - begin - waiting, running, 1)

    def bytes_read_by(self, *arguments):
        """How much a command of elog has read, of all files together."""
        # The shell's count includes that of the children it has waited for.
        script = '"$@" >/dev/null && cat /proc/$$/io'
        output, _ = self.finish(self.start("/bin/sh", "-c", script, "sh", ELOG, *arguments))
        return int(re.search(r"rchar: (\d+)", output)[1])

    def wait_for(self, condition, what):
        end = time.monotonic() + TIMEOUT
        while not condition():
            if time.monotonic() > end:
                self.fail(f"waited in vain: {what}")
            time.sleep(0.01)

    def names(self, folder, may_be_missing=False):
        """The files of a folder of the directory. That it is not there is an error, unless no program
        of this test need have made it yet."""
        try:
            return sorted(os.listdir(os.path.join(self.directory, folder)))
        except FileNotFoundError:
            if may_be_missing:
                return []
            raise

    def start_provider(self, *command, **options):
        """Starts a program and waits until it has published its provider."""
        process = self.start(*command, **options)
        has_published = False

        def is_decided():
            nonlocal has_published
            has_published = any(f".{process.pid}." in name for name in
                                self.names("providers", may_be_missing=True))
            return has_published or process.poll() is not None

        self.wait_for(is_decided, "a provider")
        self.assertTrue(has_published, f"{command} has ended without a provider")
        return process

    def is_mapped(self, process, folder):
        """Whether a process has mapped a file of a folder of the directory."""
        try:
            with open(f"/proc/{process.pid}/maps", encoding="utf-8") as file:
                return os.path.join(self.directory, folder) + "/" in file.read()
        except (FileNotFoundError, ProcessLookupError):
            return False

    def start_recording(self, *arguments):
        """Starts `elog record` and waits until it listens, and its file can be read.

        It maps its subscription when all gates are open. That the subscription is there says less,
        and so does a file: it may be that of the recording before.
        """
        process = self.start(ELOG, "record", *arguments)
        self.wait_for(
            lambda: self.is_mapped(process, "subscriptions") or process.poll() is not None,
            "a subscription",
        )
        if "-o" in arguments and "--rotate" not in arguments:
            path = arguments[arguments.index("-o") + 1]
            self.wait_for(
                lambda: os.path.exists(path) and os.path.getsize(path) > 0
                or process.poll() is not None,
                "a file",
            )
        return process

    def record_with_losses(self, path, threads, events, *options, status=0):
        """Records more events of each thread than all buffers hold, while nobody reads.

        Returns how many were attempted, recorded and lost, and what elog said of it.
        """
        recording = self.start_recording("-e", "counter:*", "--wait", "--buffer-size", "128K",
                                         "-o", path, *options)
        recording.send_signal(signal.SIGSTOP)
        output, _ = self.finish(self.start(program("counter"), str(threads), str(events)))
        recording.send_signal(signal.SIGCONT)
        recording.send_signal(signal.SIGINT)
        _, errors = self.finish(recording, status)
        recorded, _, lost = self.summary(errors)
        self.assertGreater(lost, 0)
        attempted = int(output.split()[1])
        self.assertEqual(recorded + lost, attempted)
        return attempted, recorded, lost, errors

    def stop(self, process, with_signal=signal.SIGINT):
        """Ends a process in good order; returns its output."""
        process.send_signal(with_signal)
        return self.finish(process)

    @staticmethod
    def expect(process, *statuses):
        """Besides 0, of a process whose end the test looks at by itself, or does not await."""
        process.expected.update(statuses)

    def finish(self, process, status=0):
        """Waits for a process to end by itself, checks its exit status, returns its output."""
        self.expect(process, status)
        output, errors = process.communicate(timeout=TIMEOUT)
        self.assertEqual(process.returncode, status, f"{output}{errors}")
        return output, errors

    def summary(self, errors):
        """Events, bytes, lost of a recording's last words."""
        found = SUMMARY.search(errors)
        self.assertIsNotNone(found, errors)
        self.assertGreaterEqual(float(found[4]), 0)
        return int(found[1]), int(found[2]), int(found[3])

    def assert_no_files_left(self):
        self.assertEqual(self.names("subscriptions"), [])
        self.assertEqual(self.names("providers"), [])

    def assert_one_message(self, errors, *parts):
        """An error is one line that names the command and says something."""
        lines = errors.strip().splitlines()
        self.assertEqual(len(lines), 1, errors)
        self.assertTrue(lines[0].startswith("elog: "), errors)
        self.assertTrue(lines[0].endswith((".", "list", "--wait.")), errors)
        for part in parts:
            self.assertIn(part, errors)


def main():
    result = unittest.main(exit=False, verbosity=2).result
    for test, reason in result.skipped:
        print(f"skipped: {test}: {reason}")
    if not result.wasSuccessful():
        sys.exit(1)
    if result.skipped and len(result.skipped) == result.testsRun:
        sys.exit(77)
