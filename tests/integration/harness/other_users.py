# SPDX-License-Identifier: MIT
"""The base of tests with several users: a /dev/shm and processes of their own, so that other
processes of the machine do not appear in the tests.
"""

import ctypes
import os
import shutil
import signal
import tempfile

import harness

# User ids from here on are not used by any machine, nor by other runs of these tests.
ANNE = 1_000_000_000 + 5 * os.getpid()
CLONE_NEWNS = 0x00020000
CLONE_NEWPID = 0x20000000
MS_REC_PRIVATE = 0x4000 | 0x40000
MS_NODEV = 4
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)

# The capabilities that root needs for these tests, with their numbers.
REQUIRED_CAPABILITIES = {"CAP_CHOWN": 0, "CAP_DAC_OVERRIDE": 1, "CAP_FOWNER": 3, "CAP_KILL": 5, "CAP_SETGID": 6,
          "CAP_SETUID": 7, "CAP_SYS_ADMIN": 21}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def status_of(pid, label):
    """The words after a label in a process's /proc status."""
    (line,) = (line for line in read(f"/proc/{pid}/status").splitlines()
               if line.startswith(label + ":"))
    return line.split()[1:]


def exit_like(child):
    """Exits as the child does. Reaps orphaned processes meanwhile."""
    ended = status = 0
    while ended != child:
        ended, status = os.wait()
    os._exit(os.waitstatus_to_exitcode(status) & 0xff)


def enter_pid_namespace():
    """Makes this process's next child the first of a new pid namespace, with all further children
    in it. The namespace's processes end with this process."""
    for _ in range(2):
        child = os.fork()
        if child != 0:
            exit_like(child)
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def find_skip_reason():
    """Gives this process and its children an own /dev/shm, and a /proc without other processes; or
    returns the reason why that is impossible."""
    if os.geteuid() != 0:
        return "only root starts programs of other users"
    rights = int(status_of("self", "CapEff")[0], 16)
    missing = [name for name, number in REQUIRED_CAPABILITIES.items() if not rights >> number & 1]
    if missing:
        return f"root has no {', '.join(missing)}"
    if not any(int(begin) <= ANNE and ANNE + 3 < int(begin) + int(count) for begin, _, count
               in map(str.split, read("/proc/self/uid_map").splitlines())):
        return "there are no other users in this namespace of users"
    if (LIBC.unshare(CLONE_NEWNS | CLONE_NEWPID) != 0
            or LIBC.mount(b"none", b"/", None, MS_REC_PRIVATE, None) != 0
            or LIBC.mount(b"tmpfs", b"/dev/shm", b"tmpfs", MS_NODEV, b"mode=1777") != 0):
        return f"no mounts of our own: {os.strerror(ctypes.get_errno())}"
    enter_pid_namespace()
    if LIBC.mount(b"proc", b"/proc", b"proc", MS_NODEV, None) != 0:
        return f"no /proc of our own: {os.strerror(ctypes.get_errno())}"
    return None


SKIP_REASON = find_skip_reason()


class Case(harness.Case):
    """A test among users without directories."""

    def setUp(self):
        super().setUp()
        # The default directories; EVENTLOG_DIR would name a single one.
        del self.environment["EVENTLOG_DIR"]
        # The leak checker of AddressSanitizer fails without access to /proc.
        options = self.environment.get("ASAN_OPTIONS")
        self.environment["ASAN_OPTIONS"] = f"{options or ''}:detect_leaks=0".lstrip(":")
        # Programs for other users, who may have no access to the build folder.
        self.bin = tempfile.mkdtemp(prefix="eventlog-test-")
        os.chmod(self.bin, 0o755)
        self.environment["LD_LIBRARY_PATH"] = self.bin
        self.fill_bin()

    def fill_bin(self):
        """Copies the library with its links, and a program."""
        for each in os.scandir(os.path.dirname(harness.LIBRARY)):
            if each.name.startswith("libeventlog.so"):
                shutil.copy(each.path, self.bin)
        self.counter = [self.copy(harness.program("counter")), "1", "0", "1000"]

    def tearDown(self):
        try:
            super().tearDown()
        finally:
            shutil.rmtree(self.bin, ignore_errors=True)
            for each in os.scandir("/dev/shm"):
                if each.is_dir(follow_symlinks=False):
                    shutil.rmtree(each.path)
                else:
                    os.unlink(each.path)

    def copy(self, path):
        return shutil.copy(path, os.path.join(self.bin, os.path.basename(path)))

    def start_as(self, user, *command, **options):
        return self.start(*command, user=user, group=user, extra_groups=[], cwd="/", **options)

    def start_counter_as(self, user):
        """Returns the process, and its process file."""
        process = self.start_as(user, *self.counter)
        folder = self.folder_of(user)
        self.wait_for(lambda: self.files_in(folder, process), "a provider")
        (name,) = self.files_in(folder, process)
        return process, f"{folder}/{name}"

    @staticmethod
    def files_in(folder, process):
        """The files of a process in a folder that may be missing."""
        try:
            return [name for name in os.listdir(folder) if name.startswith(f"{process.pid}.")]
        except FileNotFoundError:
            return []

    @staticmethod
    def folder_of(user, folder="processes"):
        return f"/dev/shm/eventlog-{user}/{folder}"
