# SPDX-License-Identifier: MIT
"""Runs a command in a virtual machine and returns its results.

The machine is emulated, which is slow but needs no privilege and no hardware. Five virtual serial ports,
each a file of the host, carry the command's output, its errors, progress and status, the collected files
and the kernel's log. The console is a sixth file, with the messages of a kernel that crashes.
"""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import time

import initramfs
from paths import HarnessError
from splats import find_splats

PORTS = ("output", "errors", "course", "files", "log")


@dataclasses.dataclass
class Run:
    """A command for a guest, and the guest's properties."""

    command: list  # none: a shell
    directory: str = "/tmp"
    environment: dict = dataclasses.field(default_factory=dict)
    files: dict = dataclasses.field(default_factory=dict)  # path in the guest: path on the host
    collect: tuple = ()  # absolute paths in the guest
    modules: tuple = ()  # names of the kernel's own modules to load
    python: bool = False
    user: str = "root"
    processors: int = 1
    memory: int = 1024  # MiB
    time_limit: float = 600  # seconds; a busy machine is slow
    interactive: bool = False
    parameters: tuple = ()  # further kernel parameters
    count_instructions: bool = False  # the guest's clocks advance by 1 ns per instruction
    # A thread of the host for each processor; else one thread emulates all. Only the first
    # processor is online at first: see _command_line.
    parallel: bool = False


@dataclasses.dataclass
class Result:
    """The results of a run."""

    status: int | None  # of the command, if it ended
    release: str | None  # of the kernel, if it started init
    complete: bool  # the guest shut down
    timed_out: bool
    seconds: float
    output: str
    errors: str
    console: str
    log: str  # the kernel's log; empty if the guest did not shut down
    files: pathlib.Path  # collected files, below their paths in the guest
    splats: list

    def problem(self):
        """The reason of a failure other than the command's status, with the log, or None."""
        if self.splats:
            return "the kernel reported:\n" + "\n".join(self.splats) + "\n\n" + self.kernel_log()
        if self.timed_out:
            return f"the guest {self._progress()} within {self.seconds:.0f} s.\n{self.kernel_log()}"
        if not self.complete:
            return f"the machine stopped, and the guest {self._progress()}.\n{self.kernel_log()}"
        return None

    def kernel_log(self):
        return self.log or self.console

    def _progress(self):
        if self.release is None:
            return "did not boot"
        if self.status is None:
            return "did not finish its command"
        return "did not shut down"


@dataclasses.dataclass(frozen=True)
class Emulator:
    """QEMU's names for an architecture, and the kernel's name of its console."""

    program: str
    package: str  # of Debian
    machine: tuple
    console: str
    parameters: tuple = ()


EMULATORS = {
    # On a busy machine a timer may be late: the kernel must not regard it as broken.
    "amd64": Emulator("qemu-system-x86_64", "qemu-system-x86", ("-cpu", "max"), "ttyS0",
                      ("no_timer_check",)),
    # A simple function for signed pointers: emulating the architecture's is slow.
    "arm64": Emulator("qemu-system-aarch64", "qemu-system-arm",
                      ("-M", "virt", "-cpu", "max,pauth-impdef=on"), "ttyAMA0"),
}


def emulator_of(kernel):
    """Raises a HarnessError if it is not installed."""
    emulator = EMULATORS[kernel.architecture]
    if shutil.which(emulator.program) is None:
        raise HarnessError(f"there is no {emulator.program}: install {emulator.package}.")
    return emulator


