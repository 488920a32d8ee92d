#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""elog doctor names missing settings of a machine, and its commands repair them: afterwards perf and ftrace
receive the events of an ordinary user's program."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import parts
import vm_case
from test_user_events_persist import items

SYSTEM = pathlib.Path(__file__).resolve().parents[2] / "elog" / "system"

COMMON = parts.SHELL + """
elog=$0 load=$1
tracing=/sys/kernel/tracing
as_user() { su -s /bin/sh user -c "$*"; }
# Runs the commands that doctor suggests to a user, as root.
repair() {
    as_user $elog doctor 2>/dev/null | sed -n 's/.* As root: //p' | sort -u > /tmp/repair.sh
    cat /tmp/repair.sh
    sh -e /tmp/repair.sh
}
"""

BY_HAND = COMMON + """
# A session of the user that stays open.
mkfifo /tmp/login
su -s /bin/sh user -c "sh > /tmp/old-login 2>&1" < /tmp/login &
login=$!
exec 8> /tmp/login

part before as_user $elog doctor
part features-before as_user $elog features --json
part refused as_user "$load 1 < /dev/null"
part repair repair
part after as_user $elog doctor
part features as_user $elog features --json
part features-of-root "$elog" features --json
part modes stat -c '%a %G %n' $tracing $tracing/user_events_data
part listing as_user "ls $tracing"

"$elog" kernel register --persist "$load" > /dev/null || exit
echo 1 > $tracing/events/user_events/eventlog_load_item/enable
perf record --quiet --all-cpus --event 'user_events:eventlog_load_item' --output /tmp/perf.data -- \
    su -s /bin/sh user -c "$load 3 < /dev/null" || exit
part ftrace sh -c "grep -o 'eventlog_load_item: .*' $tracing/trace"
echo 0 > $tracing/events/user_events/eventlog_load_item/enable

echo "$elog doctor" >&8
exec 8>&-
wait $login
part old-login cat /tmp/old-login

echo 1 > /proc/sys/kernel/user_events_max
part limit "$elog" doctor
sysctl -w kernel.user_events_max=32768 > /dev/null

umount $tracing /sys/kernel/debug
part unmounted "$elog" doctor
part mounting sh -c "$("$elog" doctor 2>/dev/null | sed -n 's/^missing  tracefs .* As root: //p')"
part mounted "$elog" doctor

mount -t debugfs debugfs /sys/kernel/debug
umount $tracing
ls /sys/kernel/debug/tracing > /dev/null
part elsewhere as_user $elog doctor
mount -t tracefs tracefs $tracing

rm -r /dev/shm/eventlog-1000
chmod 755 /dev/shm
part no-memory as_user $elog doctor
umount /dev/shm
mount -t tmpfs -o mode=1777,size=1M tmpfs /dev/shm
part small as_user $elog doctor
part enlarge repair
part large as_user $elog doctor
part of-root mkdir -m 700 /dev/shm/eventlog-1000
part foreign as_user $elog doctor
part foreign-repair repair
part own as_user "mkdir -m 755 /dev/shm/eventlog-1000"
part open as_user $elog doctor
part json as_user $elog doctor --json
"""

# Before Linux 6.4.
WITH_PAGE = COMMON + """
sed -i "/^tracing:/s/\$/,user/" /etc/group
part before as_user $elog doctor
part repair repair
part after as_user $elog doctor
part features as_user $elog features --json
part modes stat -c '%a %G %n' $tracing $tracing/user_events_data $tracing/user_events_status
# The first program registers the event, which stays.
part first as_user "$load 1 < /dev/null"
echo 1 | tee $tracing/events/user_events/eventlog_load_item_*/enable > /dev/null
part written as_user "$load 3 < /dev/null"

# One of the two files is not enough.
chmod 400 $tracing/user_events_status
part half as_user $elog doctor
part half-repair repair
part whole as_user $elog doctor
"""

