#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--json of every printing command: it parses, and has the content of the text."""

import json
import os
import re
import signal
import struct
import time

import harness
import second_reader

COUNT = 2000
TOTAL = harness.THREADS * COUNT
LOST = 8  # in struct eventlog_ring

# These have no --json: they write formats of their own.
WITHOUT = {
    ("convert",): "--to says which form it is",
    ("run",): "the options are those of record or agg",
    ("flight",): "its commands have it",
    ("kernel",): "its commands have it",
    ("schema",): "its commands have it",
    ("schema", "gen"): "code",
    ("schema", "bpftrace"): "a script",
    ("completion",): "a script",
    ("help",): "text",
}


def lines_of(text):
    """The parsed JSON Lines; lines of other programs may lie between them."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def object_of(text):
    (only,) = lines_of(text)
    return only


def events_of(lines):
    """The events without their times, in an order independent of time."""
    events = [{key: line[key] for key in line if key != "time"} for line in lines
              if "event" in line]
    return sorted(events, key=lambda each: (each["fields"]["worker"], each["fields"]["number"]))


def lost_of(lines):
    return sum(line["lost"] for line in lines if "lost" in line)


class Json(harness.Case):
    def counter(self, count=COUNT, *more):
        return harness.program("counter"), str(harness.THREADS), str(count), *more

    def record(self, name="run.elog", *options, count=COUNT):
        path = self.path(name)
        self.run_elog("record", "-e", "counter:*", "-o", path, *options, "--",
                      *self.counter(count))
        return path

    def pipe_without_reader(self):
        reader, writer = os.pipe()
        os.close(reader)
        self.addCleanup(os.close, writer)
        return writer

    def stat(self, path):
        return json.loads(self.run_elog("stat", path, "--json").stdout)

    def converted(self, path, *options):
        return self.run_elog("convert", "--to", "jsonl", path, *options).stdout


class Commands(Json):
    def test_every_printing_command_accepts_json(self):
        commands = self.commands()
        self.assertIn(("list",), commands)
        for command in commands:
            shown = re.search(r"^  (?:-., ?)?--json ", self.run_elog(*command, "--help").stdout, re.M)
            self.assertEqual(shown is None, command in WITHOUT, command)
        self.assertLess(set(WITHOUT), set(commands))

    def test_json_may_precede_command(self):
        for words in (("--json", "list"), ("-j", "list"), ("list", "--json")):
            self.assertTrue(self.run_elog(*words).stdout.startswith("{"), words)
        for words in (("--json", "flight", "status"), ("flight", "--json", "status")):
            self.assertEqual(json.loads(self.run_elog(*words).stdout),
                             {"version": 1, "flight_recorders": []})
        result = self.run_elog("--json", "convert", "x", "--to", "csv", status=2)
        self.assertEqual(result.stderr, "elog: elog convert has no JSON output. Leave out --json.\n"
                                        "Try: elog convert --help\n")


class Recording(Json):
    def test_summary_matches_file(self):
        path = self.path("run.elog")
        result = self.run_elog("record", "-e", "counter:*", "-o", path, "--json", "--",
                               *self.counter())
        said = object_of(result.stdout)
        self.assertEqual(result.stderr, "")
        found = self.stat(path)
        for name in ("events", "bytes", "lost", "lost_by_reason", "overwritten"):
            self.assertEqual(said[name], found[name], name)
        self.assertEqual((said["file"], said["events"], said["lost"]), (path, TOTAL, 0))
        self.assertEqual((said["where_matched"], said["truncated"], said["providers_refused"]), (None, 0, 0))
        self.assertEqual((said["counts_overwritten"], said["losses_incomplete"]), (False, False))
        self.assertAlmostEqual(said["events_per_second"] * said["duration_ns"] / 1e9, TOTAL, delta=0.01)
        for name in ("events", "bytes"):
            self.assertEqual(sum(each[name] for each in said["by_cpu"]), said[name])
        by_line = {json.loads(line)["cpu"] for line in self.converted(path).splitlines()}
        if not harness.IS_SHARED:
            self.assertEqual({each["cpu"] for each in said["by_cpu"]}, by_line)
        else:
            self.assertEqual([each["cpu"] for each in said["by_cpu"]], [None])

    def test_summary_counts_predicate_matches(self):
        result = self.run_elog("record", "-e", "counter:*", "-o", self.path("run.elog"), "--json",
                               "--where", "number < 10", "--", *self.counter())
        said = object_of(result.stdout)
        self.assertEqual((said["events"], said["where_matched"]), (TOTAL, 10 * harness.THREADS))

    def test_summary_write_error_keeps_recording(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = self.run_elog(
                "record", "-e", "counter:*", "--json", "-o", self.path("run.elog"), "--",
                harness.program("counter"), "1", "10", stdout=full, status=1,
            )
        self.assertIn("No space left", result.stderr)
        self.assertEqual(self.stat(self.path("run.elog"))["events"], 10)

    def test_summary_counts_losses_by_reason(self):
        path = self.path("run.elog")
        recording = self.start_recording("-e", "counter:*", "--wait", "--buffer-size", "128K",
                                         "-o", path, "--json", "--fail-on-loss")
        recording.send_signal(signal.SIGSTOP)
        counter = self.start(*self.counter(100000))
        self.finish(counter)
        recording.send_signal(signal.SIGCONT)
        recording.send_signal(signal.SIGINT)
        output, errors = self.finish(recording, status=3)
        said = object_of(output)
        lost = said["lost_by_reason"]
        self.assertGreater(lost["full"], 0)
        self.assertEqual(said["events"] + said["lost"], harness.THREADS * 100000)
        self.assertEqual(lost["full"] + lost["busy"] + lost["unattached"], said["lost"])
        self.assertEqual(sum(each["lost"] for each in said["by_cpu"]), lost["full"])
        found = self.stat(path)
        self.assertEqual((said["lost"], lost), (found["lost"], found["lost_by_reason"]))
        (provider,) = said["lost_by_provider"]
        self.assertEqual((provider["provider"], provider["comm"], provider["pid"]),
                         ("counter", "counter", counter.pid))
        self.assertEqual((provider["lost"], provider["lost_by_reason"]),
                         (said["lost"], {"full": lost["full"], "too_large": 0,
                                         "busy": lost["busy"],
                                         "unattached": lost["unattached"]}))
        self.assertEqual(found["lost_by_provider"], [provider])
        # Advice stays on stderr as text; the numbers are in one place.
        self.assertIn("found no room in the buffers", errors)
        self.assertIsNone(harness.SUMMARY.search(errors))

    def test_summary_reports_overwritten_counts(self):
        recording = self.start_recording("-e", "counter:*", "--wait", "-o", self.path("run.elog"),
                                         "--json")
        (name,) = self.names("subscriptions")
        with open(os.path.join(self.directory, "subscriptions", name), "r+b") as file:
            # The first ring's.
            file.seek(second_reader.REGION_SIZE + second_reader.PAUSE_LOG_SIZE + LOST)
            file.write(struct.pack("<Q", 1 << 62))
        output, _ = self.stop(recording)
        said = object_of(output)
        self.assertEqual((said["lost"], said["counts_overwritten"]), (0, True))

    def test_closed_summary_pipe_is_ignored(self):
        path = self.path("run.elog")
        recording = self.start(
            harness.ELOG, "record", "-e", "counter:*", "--wait", "-o", path, "--json",
            "--fail-on-loss", stdout=self.pipe_without_reader(),
        )
        self.wait_for(lambda: self.is_mapped(recording, "subscriptions"), "a subscription")
        self.finish(self.start(*self.counter()))
        recording.send_signal(signal.SIGINT)
        self.assertEqual(recording.wait(harness.TIMEOUT), 0)
        self.assertEqual(self.stat(path)["events"], TOTAL)

    def test_live_events_match_converted_file(self):
        path = self.path("run.elog")
        to_file = self.start_recording("-e", "counter:*", "--wait", "-o", path)
        live = self.start_recording("-e", "counter:*", "--wait", "--json")
        self.finish(self.start(*self.counter()))
        self.stop(to_file)
        output, errors = self.stop(live)
        lines = lines_of(output)
        self.assertEqual(len(lines), TOTAL)
        # A thread may move to another CPU between writing an event for one subscription and for the
        # other.
        found, expected = (
            [{**event, "cpu": None} for event in events_of(each)]
            for each in (lines, lines_of(self.converted(path)))
        )
        self.assertEqual(found, expected)
        self.assertEqual(self.summary(errors)[0], TOTAL)

    def test_live_events_include_losses(self):
        live = self.start_recording("-e", "counter:*", "--wait", "--buffer-size", "128K", "--json")
        live.send_signal(signal.SIGSTOP)
        self.finish(self.start(*self.counter(100000)))
        live.send_signal(signal.SIGCONT)
        live.send_signal(signal.SIGINT)
        output, errors = self.finish(live)
        lines = lines_of(output)
        events, _, lost = self.summary(errors)
        self.assertGreater(lost, 0)
        self.assertEqual((len(events_of(lines)), lost_of(lines)), (events, lost))

    def test_live_events_end_quietly_on_closed_pipe(self):
        self.start_provider(*self.counter(0, "1000"))
        recording = self.start(
            "/bin/sh", "-c", '"$0" record -e "counter:*" --json | head -n 3', harness.ELOG
        )
        output, errors = self.finish(recording)
        self.assertEqual(len(lines_of(output)), 3)
        self.assertEqual(errors, "")


class Printing(Json):
    def test_print_shows_what_convert_writes(self):
        path = self.record()
        times = [line["time"] for line in lines_of(self.converted(path))]
        self.assertEqual(len(times), TOTAL)
        ends = times[TOTAL // 4], times[3 * TOTAL // 4]
        for ours, theirs in (
            ((), ()),
            (("--where", "number < 10"),) * 2,
            (("--clock", "monotonic"),) * 2,
            (("--since", ends[0], "--until", ends[1]),) * 2,
            (("--tail", "7"),) * 2,
            (("--limit", "7", "--utc"),) * 2,
        ):
            shown = self.run_elog("print", path, "--json", *ours).stdout
            self.assertEqual(shown, self.converted(path, *theirs))
            self.assertGreater(len(shown), 0)

    def test_print_follows_a_recording_to_its_end(self):
        path = self.path("run.elog")
        recording = self.start_recording("-e", "counter:*", "--wait", "-o", path)
        following = self.start(harness.ELOG, "print", path, "--follow", "--json",
                               "--where", "number < 50")
        self.finish(self.start(*self.counter(100, "1000")))
        self.stop(recording)
        output, _ = self.finish(following)
        self.assertEqual(
            events_of(lines_of(output)),
            events_of(lines_of(self.converted(path, "--where", "number < 50"))),
        )
        self.assertEqual(len(lines_of(output)), 50 * harness.THREADS)

    def test_print_rejects_text_options(self):
        path = self.record(count=1)
        for option in (("--delta",), ("--fields", "number"), ("--format", "{time}")):
            errors = self.run_elog("print", path, "--json", *option, status=2).stderr
            self.assertIn("--json", errors)


class Files(Json):
    def test_verify_counts_contents(self):
        path = self.record()
        said = object_of(self.run_elog("verify", path, "--json").stdout)
        text = self.run_elog("verify", path).stdout
        self.assertEqual((said["file"], said["state"]), (path, "whole"))
        self.assertIn(
            "{block_count} blocks in {file_bytes} bytes, {events} records of {bytes} bytes, "
            "{lost} lost, {provider_count} providers".format(**said), text,
        )
        self.assertEqual((said["events"], said["file_bytes"]), (TOTAL, os.path.getsize(path)))
        self.assertEqual((said["overwritten"], said["damages"]), (0, []))
        self.assertEqual(said["has_index"], "an index" in text)
        self.assertEqual(said["bytes"], self.stat(path)["bytes"])

    def test_verify_and_repair_list_damage(self):
        path = self.record(count=20000)
        harness.damage_records(path)
        result = self.run_elog("verify", path, "--json", status=1)
        said = object_of(result.stdout)
        self.assertEqual(said["state"], "damaged")
        self.assertGreater(len(said["damages"]), 0)
        for damage in said["damages"]:
            self.assertIn(f"elog: {path}: {damage}\n", result.stderr)
        sound = self.path("sound.elog")
        result = self.run_elog("repair", path, "-o", sound, "--json")
        repaired = object_of(result.stdout)
        self.assertEqual((repaired["file"], repaired["had_end"]), (sound, True))
        self.assertEqual(repaired["file_bytes"], os.path.getsize(sound))
        found = self.stat(sound)
        self.assertEqual(repaired["events"], found["events"])
        self.assertEqual(repaired["lost_in_damage"], harness.THREADS * 20000 - found["events"])
        self.assertEqual(repaired["lost_in_damage"], found["lost"])
        for damage in repaired["damages"]:
            self.assertIn(f"elog: {path}: {damage}\n", result.stderr)
        self.assertNotIn(", in ", result.stderr)

    def test_verify_recognizes_open_and_unfinished_files(self):
        path = self.path("run.elog")
        recording = self.start_recording("-e", "counter:*", "--wait", "-o", path)
        state = object_of(self.run_elog("verify", path, "--json").stdout)["state"]
        self.assertEqual(state, "being_written")
        recording.kill()
        recording.communicate()
        state = object_of(self.run_elog("verify", path, "--json").stdout)["state"]
        self.assertEqual(state, "without_end")

    def test_cut_and_merge_count_what_they_have_written(self):
        first, second = self.record("a.elog"), self.record("b.elog", count=10)
        cut, merged = self.path("cut.elog"), self.path("merged.elog")
        result = self.run_elog("cut", first, "--where", "number < 7", "-o", cut, "--json")
        said = object_of(result.stdout)
        self.assertEqual(said, {
            "version": 1, "file": cut, "file_bytes": os.path.getsize(cut),
            "events": 7 * harness.THREADS, "lost": 0, "overwritten": 0, "lost_left_out": 0,
            "damages": [],
        })
        self.assertEqual(result.stderr, "")
        result = self.run_elog("merge", cut, second, "-o", merged, "--json")
        said = object_of(result.stdout)
        self.assertEqual((said["file"], said["events"]), (merged, 17 * harness.THREADS))
        self.assertEqual(said["file_bytes"], os.path.getsize(merged))
        self.assertEqual(self.stat(merged)["events"], said["events"])

    def test_cut_and_merge_list_uncopied_data(self):
        path, other = self.record(count=20000), self.record("other.elog", count=10)
        harness.damage_records(path)
        new = self.path("new.elog")
        result = self.run_elog("cut", path, "-o", new, "--json", status=1)
        (damage,) = object_of(result.stdout)["damages"][:1]
        self.assertIn(f"elog: {path}: {damage}\n", result.stderr)
        result = self.run_elog("merge", path, other, "--force", "-o", new, "--json", status=1)
        said = object_of(result.stdout)
        self.assertTrue(said["damages"][0].startswith(f"{path}: "), said)
        self.assertIn(f"elog: {said['damages'][0]}\n", result.stderr)
        self.assertEqual(said["events"], self.stat(new)["events"])

    def test_non_utf_8_names_stay_valid(self):
        path = self.record("\udcff\x1b[31m\".elog", count=10)
        expected = self.path("\ufffd\x1b[31m\".elog")
        said = object_of(self.run_elog("verify", path, "--json").stdout)
        self.assertEqual(said["file"], expected)
        result = self.run_elog("repair", path, "-o", self.path("\udcff.elog"), "--json")
        self.assertEqual(object_of(result.stdout)["file"], self.path("\ufffd.elog"))
        self.assertTrue(os.path.exists(self.path("\udcff.elog")))


class Schemas(Json):
    def test_schema_matches_list_without_processes(self):
        self.start_provider(harness.example("order_service"), "600")
        (shown,) = json.loads(self.run_elog("schema", "show", "shop", "--json").stdout)["providers"]
        (listed,) = json.loads(self.run_elog("list", "--json", "shop").stdout)["providers"]
        del listed["processes"]
        for event in listed["events"]:
            del event["listeners"]
        self.assertEqual(shown, listed)

    def test_schema_of_program_matches_schema_of_file(self):
        path = self.path("shop.json")
        program = harness.example("order_service")
        self.run_elog("schema", "show", program, "--json", "-o", path)
        with open(path, encoding="utf-8") as file:
            written = json.load(file)
        self.assertEqual(written, json.loads(self.run_elog("schema", "show", program, "--json").stdout))
        events = {each["event"] for each in written["providers"][0]["events"]}
        text = self.run_elog("schema", "show", program).stdout
        self.assertEqual(events, set(re.findall(r"^    event (\w+) ", text, re.M)))

    def test_schema_of_nothing_is_an_empty_list(self):
        result = self.run_elog("schema", "show", "--json")
        self.assertEqual(json.loads(result.stdout), {"version": 1, "providers": []})

    def test_schema_formats_are_exclusive(self):
        self.run_elog("schema", "show", harness.example("hello"), "--json", "--binary", "-o",
                      self.path("x"), status=2)


class Detached(Json):
    def test_start_snapshot_and_stop(self):
        said = object_of(self.run_elog("flight", "start", "flight", "-e", "counter:*",
                                       "--keep-first", "--json").stdout)
        self.assertEqual(said, {"version": 1, "name": "flight", "mode": "discard"})
        self.finish(self.start(*self.counter(100)))
        shown = lines_of(self.run_elog("flight", "snapshot", "flight", "--json").stdout)
        self.assertEqual(len(shown), 100 * harness.THREADS)
        path = self.path("snapshot.elog")
        said = object_of(self.run_elog("flight", "snapshot", "flight", "-o", path, "--json").stdout)
        self.assertEqual((said["name"], said["file"]), ("flight", path))
        self.assertEqual((said["requests"], said["reason"], said["when_matched"]), (0, None, None))
        # The events are of an unknown time.
        self.assertEqual((said["duration_ns"], said["events_per_second"]), (None, None))
        self.assertEqual(said["events"], len(shown))
        self.assertEqual(events_of(shown), events_of(lines_of(self.converted(path))))
        path = self.path("last.elog")
        result = self.run_elog("flight", "stop", "flight", "-o", path, "--json", "--where",
                               "number < 5")
        said = object_of(result.stdout)
        self.assertEqual((said["file"], said["events"]), (path, len(shown)))
        self.assertEqual(said["where_matched"], 5 * harness.THREADS)
        self.assertEqual(result.stderr, "")
        self.assert_no_files_left()

    def test_stop_with_discard_names_ended_recorder(self):
        self.run_elog("flight", "start", "flight", "-e", "counter:*")
        said = object_of(self.run_elog("flight", "stop", "flight", "--discard", "--json").stdout)
        self.assertEqual(said, {"version": 1, "name": "flight", "file": None})

    def test_stop_ends_recorder_despite_closed_pipe(self):
        self.run_elog("flight", "start", "flight", "-e", "counter:*")
        path = self.path("last.elog")
        self.run_elog("flight", "stop", "flight", "-o", path, "--json",
                      stdout=self.pipe_without_reader())
        self.assertEqual(self.names("subscriptions"), [])
        self.assertEqual(self.stat(path)["events"], 0)

    def test_triggered_snapshots_print_one_line_each(self):
        self.run_elog("flight", "start", "flight", "-e", "counter:*")
        watch = self.start(harness.ELOG, "flight", "snapshot", "flight", "--when", "number == 3",
                           "--iterations", "1", "-o", self.path("slow.elog"), "--json")
        self.assertIn("is watched", watch.stderr.readline())
        self.finish(self.start(*self.counter(10)))
        output, _ = self.finish(watch)
        said = object_of(output)
        self.assertEqual(said["file"], self.path("slow-000001.elog"))
        self.assertEqual((said["requests"], said["reason"]), (0, None))
        self.assertGreater(said["when_matched"], 0)
        self.assertEqual(said["events"], self.stat(said["file"])["events"])


class Top(Json):
    def test_prints_object_per_interval_without_terminal(self):
        self.start_provider(*self.counter(0, "200"))
        result = self.run_elog("top", "-e", "counter:*", "--iterations", "3", "--interval", "200ms",
                               "--json")
        self.assertNotIn("\x1b", result.stdout)
        shown = lines_of(result.stdout)
        self.assertEqual(len(shown), 3)
        for before, after in zip(shown, shown[1:]):
            self.assertLess(before["time"], after["time"])
            passed = (after["duration_ns"] - before["duration_ns"]) / 1e9
            self.assertGreaterEqual(passed, 0.2)
            self.assertAlmostEqual(
                after["events_per_second"] * passed, after["events"] - before["events"], delta=1
            )
        (provider,) = shown[2]["by_provider"]
        (event,) = provider["by_event"]
        self.assertEqual((provider["provider"], provider["process_count"]), ("counter", 1))
        self.assertEqual((event["event"], event["level"]), ("count", "info"))
        for name in ("events", "bytes", "events_per_second"):
            self.assertEqual(event[name], provider[name])
            self.assertEqual(event[name], shown[2][name])
        self.assertGreater(event["events"], 0)

    def test_last_object_has_counted_everything(self):
        top = self.start(harness.ELOG, "top", "-e", "counter:*", "--wait", "--interval", "1h",
                         "--buffer-size", "128K", "--json")
        self.wait_for(lambda: self.is_mapped(top, "subscriptions"), "a subscription")
        top.send_signal(signal.SIGSTOP)
        self.finish(self.start(*self.counter(100000)))
        top.send_signal(signal.SIGCONT)
        output, _ = self.stop(top)
        said = object_of(output)
        self.assertEqual(said["events"] + said["lost"], harness.THREADS * 100000)
        self.assertGreater(said["lost"], 0)
        self.assertEqual(said["by_provider"][0]["lost"], said["lost"])
        self.assertEqual((said["unknown"], said["providers_refused"]), (0, 0))

    def test_ends_after_duration(self):
        begin = time.monotonic()
        result = self.run_elog("top", "--duration", "500ms", "--interval", "200ms", "--json")
        self.assertGreaterEqual(time.monotonic() - begin, 0.5)
        shown = lines_of(result.stdout)
        self.assertGreaterEqual(len(shown), 2)
        self.assertEqual((shown[-1]["events"], shown[-1]["by_provider"]), (0, []))

    def test_ends_quietly_on_closed_pipe(self):
        output, errors = self.finish(self.start(
            "/bin/sh", "-c", '"$0" top --interval 100ms --json | head -n 2', harness.ELOG
        ))
        self.assertEqual((len(lines_of(output)), errors), (2, ""))


if __name__ == "__main__":
    harness.main()