def _command_line(kernel, run, scratch):
    emulator = emulator_of(kernel)
    console = "mon:stdio" if run.interactive else f"file:{scratch}/console"
    command = [
        emulator.program,
        *("-accel", "tcg,thread=" + ("multi" if run.parallel else "single")),
        *(("-icount", "shift=0,sleep=off") if run.count_instructions else ()),
        *emulator.machine,
        *("-smp", str(run.processors), "-m", str(run.memory)),
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-serial", console),
        *("-kernel", str(kernel.image), "-initrd", f"{scratch}/initramfs"),
        *("-device", "virtio-serial-pci"),
    ]
    for number, name in enumerate(PORTS, start=1):
        command += ["-chardev", f"file,id={name},path={scratch}/{name}"]
        command += ["-device", f"virtserialport,chardev={name},nr={number}"]
    # The kernel prints warnings and errors at once, and does not regard a busy machine as stalled.
    parameters = [f"console={emulator.console}", "panic=-1", "loglevel=5", "watchdog_thresh=60",
                  "rcupdate.rcu_cpu_stall_timeout=120", *emulator.parameters, *run.parameters]
    if run.parallel:
        # QEMU's parallel threads can keep a stale translation of an instruction that the kernel has
        # patched. So the kernel boots, and a script loads modules, on one processor; the script
        # sets the others online afterwards (parts.SHELL: start_processors).
        parameters.append("maxcpus=1")
    return [*command, "-append", " ".join(parameters)]


class _Tail:
    """Passes the bytes that are appended to a file to a function."""

    def __init__(self, path, write):
        self._path, self._write, self._file = path, write, None

    def follow(self):
        if self._file is None and self._path.exists():
            self._file = open(self._path, "rb")  # pylint: disable=consider-using-with
        if self._file is not None:
            content = self._file.read()
            if content:
                self._write(content)

    def close(self):
        self.follow()
        if self._file is not None:
            self._file.close()


def _wait(process, run, tails):
    """Waits for the machine's end, and kills it at the time limit. Returns whether it was killed."""
    end = time.monotonic() + run.time_limit
    timed_out = False
    pause = 0.02
    try:
        while process.poll() is None:
            if time.monotonic() > end and not run.interactive:
                timed_out = True
                break
            for tail in tails:
                tail.follow()
            time.sleep(pause)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        for tail in tails:
            tail.close()
    return timed_out


def _read(path):
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _unpack_files(scratch):
    files = scratch / "collected"
    files.mkdir()
    packed = scratch / "files"
    if packed.exists() and packed.stat().st_size > 0:
        subprocess.run(["tar", "-C", files, "--no-same-owner", "-xf", packed], check=True)
    return files


def execute(kernel, run, scratch, write_output=None, write_errors=None):
    """Boots a kernel for a run. `scratch` is an empty folder that the result's files stay in.

    The functions, if given, receive the command's output as bytes at once.
    """
    emulator_of(kernel)
    scratch = pathlib.Path(scratch)
    initramfs.make(scratch / "initramfs", kernel, run)
    start = time.monotonic()
    tails = [
        _Tail(scratch / name, write)
        for name, write in (("output", write_output), ("errors", write_errors))
        if write
    ]
    timed_out = _boot(kernel, run, scratch, tails)
    seconds = time.monotonic() - start
    os.unlink(scratch / "initramfs")
    return _result(scratch, timed_out, seconds)


def _boot(kernel, run, scratch, tails):
    """Runs the machine to its end. Returns whether it was killed at the time limit."""
    with open(scratch / "qemu.log", "wb") as qemu_log:
        process = subprocess.Popen(
            _command_line(kernel, run, scratch),
            stdin=None if run.interactive else subprocess.DEVNULL,
            stdout=None if run.interactive else qemu_log,
            stderr=None if run.interactive else subprocess.STDOUT,
            cwd=scratch,
        )
        timed_out = _wait(process, run, tails)
    if process.returncode not in (0, -9):
        raise HarnessError(f"QEMU failed with {process.returncode}:\n{_read(scratch / 'qemu.log')}".rstrip())
    return timed_out


def _result(scratch, timed_out, seconds):
    course = dict(line.split(" ", 1) for line in _read(scratch / "course").splitlines() if " " in line)
    console = _read(scratch / "console")
    log = re.sub(r"^<\d+>", "", _read(scratch / "log"), flags=re.MULTILINE)
    return Result(
        status=int(course["exit"]) if "exit" in course else None,
        release=course.get("release"),
        complete="end\n" in _read(scratch / "course"),
        timed_out=timed_out,
        seconds=seconds,
        output=_read(scratch / "output"),
        errors=_read(scratch / "errors"),
        console=console,
        log=log,
        files=_unpack_files(scratch),
        splats=find_splats(console.replace("\r", "") + "\n" + log),
    )