AT_BOOT = COMMON + """
sed -i /^tracing:/d /etc/group
part before as_user $elog doctor
part repair repair
part after as_user $elog doctor
# The commands that run at boot.
chown root:root $tracing $tracing/user_events_data
chmod 700 $tracing
chmod 640 $tracing/user_events_data
part boot systemd-tmpfiles --create --boot
part modes stat -c '%a %G %n' $tracing $tracing/user_events_data $tracing/user_events_status \\
    /dev/shm/eventlog-0
part booted as_user $elog doctor
"""

HIDDEN = COMMON + """
features() { "$elog" features --json; }

part unloaded features
insmod /eventlog.ko || exit
umount /sys/kernel/debug 2> /dev/null
part no_debugfs features
mount -t debugfs none /sys/kernel/debug || exit
part complete features
part of_user as_user $elog features --json

mount -t tmpfs none /sys/kernel/btf || exit
mount -t tmpfs none /sys/bus/event_source/devices || exit
echo 'no triggers' > /tmp/README
mount --bind /tmp/README $tracing/README || exit
part hidden features
umount $tracing/README && umount $tracing && umount /sys/kernel/debug || exit
part no_tracefs features
"""

INSTEAD = " Until then elog agg counts by itself, with the same result."
KERNEL_FEATURES = ("relay", "bpf", "hist", "btf", "usdt")
USER_EVENTS_FEATURES = ("tracefs", "user_events", "multi_format", "persist", "bpf")
NEEDS_WORDS = ("no", "needs user_events of Linux 6.4", "See user_events.")
BPF = ("yes", "aggregates eventlog:* in the kernel", "")
NO_BPF = ("no", "needs CAP_BPF and CAP_PERFMON, which you lack",
          "Run elog agg as root. Otherwise it counts by itself, with the same result.")

MODES = ["710 tracing /sys/kernel/tracing", "660 tracing /sys/kernel/tracing/user_events_data"]
STATUS_MODE = "440 tracing /sys/kernel/tracing/user_events_status"


def tools_or_skip(*names):
    """Programs of this machine for the guest."""
    tools = {}
    for name in names:
        path = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")
        if path is None:
            raise unittest.SkipTest(f"there is no {name} for the guest.")
        tools[f"/usr/bin/{name}"] = path
    return tools


class Doctor(parts.Case):
    """The parts of all guests."""

    def assert_item(self, lines, state, item, text):
        """Checks the line of an item."""
        (line,) = (line for line in lines if re.match(rf"\w+ +{item} ", line))
        self.assertRegex(line, rf"^{state} +{item} +{text}$")

    def features(self, title):
        """The rows of elog features in a part by name: state, text and remedy."""
        found = json.loads("\n".join(self.part(title)))["checks"]
        return {each["name"]: (each["state"], each["text"], each["remedy"]) for each in found}

    def assert_user_events(self, title, expected):
        """Checks the rows about user_events in a part."""
        found = self.features(title)
        self.assertEqual({name: found[name] for name in USER_EVENTS_FEATURES}, expected)


