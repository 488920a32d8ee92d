#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Snapshots requested by programs or triggered by events: elog flight snapshot --on-request and --when."""

import glob
import json
import os
import re
import resource
import signal
import struct
import subprocess

import harness

# Offset in the header of a region: see linux/eventlog.h.
WANTED = 2696
REASON = 2704


class SnapshotRequests(harness.Case):
    def begin(self, *arguments, name="flight", events="asking:*"):
        self.run_elog("flight", "start", name, "-e", events, "--buffer-size", "128K",
                      *arguments)

    def start_asking(self, *arguments):
        return self.start(
            harness.program("snapshot_requester"), *arguments, stdin=subprocess.PIPE, stderr=None
        )

    def ask(self, program, reason):
        """The number of flight recorders that the program has asked, by its output."""
        program.stdin.write(reason + "\n")
        program.stdin.flush()
        return int(program.stdout.readline().split()[1])

    def run_asking(self, *reasons):
        program = self.start_asking()
        output, _ = program.communicate("".join(f"{each}\n" for each in reasons), harness.TIMEOUT)
        self.assertEqual(program.returncode, 0)
        return [int(line.split()[1]) for line in output.splitlines()]

    def status(self):
        return json.loads(self.run_elog("flight", "status", "--json").stdout)["flight_recorders"][0]

    def requests(self):
        """(requested, answered, reason)"""
        shown = self.status()
        return tuple(shown[f"snapshot{each}"] for each in ("s_requested", "s_answered", "_reason"))

    def watch(self, *arguments, output="run.elog"):
        """Starts elog flight snapshot, and waits until it watches."""
        # To a file: without a reader, the output may exceed a pipe.
        path = self.path(f"said-{len(self.processes)}")
        with open(path, "w", encoding="utf-8") as file:
            process = self.start(
                harness.ELOG, "flight", "snapshot", "flight", "-o", self.path(output), *arguments,
                stderr=file,
            )
        process.said = path
        self.wait_for(
            lambda: "is watched" in self.said_by(process) or process.poll() is not None, "a watch"
        )
        self.assertIn("is watched", self.said_by(process))
        return process

    @staticmethod
    def said_by(watch):
        with open(watch.said, encoding="utf-8") as file:
            return file.read()

    def finish_watch(self, watch, status=0):
        """Waits for its end; returns its output."""
        self.expect(watch, status)
        self.assertEqual(watch.wait(harness.TIMEOUT), status, self.said_by(watch))
        self.assertNotRegex(self.said_by(watch), harness.SANITIZER_REPORT)
        return self.said_by(watch)

    def stop_watch(self, watch):
        watch.send_signal(signal.SIGINT)
        return self.finish_watch(watch)

    def files(self):
        return sorted(os.path.basename(each) for each in glob.glob(self.path("run-*.elog")))

    def reasons_in(self, name):
        """The reasons of the requests in a file, which must be intact."""
        self.run_elog("verify", self.path(name))
        return re.findall(r' reason="([^"]*)"', self.run_elog("print", self.path(name)).stdout)

    def wait_for_answers(self, count):
        self.wait_for(lambda: self.requests()[1] == count, f"{count} answers")

    def test_program_request_writes_all_earlier_events(self):
        self.begin()
        watch = self.watch("--on-request")
        program = self.start_asking()
        for number, reason in enumerate(("first", "second", "third"), 1):
            self.assertEqual(self.ask(program, reason), 1)
            self.wait_for_answers(number)
        self.assertEqual(self.requests(), (3, 3, "third"))
        errors = self.stop_watch(watch)
        self.assertEqual(
            self.files(), ["run-000001.elog", "run-000002.elog", "run-000003.elog"]
        )
        self.assertEqual(self.reasons_in("run-000001.elog"), ["first"])
        self.assertEqual(self.reasons_in("run-000003.elog"), ["first", "second", "third"])
        self.assertIn("run-000002.elog: 1 requests of programs, the last for: second", errors)
        self.assertIn("3 snapshots, for 3 requests and 0 events", errors)
        self.run_elog("flight", "stop", "flight", "--discard")

    def test_two_programs_request(self):
        self.begin()
        watch = self.watch("--on-request", "--iterations", "2")
        programs = [self.start_asking(), self.start_asking()]
        for number, program in enumerate(programs, 1):
            self.assertEqual(self.ask(program, f"program {number}"), 1)
            self.wait_for_answers(number)
        self.finish_watch(watch)
        self.assertEqual(self.reasons_in("run-000002.elog"), ["program 1", "program 2"])

    def test_program_request_reaches_every_recorder_of_it(self):
        self.begin()
        self.begin(name="second")
        self.begin("--keep-first", name="oldest")
        self.begin(name="deaf", events="other:*")
        self.assertEqual(self.run_asking("why"), [2])

    def test_request_without_recorder_is_reported(self):
        self.assertEqual(self.run_asking("why"), [0])
        self.start_recording("-e", "asking:*", "--wait", "--overwrite", "-o", self.path("x.elog"))
        self.assertEqual(self.run_asking("why"), [0])

    def test_request_without_waiter_is_answered_later(self):
        self.begin()
        self.assertEqual(self.run_asking("one", "two"), [1, 1])
        self.assertEqual(self.requests(), (2, 0, "two"))
        text = self.run_elog("flight", "status").stdout
        self.assertIn("2 snapshots by programs, 2 of them not answered yet; the last for: two", text)
        self.assertIn("elog flight snapshot flight --on-request -o FILE", text)
        # Neither a printed snapshot nor a partial one answers a request.
        self.run_elog("flight", "snapshot", "flight")
        self.run_elog("flight", "snapshot", "flight", "--where", "number > 1", "-o", self.path("part.elog"))
        self.assertEqual(self.requests(), (2, 0, "two"))
        watch = self.watch("--on-request", "--iterations", "1")
        errors = self.finish_watch(watch)
        self.assertIn("2 requests of programs, the last for: two", errors)
        self.assertEqual(self.reasons_in("run-000001.elog"), ["one", "two"])
        self.assertEqual(self.requests(), (2, 2, "two"))
        text = self.run_elog("flight", "status").stdout
        self.assertIn("2 snapshots by programs, 0 of them not answered yet", text)
        self.assertNotIn("--on-request", text)

    def test_manual_snapshot_answers_earlier_requests(self):
        self.begin()
        self.run_asking("one", "two")
        result = self.run_elog("flight", "snapshot", "flight", "-o", self.path("run-1.elog"))
        self.assertIn("run-1.elog: 2 requests of programs, the last for: two", result.stderr)
        self.assertEqual(self.reasons_in("run-1.elog"), ["one", "two"])
        self.assertEqual(self.requests(), (2, 2, "two"))
        result = self.run_elog("flight", "snapshot", "flight", "-o", self.path("run-2.elog"))
        self.assertNotIn("requests", result.stderr)

    def test_kill_during_concurrent_requests_leaves_no_state(self):
        self.begin()
        watch = self.watch("--on-request", "--keep", "2")
        questions = 20000
        with open(self.path("questions"), "w", encoding="utf-8") as file:
            file.writelines(f"{number}\n" for number in range(questions))
        for turn in range(1, 4):
            victim, survivor = self.start_asking_all_of("questions", 2)
            for _ in range(500 * turn):
                self.assertEqual(victim.stdout.readline(), "asked 1\n")
            victim.kill()
            victim.wait()
            output, _ = self.finish(survivor)
            self.assertEqual(output, "asked 1\n" * questions)
        wanted = self.requests()[0]
        self.assertGreaterEqual(wanted, 3 * questions + 500 + 1000 + 1500)
        self.assertLessEqual(wanted, 6 * questions)
        self.run_asking("the last")
        self.wait_for_answers(wanted + 1)
        self.assertEqual(self.requests(), (wanted + 1, wanted + 1, "the last"))
        errors = self.stop_watch(watch)
        self.assertIn(f" snapshots, for {wanted + 1} requests and 0 events", errors)
        files = self.files()
        self.assertLessEqual(len(files), 2)
        self.assertEqual(self.reasons_in(files[-1])[-1], "the last")

    def start_asking_all_of(self, name, count):
        programs = []
        for _ in range(count):
            with open(self.path(name), encoding="utf-8") as lines:
                programs.append(self.start(harness.program("snapshot_requester"), stdin=lines, stderr=None))
        return programs

    def test_request_of_killed_program_is_answered(self):
        self.begin()
        watch = self.watch("--on-request", "--iterations", "1")
        program = self.start_asking("die")
        self.expect(program, -signal.SIGKILL)
        program.communicate("last words\n", harness.TIMEOUT)
        self.assertEqual(program.returncode, -signal.SIGKILL)
        errors = self.finish_watch(watch)
        self.assertIn("1 requests of programs, the last for: last words", errors)
        self.assertEqual(self.reasons_in("run-000001.elog"), ["last words"])

    def test_requests_of_killed_waiter_are_answered_by_next_waiter(self):
        self.begin()
        watch = self.watch("--on-request", "--after", "1h")
        self.assertEqual(self.run_asking("before"), [1])
        watch.kill()
        watch.wait()
        self.assertEqual(self.run_asking("why"), [1])
        self.assertEqual(self.requests(), (2, 0, "why"))
        watch = self.watch("--on-request")
        self.wait_for_answers(2)
        self.stop_watch(watch)
        self.assertEqual(self.files(), ["run-000001.elog"])
        self.assertEqual(self.reasons_in("run-000001.elog"), ["before", "why"])

    def test_killed_waiter_leaves_no_complete_looking_file(self):
        self.run_elog("flight", "start", "flight", "-e", "counter:*")
        self.finish(self.start(harness.program("counter"), "1", "100000"))
        watch = self.watch("--when", "number == 0", "--compress=19")  # takes seconds
        self.finish(self.start(harness.program("counter"), "1", "1"))
        unfinished = self.path("run-000001.elog.unfinished")
        self.wait_for(lambda: os.path.exists(unfinished), "a snapshot")
        watch.kill()
        watch.wait()
        self.assertEqual(self.files(), [])
        self.run_elog("flight", "stop", "flight", "--discard")
        # The next snapshot keeps the file, and skips its number.
        with open(unfinished, "rb") as file:
            content = file.read()
        self.begin()
        self.run_asking("why")
        self.finish_watch(self.watch("--on-request", "--iterations", "1"))
        self.assertEqual(self.files(), ["run-000002.elog"])
        with open(unfinished, "rb") as file:
            self.assertEqual(file.read(), content)

    def test_write_error_leaves_requests_unanswered(self):
        self.begin()
        os.mkdir(self.path("gone"))
        watch = self.watch("--on-request", output="gone/run.elog")
        os.rmdir(self.path("gone"))
        self.assertEqual(self.run_asking("why"), [1])
        errors = self.finish_watch(watch, status=1)
        self.assertIn("run-000001.elog cannot be made", errors)
        self.assertEqual(self.requests(), (1, 0, "why"))

    def test_write_error_keeps_earlier_snapshots(self):
        self.begin()
        self.run_asking("good")
        self.finish_watch(self.watch("--on-request", "--iterations", "1"))
        self.run_asking(*(str(each) for each in range(2000)))

        def fill_disk():
            # The limit of a file's size, as on a full disk.
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 14, 1 << 14))

        for _ in range(3):
            result = self.run_elog(
                "flight", "snapshot", "flight", "--on-request", "--iterations", "1", "--keep", "1", "-o",
                self.path("run.elog"), status=1, preexec_fn=fill_disk,
            )
            self.assertIn("cannot be written any further", result.stderr)
        self.assertEqual([name for name in os.listdir(self.path("")) if "run-" in name],
                         ["run-000001.elog"])
        self.assertEqual(self.reasons_in("run-000001.elog"), ["good"])
        self.assertEqual(self.requests()[:2], (2001, 1))

    def test_reports_removed_recorder(self):
        for arguments in (("--on-request",), ("--when", "number > 3")):
            self.begin()
            watch = self.watch(*arguments)
            for path in glob.glob(os.path.join(self.directory, "subscriptions", "*")):
                os.unlink(path)
            errors = self.finish_watch(watch, status=1)
            self.assertIn("'flight' does not exist any more", errors)

    def test_reports_truncated_region(self):
        for part in (0, 0.001, 0.5):
            for arguments in (("--on-request",), ("--when", "number > 3")):
                self.begin()
                watch = self.watch(*arguments)
                (path,) = glob.glob(os.path.join(self.directory, "subscriptions", "*"))
                os.truncate(path, int(os.path.getsize(path) * part))
                errors = self.finish_watch(watch, status=1)
                self.assertRegex(errors, "has been cut short|does not exist any more")
                os.unlink(path)

    def test_one_snapshot_answers_all_requests_before_it(self):
        self.begin()
        watch = self.watch("--on-request", "--iterations", "1", "--after", "1s")
        self.assertEqual(self.run_asking(*(str(each) for each in range(50))), [1] * 50)
        errors = self.finish_watch(watch)
        wanted, answered, _ = self.requests()
        self.assertEqual(wanted, 50)
        self.assertIn(f"1 snapshots, for {answered} requests and 0 events", errors)
        # All fifty take much less than a second on an idle machine.
        self.assertGreater(answered, 0)
        self.assertGreaterEqual(len(self.reasons_in("run-000001.elog")), answered)

    def test_pending_snapshot_is_written_on_interrupt(self):
        self.begin()
        watch = self.watch("--on-request", "--after", "1h")
        self.assertEqual(self.run_asking("why"), [1])
        errors = self.stop_watch(watch)
        self.assertIn("1 snapshots, for 1 requests and 0 events", errors)
        self.assertEqual(self.requests(), (1, 1, "why"))
        self.assertEqual(self.reasons_in("run-000001.elog"), ["why"])

    def test_does_not_overwrite_files(self):
        self.begin()
        for name in ("run-000001.elog", "run-000003.elog"):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write("mine")
        self.run_asking("why")
        self.finish_watch(self.watch("--on-request", "--iterations", "1", "--after", "0s"))
        self.assertEqual(self.reasons_in("run-000004.elog"), ["why"])
        for name in ("run-000001.elog", "run-000003.elog"):
            with open(self.path(name), encoding="utf-8") as file:
                self.assertEqual(file.read(), "mine")

    def test_keeps_requested_number_of_files(self):
        self.begin()
        with open(self.path("run-000001.elog"), "w", encoding="utf-8") as file:
            file.write("mine")
        watch = self.watch("--on-request", "--keep", "2", "--iterations", "4")
        program = self.start_asking()
        for number in range(1, 5):
            self.assertEqual(self.ask(program, f"request {number}"), 1)
            self.wait_for_answers(number)
        self.finish_watch(watch)
        # A file that is no recording stays.
        self.assertEqual(
            self.files(), ["run-000001.elog", "run-000004.elog", "run-000005.elog"]
        )

    def test_two_waiters_write_one_file_each(self):
        self.begin()
        watches = [self.watch("--on-request", "--iterations", "1") for _ in range(2)]
        self.run_asking("why")
        for watch in watches:
            self.finish_watch(watch)
        self.assertEqual(self.files(), ["run-000001.elog", "run-000002.elog"])
        for name in self.files():
            self.assertEqual(self.reasons_in(name), ["why"])
        self.assertEqual(self.requests(), (1, 1, "why"))

    def test_matching_event_triggers_snapshot(self):
        self.begin()
        self.run_asking("bad before")
        watch = self.watch("--when", 'reason ~ "bad*"', "--iterations", "1")
        self.run_asking("good")
        self.run_asking("bad now")
        errors = self.finish_watch(watch)
        self.assertIn("run-000001.elog: 1 events for which --when is true", errors)
        self.assertIn("1 snapshots, for 0 requests and 1 events", errors)
        self.assertEqual(self.reasons_in("run-000001.elog"), ["bad before", "good", "bad now"])
        # No process was asked to answer programs.
        self.assertEqual(self.requests(), (3, 0, "bad now"))

    def test_checks_every_event_or_counts_missed_ones(self):
        self.begin(events="counter:*")
        watch = self.watch("--on-request", "--when", "number == 99999")
        program = self.start(harness.program("counter"), str(harness.THREADS), "100000")
        output, _ = self.finish(program)
        attempted = harness.THREADS * 100000
        self.assertEqual(output, f"attempted {attempted}\n")
        self.run_elog("flight", "snapshot", "flight")
        errors = self.stop_watch(watch)
        looked = int(re.search(r"(\d+) events were examined", errors)[1])
        missed = re.search(r"(\d+) events could not be examined", errors)
        self.assertEqual(looked + (int(missed[1]) if missed else 0), attempted, errors)
        # The last event of all is the newest, and not overwritten; that of the other thread may be,
        # if both ran on one CPU.
        self.assertRegex(errors, r"[12] snapshots, for 0 requests and [12] events")
        self.run_elog("verify", self.path("run-000001.elog"))

    def test_ends_with_its_recorder(self):
        self.begin()
        for arguments in (("--on-request",), ("--when", "number > 3")):
            watch = self.watch(*arguments)
            self.run_elog("flight", "stop", "flight", "--discard")
            errors = self.finish_watch(watch)
            self.assertIn("'flight' has ended: there are no further requests.", errors)
            self.assertIn("0 snapshots", errors)
            self.begin()

    def test_snapshot_predicate_selects_records(self):
        self.begin()
        watch = self.watch("--on-request", "--iterations", "1", "--where", "number > 1", "--compress")
        program = self.start_asking()
        self.assertEqual(self.ask(program, "one"), 1)
        self.finish_watch(watch)
        self.assertEqual(self.reasons_in("run-000001.elog"), [])

    def test_reports_unknown_name_and_waits(self):
        self.begin()
        self.run_asking("why")
        watch = self.watch("--when", 'raeson ~ "bad*"')
        self.assertIn("No event has a field 'raeson'.", self.said_by(watch))
        self.stop_watch(watch)

    def test_reports_unknown_name_of_a_program_that_starts_later(self):
        self.begin()
        watch = self.watch("--when", 'raeson ~ "bad*"')
        self.run_asking("why")
        self.wait_for(lambda: self.status()["events"] > 0, "an event")
        self.assertIn("No event has a field 'raeson'.", self.stop_watch(watch))

    def test_rejects_invalid_options(self):
        self.begin()
        self.begin("--keep-first", name="oldest")
        path = self.path("run.elog")
        for arguments, status, sentence in (
            (("flight", "--on-request"), 2, "add -o FILE"),
            (("flight", "--when", "number > 1"), 2, "add -o FILE"),
            (("flight", "--on-request", "-o", "-"), 2, "add -o FILE"),
            (("flight", "--on-request", "-o", path, "--force"), 2, "leave --force out"),
            (("flight", "-o", path, "--iterations", "2"), 2, "add --on-request or --when"),
            (("flight", "-o", path, "--keep", "2"), 2, "add --on-request or --when"),
            (("flight", "-o", path, "--after", "2s"), 2, "add --on-request or --when"),
            (("flight", "-o", path, "--on-request", "--after", "soon"), 2, "soon"),
            (("flight", "-o", path, "--when", "number > ("), 2, "--when"),
            (("flight", "-o", path, "--when", "number > 1", "--where", "("), 2, "--where"),
            (("oldest", "-o", path, "--on-request"), 1, "keeps the first events"),
            (("absent", "-o", path, "--on-request"), 1, "There is no flight recorder 'absent'."),
        ):
            result = self.run_elog("flight", "snapshot", *arguments, status=status)
            self.assertIn(sentence, result.stderr)
        self.assertEqual(self.files(), [])

    def write_header(self, offset, data):
        (name,) = self.names("subscriptions")
        with open(os.path.join(self.directory, "subscriptions", name), "r+b") as file:
            file.seek(offset)
            file.write(data)

    def test_status_escapes_reason_and_marks_torn_reason(self):
        self.begin()
        self.assertEqual(self.requests(), (0, 0, None))
        self.assertNotIn("snapshots by programs", self.run_elog("flight", "status").stdout)
        self.run_asking("\x1b]0;mine\x07")
        text = self.run_elog("flight", "status").stdout
        self.assertNotIn("\x1b", text)
        self.assertIn("the last for: \\x1b]0;mine\\x07", text)
        self.write_header(REASON, struct.pack("<Q", 77 << 48))
        self.assertEqual(self.requests(), (1, 0, None))
        self.assertIn("several programs request one now", self.run_elog("flight", "status").stdout)
        self.write_header(WANTED, struct.pack("<II", 3, 9))
        self.assertEqual(self.requests(), (3, 0, None))


if __name__ == "__main__":
    harness.main()
