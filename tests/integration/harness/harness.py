# SPDX-License-Identifier: MIT
"""The base of the integration tests: runs the real elog and real programs in a scratch directory.

Each test file is a program. Its exit status is 0, 1 if a test failed, or 77 if all were skipped.
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

import process_files

ELOG = os.environ["ELOG"]
PROGRAMS = os.environ["PROGRAMS"]
EXAMPLES = os.environ["EXAMPLES"]
LIBRARY = os.environ["LIBRARY"]
# The runtime of the library's sanitizer, for programs that load the library without it.
SANITIZER_RUNTIME = os.environ.get("SANITIZER_RUNTIME", "")

# Limit for a hanging process. Sanitizers and shared CI machines are slow: ten thousand providers
# have taken more than a minute there.
TIMEOUT = 150

# The quick tier runs often and briefly. Trials that fail by chance are repeated more often in the
# full tier: see trials.
TIER = os.environ.get("EVENTLOG_TEST_TIER", "quick")
if TIER not in ("quick", "full"):
    sys.exit(f"EVENTLOG_TEST_TIER is '{TIER}', and neither quick nor full. Set one of them.")

# The start of each sanitizer's report. AddressSanitizer's exit status is 1, like that of an error
# of elog.
SANITIZER_REPORT = re.compile(
    r"ERROR: (Address|Leak)Sanitizer|runtime error: |WARNING: ThreadSanitizer"
)

# A background job of a shell, and everything it starts, ignores the signals of the interrupt keys,
# and elog respects that. The tests start as if from a terminal.
for number, action in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGQUIT, signal.SIG_DFL),
):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, action)

# Without restartable sequences all threads share one ring, and lose events that find it locked;
# integration.conservation counts them. Tests without losses use THREADS threads.
IS_SHARED = os.environ.get("EVENTLOG_RSEQ") == "off"
THREADS = 1 if IS_SHARED else 2

# Writers allocate the memory of the shared ring. On kernels before 5.14 it is allocated in advance.
KERNEL = tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2])
IS_SHARED_RING_LAZY = KERNEL >= (5, 14)

# The message about a changed byte, in a block or in its size.
DAMAGE = r"the block at \d+ is damaged|bytes \d+ to \d+ are not a whole block"
FILE_HEADER_SIZE = 64
BLOCK_HEADER = struct.Struct("<4sHHI20x")  # elog(5): magic, type, flags, size
RECORDS_BLOCK = 4
LINE = re.compile(
    r"^((?P<date>\d{4}-\d\d-\d\d) )?(?P<time>\d\d:\d\d:\d\d\.\d{6}) \[(?P<cpu>\d{3,})\] (?P<process>.+)-(?P<thread>\d+) "
    r"(?P<provider>\w+):(?P<event>\w+)(?P<fields>( \w+=.*)?)$"
)
SUMMARY = re.compile(r"(\d+) events, (\d+) bytes, (\d+) lost(?:, ([\d.]+) s, (\d+) events/s)?")


def trials(quick, full):
    """The number of repetitions, by the tier, of a test that fails only by chance."""
    return full if TIER == "full" else quick


def read_blocks(document, language):
    """The blocks between ``` in a document that are in a language."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
    with open(os.path.join(root, document), encoding="utf-8") as file:
        return re.findall(rf"^```{re.escape(language)}\n(.*?)^```$", file.read(), re.M | re.S)


def nanoseconds(text):
    """Nanoseconds since 1970 of a time in JSON."""
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
    """(offset, payload size) of a records block near the middle of a recording.

    The middle of the file may be an index, whose damage loses no event.
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
    """Flips a bit among the records of a block near the middle of a recording."""
    at, size = records_in_the_middle(path)
    flip(path, at + BLOCK_HEADER.size + size // 2)


def deny_syscall(number, error):
    """From now on the system call fails in this process and in all its children."""
    steps = (
        (0x20, 0, 0, 0),  # is it this system call?
        (0x15, 0, 1, number),
        (0x06, 0, 0, 0x00050000 | error),
        (0x06, 0, 0, 0x7FFF0000),  # allow everything else
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
    """A background process, and the ways in which it may have ended when its test is over."""

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
    """A test with a scratch directory that contains EVENTLOG_DIR, and without processes left
    behind.

    A process of the test that runs at its end is killed. Every other one must have ended with 0,
    by a signal of the test, or as finish() or expect() requires, and none may have written a
    sanitizer's report: otherwise the test fails.
    """

    kept_files = ""  # of create_once()

    def setUp(self):
        self.scratch = tempfile.mkdtemp(prefix="eventlog-test-", dir="/dev/shm")
        self.directory = os.path.join(self.scratch, "eventlog")
        self.environment = {**os.environ, "EVENTLOG_DIR": self.directory, "TZ": "UTC",
                            "ELOG_PAGER": ""}
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
        """A sentence about an unexpected end of a process, or None. The status of a process that
        the harness killed has no meaning."""
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
        """A copy, for this test, of a file that the first test of its class to need it has made.

        `make` creates it at its place in this test. A name has one content only.
        """
        kind = type(self)
        if "kept_files" not in vars(kind):  # a base class may have files of its own
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
            # Python leaks memory itself.
            environment["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        return start("python3", "-B", *arguments, env=environment, stdin=subprocess.PIPE)

    def run_elog(self, *arguments, status=0, **options):
        """Runs elog to its end, checks its exit status, and returns the finished process."""
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

    def commands(self):
        """The words of every command and of the commands of every group, as help shows them."""
        all_of_them = []
        answer = self.run_elog("__complete", "--", "").stdout
        for name in (line.split("\t")[0] for line in answer.splitlines()):
            all_of_them.append((name,))
            text = self.run_elog(name, "--help").stdout
            if f"Usage: elog {name} [OPTIONS] SUBCOMMAND\n" in text:
                below = re.findall(r"^  ([a-z]+) {2,}[A-Z]", text, re.M)
                self.assertGreater(len(below), 1, text)
                all_of_them += [(name, each) for each in below]
        return all_of_them

    def cpu_share(self, process, seconds=0.5):
        """The part of the time a process runs, of the time in which it does not wait for a CPU.

        This detects a process that never sleeps on a busy machine, too.
        """
        def times():
            """(running, waiting for a CPU) of all threads, in nanoseconds."""
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

    def wakeups(self, process, seconds=0.5):
        """How often a process goes to sleep in a second. A busy machine makes that rarer."""
        def sleeps():
            with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
                return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", file.read(), re.M)[1])

        begin, before = time.monotonic(), sleeps()
        time.sleep(seconds)
        return (sleeps() - before) / (time.monotonic() - begin)

    def bytes_read_by(self, *arguments):
        """The number of bytes that a command of elog reads from all files."""
        # The shell's count includes the children it has waited for.
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
        """The files of a folder of the directory. A missing folder is an error, unless no program
        of this test needs to have created it yet."""
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
            has_published = any(name.startswith(f"{process.pid}.") for name in
                                self.names("processes", may_be_missing=True))
            return has_published or process.poll() is not None

        self.wait_for(is_decided, "a provider")
        self.assertTrue(has_published, f"{command} has ended without a provider")
        return process

    def providers_of(self, pid):
        """The providers in the file of a process."""
        (name,) = (name for name in self.names("processes") if name.startswith(f"{pid}."))
        return process_files.providers(f"{self.directory}/processes/{name}")

    def is_mapped(self, process, folder):
        """Whether a process has mapped a file of a folder of the directory."""
        try:
            with open(f"/proc/{process.pid}/maps", encoding="utf-8") as file:
                return os.path.join(self.directory, folder) + "/" in file.read()
        except (FileNotFoundError, ProcessLookupError):
            return False

    def start_recording(self, *arguments):
        """Starts `elog record` and waits until it listens and its file is readable.

        It maps its subscription when all gates are open. The existence of the subscription is
        not enough, and a file may be that of an earlier recording.
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
        """Records more events of each thread than all buffers hold, without a reader.

        Returns the numbers of attempted, recorded and lost events, and elog's messages.
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

    def stop(self, process, with_signal=signal.SIGINT, status=0):
        """Ends a process by a signal, and returns its output."""
        process.send_signal(with_signal)
        return self.finish(process, status)

    @staticmethod
    def expect(process, *statuses):
        """Allows statuses besides 0 for a process whose end the test checks itself or does not
        await."""
        process.expected.update(statuses)

    def finish(self, process, status=0):
        """Waits for a process to end by itself, checks its exit status, and returns its output."""
        self.expect(process, status)
        output, errors = process.communicate(timeout=TIMEOUT)
        self.assertEqual(process.returncode, status, f"{output}{errors}")
        return output, errors

    def summary(self, errors):
        """(events, bytes, lost) of a recording's summary."""
        found = SUMMARY.search(errors)
        self.assertIsNotNone(found, errors)
        return int(found[1]), int(found[2]), int(found[3])

    def assert_no_files_left(self):
        self.assertEqual(self.names("subscriptions"), [])
        self.assertEqual(self.names("processes"), [])

    def assert_one_message(self, errors, *parts):
        """Requires an error of one line that names the command."""
        lines = errors.strip().splitlines()
        self.assertEqual(len(lines), 1, errors)
        self.assertTrue(lines[0].startswith("elog: "), errors)
        self.assertTrue(lines[0].endswith((".", "list", "--wait.")), errors)
        for part in parts:
            self.assertIn(part, errors)


def can_trace():
    return shutil.which("strace") is not None and subprocess.run(
        ["strace", "true"], check=False, stderr=subprocess.DEVNULL).returncode == 0


def main():
    result = unittest.main(exit=False, verbosity=2).result
    for test, reason in result.skipped:
        print(f"skipped: {test}: {reason}")
    if not result.wasSuccessful():
        sys.exit(1)
    if result.skipped and len(result.skipped) == result.testsRun:
        sys.exit(77)