class ByHand(Doctor):
    """Without systemd: chgrp and chmod."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        tools = tools_or_skip("perf", "usermod")
        elog = vm_case.built("ELOG")
        load = vm_case.built("PROGRAMS", "user_events_load")
        cls.result = cls.run_successfully(
            vm_case.kernel_or_skip("user-events-6.12"),
            ["sh", "-c", BY_HAND, elog, load],
            files={elog: elog, load: load, **tools},
            collect=("/tmp/perf.data",),
        )

    def test_reports_missing_permissions_of_ordinary_user(self):
        lines = self.part("before", status=1)
        command = (
            "As root: chgrp tracing /sys/kernel/tracing /sys/kernel/tracing/user_events_data && "
            r"chmod g\+x /sys/kernel/tracing && chmod g\+rw /sys/kernel/tracing/user_events_data"
        )
        self.assert_item(lines, "ok", "user_events", ".* set a bit at an address, .*")
        self.assert_item(
            lines, "missing", "tracefs",
            f"tracefs is mounted at /sys/kernel/tracing, and you may not search it. {command}",
        )
        self.assert_item(lines, "missing", "user_events_data", f"You may not reach .* {command}")
        self.assert_item(
            lines, "missing", "group",
            "You are not in the group tracing. Log in again .* "
            "As root: usermod --append --groups tracing user",
        )
        self.assert_item(lines, "note", "boot", "Permissions for tracefs end with the next .*")
        self.assert_item(lines, "note", "trace-cmd", "trace-cmd is not installed. .*")
        self.assert_item(lines, "ok", "perf", "perf is installed.")
        self.assertRegex(lines[-1], r"^elog: 3 of 12 items are missing\. ")

    def test_its_commands_fix_permissions(self):
        self.assertRegex(self.part("refused")[0], "^written 0 ")
        self.part("repair")
        lines = self.part("after")
        self.assertEqual([line for line in lines if line.startswith("missing")], [])
        self.assert_item(lines, "ok", "group", "You are in the group tracing.")
        self.assert_item(lines, "ok", "user_events_data", "You may write events .*")

    def test_features_match_kernel_and_permissions(self):
        self.assert_user_events("features-before", {
            "tracefs": ("limited", "/sys/kernel/tracing, closed to you",
                        "elog doctor names the commands that open it."),
            "user_events": ("no", "closed to you",
                            "user_events_data of tracefs may not be opened (Permission denied). Root can "
                            "allow it: chmod a+x /sys/kernel/tracing; chmod a+rw "
                            "/sys/kernel/tracing/user_events_data"),
            "multi_format": NEEDS_WORDS,
            "persist": NEEDS_WORDS,
            "bpf": NO_BPF,
        })
        of_root = {
            "tracefs": ("yes", "/sys/kernel/tracing", ""),
            "user_events": ("yes", "words of programs, by ioctl (Linux 6.4)", ""),
            "multi_format": ("yes", "versions of an event side by side", ""),
            "persist": ("yes", "events may stay without a program", ""),
            "bpf": BPF,
        }
        self.assert_user_events("features-of-root", of_root)
        self.assert_user_events("features", {
            **of_root, "bpf": NO_BPF,
            "persist": ("limited", "needs CAP_PERFMON, which you lack",
                        "Run elog kernel register as root."),
        })

    def test_its_commands_grant_only_write_access(self):
        self.assertEqual(self.part("modes"), MODES)
        self.assertIn("Permission denied", self.part("listing", status=1)[0])

    def test_ftrace_records_ordinary_user_after_repair(self):
        self.assertEqual(self.part("ftrace"), items(3))

    def test_perf_records_ordinary_user_after_repair(self):
        script = subprocess.run(
            ["perf", "script", "--fields", "event,trace", "--input",
             os.path.join(self.result.files, "tmp", "perf.data")],
            capture_output=True, text=True, check=True,
        ).stdout
        self.assertEqual(
            re.findall(r"number=(\d+) amount=(\d+) word=(.*)", script),
            [(str(n), str(n), f"word {n}") for n in range(3)],
        )

    def test_old_login_session_is_reported(self):
        self.assert_item(
            self.part("old-login"), "missing", "group",
            "You have been added to the group tracing since you logged in. Run: newgrp tracing",
        )

    def test_exhausted_kernel_events_are_reported(self):
        self.assert_item(
            self.part("limit", status=1), "missing", "user_events_max",
            "The kernel accepts 1 events, and has 1: .* sysctl -w kernel.user_events_max=32768",
        )

    def test_unmounted_tracefs_is_reported_and_mounted(self):
        self.assert_item(
            self.part("unmounted", status=1), "missing", "tracefs",
            "tracefs is not mounted. As root: mount -t tracefs tracefs /sys/kernel/tracing",
        )
        self.assert_item(
            self.part("elsewhere", status=1), "missing", "tracefs",
            "tracefs is mounted at /sys/kernel/debug/tracing only, which .* As root: mount -t .*",
        )
        self.part("mounting")
        self.assert_item(self.part("mounted"), "ok", "tracefs", ".* you may search it.")

    def test_read_only_shared_memory_is_reported(self):
        self.assert_item(
            self.part("no-memory", status=1), "missing", "directory",
            "/dev/shm/eventlog-1000 cannot be created: .* As root: mkdir -p /dev/shm && mount .*",
        )

    def test_low_shared_memory_is_reported_and_repaired(self):
        self.assert_item(
            self.part("small", status=1), "missing", "memory",
            r"\d MiB are left .* As root: mount -o remount,size=\d+M /dev/shm",
        )
        self.part("enlarge")
        self.assert_item(self.part("large"), "ok", "memory", r"\d+ MiB are left .*")

    def test_foreign_or_accessible_directory_is_reported(self):
        self.assert_item(
            self.part("foreign", status=1), "missing", "directory",
            ".* cannot be opened .* As root: rm -r '/dev/shm/eventlog-1000'",
        )
        self.assert_item(
            self.part("open", status=1), "missing", "directory",
            "Other users may enter .* Run: chmod -R go= '/dev/shm/eventlog-1000'",
        )

    def test_json_matches_text(self):
        lines = self.part("json", status=1)
        self.assertIn('  "healthy": false,', lines)
        self.assertTrue(any(
            line.startswith('    {"name": "directory", "state": "missing", "text": "Other users ')
            and line.endswith('"as_root": false},') for line in lines
        ), lines)


@vm_case.full_tier
class WithPage(Doctor):
    """On a kernel with a page of status bits, which a program reads, and with busybox alone."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        elog = vm_case.built("ELOG")
        load = vm_case.built("PROGRAMS", "user_events_load")
        cls.result = cls.run_successfully(
            vm_case.kernel_or_skip("status-page-6.1"),
            ["sh", "-c", WITH_PAGE, elog, load],
            files={elog: elog, load: load},
        )

    def test_names_the_file_of_the_page(self):
        lines = self.part("before", status=1)
        self.assert_item(
            lines, "missing", "user_events_data",
            r"You may not reach .* && chgrp tracing /sys/kernel/tracing/user_events_status && "
            r"chmod g\+r /sys/kernel/tracing/user_events_status",
        )

    def test_its_commands_fix_permissions(self):
        self.part("repair")
        lines = self.part("after")
        self.assertEqual([line for line in lines if line.startswith("missing")], [])
        self.assert_item(lines, "ok", "user_events", ".* a page of status bits, .*")
        # The kernel's mode, except for the group.
        self.assertEqual(self.part("modes"), [*MODES, STATUS_MODE.replace("440", "640")])

    def test_features_show_status_page_only(self):
        self.assert_user_events("features", {
            "tracefs": ("yes", "/sys/kernel/tracing", ""),
            "user_events": ("limited", "page of status bits (before Linux 6.4)",
                            "Use Linux 6.4 or later: there disabled events cost no more than without "
                            "the kernel."),
            "multi_format": NEEDS_WORDS,
            "persist": NEEDS_WORDS,
            "bpf": ("no", "does not count missed events (before Linux 6.7)",
                    "Use Linux 6.7 or later. Until then elog agg counts what the kernel's histograms "
                    "cannot."),
        })

    def test_ordinary_user_is_recorded_after_repair(self):
        self.assertRegex(self.part("first")[0], "^written 0 ")
        self.assertRegex(self.part("written")[0], "^written 3 ")

    def test_one_file_of_two_is_not_enough(self):
        self.assert_item(
            self.part("half", status=1), "missing", "user_events_data",
            "You may not read and write user_events_data, or not read user_events_status, of .*",
        )
        self.part("half-repair")
        self.assert_item(self.part("whole"), "ok", "user_events_data", "You may write events .*")


class AtBoot(Doctor):
    """With systemd's programs and the files that eventlog installs for them."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        tools = tools_or_skip("systemd-sysusers", "systemd-tmpfiles", "usermod")
        for folder in ("sysusers.d", "tmpfiles.d"):
            tools[f"/usr/lib/{folder}/eventlog.conf"] = str(SYSTEM / folder / "eventlog.conf")
        elog = vm_case.built("ELOG")
        load = vm_case.built("PROGRAMS", "user_events_load")
        cls.result = cls.run_successfully(
            vm_case.kernel_or_skip("user-events-6.12"),
            ["sh", "-c", AT_BOOT, elog, load],
            files={elog: elog, load: load, **tools},
        )

    def test_names_the_installed_files(self):
        lines = self.part("before", status=1)
        self.assert_item(lines, "missing", "tracefs",
                         ".* As root: systemd-tmpfiles --create eventlog.conf")
        self.assert_item(
            lines, "missing", "group",
            "There is no group tracing. As root: systemd-sysusers eventlog.conf && "
            "usermod --append --groups tracing user",
        )
        self.assert_item(lines, "ok", "boot", "/usr/lib/tmpfiles.d/eventlog.conf gives the group .*")

    def test_its_commands_fix_permissions(self):
        self.part("repair")
        self.assert_item(self.part("after"), "ok", "user_events_data", "You may write events .*")

    def test_the_files_set_the_modes_at_boot(self):
        self.assertEqual(self.part("modes"), [*MODES, STATUS_MODE, "700 root /dev/shm/eventlog-0"])
        self.assert_item(self.part("booted"), "ok", "user_events_data", "You may write events .*")


class HiddenFeatures(Doctor):
    """Facilities that are hidden, not permitted or not loaded."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        kernel = vm_case.kernel_or_skip("debian-6.12")
        elog = vm_case.built("ELOG")
        cls.result = cls.run_successfully(
            kernel,
            ["sh", "-c", HIDDEN, elog],
            files={elog: elog, "/eventlog.ko": vm_case.module_or_skip(kernel)},
        )

    def test_complete_machine_has_all(self):
        found = self.features("complete")
        self.assertEqual({name: found[name] for name in (*KERNEL_FEATURES, "module")}, {
            "module": ("yes", "/dev/eventlog, for all programs", ""),
            "relay": ("yes", "/dev/eventlog_relay, for root", ""),
            "bpf": BPF,
            "hist": ("yes", "aggregates user_events in the kernel", ""),
            "btf": ("yes", "/sys/kernel/btf/vmlinux, for bpftrace", ""),
            "usdt": ("yes", "perf and bpftrace may use the USDT probes of programs", ""),
        })

    def test_module_that_is_not_loaded_is_named(self):
        found = self.features("unloaded")
        self.assertEqual(found["module"], (
            "no", "the module eventlog is not loaded",
            "As root: modprobe eventlog. To build it, see eventlog(4)."))
        self.assertEqual(found["relay"], (
            "no", "the module eventlog is not loaded, or the kernel has no relay",
            "As root: modprobe eventlog. The kernel needs CONFIG_RELAY and CONFIG_DEBUG_FS."))

    def test_missing_debugfs_is_named(self):
        self.assertEqual(self.features("no_debugfs")["relay"], (
            "no", "/sys/kernel/debug/eventlog cannot be read",
            "As root: mount -t debugfs none /sys/kernel/debug"))

    def test_missing_permissions_are_named(self):
        found = self.features("of_user")
        self.assertEqual({name: found[name] for name in KERNEL_FEATURES}, {
            "relay": ("no", "/dev/eventlog_relay, closed to you",
                      "Run elog record --via relay as root, or use --via device."),
            "bpf": NO_BPF,
            "hist": ("no", "needs access to tracefs", "See tracefs." + INSTEAD),
            "btf": ("yes", "/sys/kernel/btf/vmlinux, for bpftrace", ""),
            "usdt": ("limited", "needs CAP_PERFMON, which you lack",
                     "Run bpftrace or perf as root."),
        })

    def test_kernel_without_facilities_is_named(self):
        found = self.features("hidden")
        self.assertEqual({name: found[name] for name in KERNEL_FEATURES[1:]}, {
            "bpf": BPF,
            "hist": ("no", "the kernel has no histograms of events",
                     "Use a kernel with CONFIG_HIST_TRIGGERS." + INSTEAD),
            "btf": ("no", "/sys/kernel/btf/vmlinux is missing",
                    "For bpftrace scripts that use types of the kernel, boot a kernel with "
                    "CONFIG_DEBUG_INFO_BTF. elog does not need it."),
            "usdt": ("no", "the kernel has no probes in programs",
                     "For USDT probes, boot a kernel with CONFIG_UPROBE_EVENTS."),
        })
        self.assertEqual(self.features("no_tracefs")["hist"],
                         ("no", "needs access to tracefs", "See tracefs." + INSTEAD))


if __name__ == "__main__":
    vm_case.main()
