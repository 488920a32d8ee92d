#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The output of the examples matches their headers."""

import re
import signal
import socket
import subprocess

import harness


class Examples(harness.Case):
    def recorded(self, arguments, *command):
        """Records a command from its first event to its last; returns [event, fields] of each
        line."""
        file = self.path("run.elog")
        result = self.run_elog("record", *arguments, "-o", file, "--", *command)
        self.assertEqual(self.summary(result.stderr)[2], 0, result.stderr)
        return self.parsed(self.run_elog("print", file).stdout)

    def parsed(self, text):
        found = [harness.LINE.match(line) for line in text.splitlines()]
        self.assertNotIn(None, found, text)
        return [(record["event"], record["fields"].strip()) for record in found]

    @staticmethod
    def events(recorded):
        return [event for event, _ in recorded]


class Simulation(Examples):
    def test_simulated_hour_passes_quickly(self):
        file = self.path("hour.elog")
        self.run_elog("record", "-e", "lift", "-o", file, "--", harness.example("simulation"))
        self.assertEqual(len(self.parsed(self.run_elog("print", file).stdout)), 120)
        # In short recordings times so far away are imprecise: avoid full minutes.
        part = self.run_elog("print", file, "--since", "+570s", "--until", "+1170s").stdout
        self.assertEqual(self.events(self.parsed(part)), ["called", "arrived"] * 10)
        shown = self.run_elog("print", file, "--delta").stdout.splitlines()
        between = [float(re.search(r"<\s*([\d.]+)>", line)[1]) for line in shown]
        self.assertAlmostEqual(sum(between), 59 * 60 + 7.5, delta=10)


class Sessions(Examples):
    def test_all_downloads_are_recorded(self):
        recorded = self.recorded(["-e", "downloads"], harness.example("sessions"), "2")
        self.assertEqual(self.events(recorded).count("session_begin"), 4)
        self.assertEqual(self.events(recorded).count("session_end"), 4)
        self.assertEqual(self.events(recorded).count("chunk"), 8)
        self.assertIn(("mirror_chosen", 'host="mirror.example"'), recorded)
        self.assertIn(("stalled", "session=4 waited=100ms"), recorded)

    def test_one_download_is_selected(self):
        recorded = self.recorded(
            ["-e", "downloads", "--session", "3"], harness.example("sessions"), "2"
        )
        self.assertEqual(
            recorded,
            [
                ("session_begin", "session=3"),
                ("started", 'session=3 url="https://mirror.example/image"'),
                ("chunk", "session=3 offset=0 bytes=1.5KiB"),
                ("chunk", "session=3 offset=1536 bytes=1.5KiB"),
                ("session_end", "session=3"),
            ],
        )

    def test_one_download_is_recorded_at_more_verbose_level(self):
        recorded = self.recorded(
            ["-e", "downloads@info", "-e", "downloads:*@trace#", "--session", "3"],
            harness.example("sessions"),
            "2",
        )
        chunks = [fields.split()[0] for event, fields in recorded if event == "chunk"]
        self.assertEqual(chunks, ["session=3"] * 2)
        self.assertEqual(self.events(recorded).count("started"), 4)


class TimedScopesAndGauges(Examples):
    def durations_of(self, pattern, lines):
        """The durations in milliseconds of fields that match `duration=... PATTERN`."""
        durations = []
        for fields in lines:
            found = re.fullmatch(r"duration=([\d.]+)(ms|s) " + pattern, fields)
            self.assertIsNotNone(found, fields)
            durations.append(float(found[1]) * (1 if found[2] == "ms" else 1000))
        return durations

    def test_scopes_have_durations_and_gauge_ends_at_zero(self):
        program = harness.example("timed_scopes_and_gauges")
        recorded = self.recorded(["-e", "bakery"], program, "3")
        bakings = [fields for event, fields in recorded if event == "baking"]
        baking_times = self.durations_of('baker="(ann|bert)" burnt=(true|false)', bakings)
        self.assertEqual(len(baking_times), 6)
        # At least the sleeping time.
        self.assertGreaterEqual(min(baking_times), 20)
        self.assertEqual(sum("burnt=true" in fields for fields in bakings), 2)
        shifts = [fields for event, fields in recorded if event == "shift"]
        shift_times = self.durations_of("loaves=3", shifts)
        self.assertEqual(len(shift_times), 2)
        self.assertGreaterEqual(sum(shift_times), sum(baking_times))
        oven = [int(fields.split("=")[1]) for event, fields in recorded if event == "loaves_in_oven"]
        self.assertEqual(len(oven), 12)
        self.assertLessEqual(max(oven), 2)
        self.assertIn(0, oven[-2:])


class ReadFile(Examples):
    def test_shows_slow_requests_and_their_process(self):
        file = self.path("run.elog")
        bakery = harness.example("timed_scopes_and_gauges")
        self.run_elog("record", "-e", "bakery", "-o", file, "--", bakery, "3")
        result = self.finish(self.start(harness.example("read_file"), file))[0]
        lines = result.splitlines()
        self.assertEqual(len(lines), 8, result)
        for line in lines:
            self.assertRegex(line, r"^(baking [\d.]+(ms|s) (ann|bert)|shift [\d.]+(ms|s) -)$")

    def test_reports_file_errors(self):
        process = subprocess.run(
            [harness.example("read_file"), self.path("not.there")],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", check=False,
        )
        self.assertEqual(process.returncode, 1)
        self.assertIn("not.there", process.stderr)


class KeepSlow(Examples):
    def test_merges_slow_requests_of_several_recordings(self):
        files = [self.path("one.elog"), self.path("two.elog")]
        for file in files:
            bakery = harness.example("timed_scopes_and_gauges")
            self.run_elog("record", "-e", "bakery", "-o", file, "--", bakery, "3")
        slow = self.path("slow.elog")
        result = self.finish(self.start(harness.example("keep_slow"), slow, *files))[0]
        self.assertEqual(result, "16 events\n")
        self.run_elog("verify", slow)
        lines = self.run_elog("print", slow, "--fields", "baker").stdout.splitlines()
        self.assertEqual(len(lines), 16)
        for line in lines:
            self.assertRegex(line, r' bakery:(baking baker="(ann|bert)"|shift)$')


class WatchLive(Examples):
    def test_shows_events_until_interrupted(self):
        watcher = self.start(harness.example("watch_live"), "thermometer:*", "heating:*")
        self.wait_for(
            lambda: self.is_mapped(watcher, "subscriptions") or watcher.poll() is not None,
            "a subscription",
        )
        heating = self.start(harness.example("heating"), "2")
        self.finish(heating)
        watcher.send_signal(signal.SIGINT)
        output, errors = self.finish(watcher)
        self.assertEqual(errors, "")
        self.assertEqual(
            [line.split(" ", 1)[1] for line in output.splitlines()],
            [f"heating-{heating.pid} {event}" for event in (
                "thermometer:reading number=0 temperature=19.5C",
                "heating:switched on=true temperature=19.5",
                "thermometer:reading number=1 temperature=20C",
                "heating:switched on=false temperature=20",
            )],
        )


class EventLoop(Examples):
    def test_serves_events_and_another_descriptor(self):
        loop = self.start(harness.example("event_loop"), "memory:thermometer:*",
                          stdin=subprocess.PIPE)
        self.wait_for(
            lambda: self.is_mapped(loop, "subscriptions") or loop.poll() is not None,
            "a subscription",
        )
        self.finish(self.start(harness.example("heating"), "3"))
        # Neither descriptor keeps the other one waiting: events are read without a line, and a line
        # is answered without an event.
        self.wait_for(lambda: self.answer_of(loop) == "reading=3 lost=0\n", "three events")
        self.finish(self.start(harness.example("heating"), "2"))
        output, errors = self.finish(loop)  # ends standard input
        self.assertEqual((output, errors), ("reading=5 lost=0\n", ""))

    @staticmethod
    def answer_of(loop):
        loop.stdin.write("\n")
        loop.stdin.flush()
        return loop.stdout.readline()

    def test_reads_a_recording_to_its_end(self):
        file = self.path("run.elog")
        self.run_elog("record", "-e", "heating", "-o", file, "--", harness.example("heating"), "3")
        # Standard input stays open.
        loop = self.start(harness.example("event_loop"), file, stdin=subprocess.PIPE)
        self.assertEqual(loop.stdout.readline(), "switched=2 lost=0\n")
        self.finish(loop)


class SharedLibrary(Examples):
    def test_program_and_library_are_two_providers(self):
        arguments = ["-e", "heating", "-e", "thermometer:reading"]
        recorded = self.recorded(arguments, harness.example("heating"), "3")
        self.assertEqual(
            recorded,
            [
                ("reading", "number=0 temperature=19.5C"),
                ("switched", "on=true temperature=19.5"),
                ("reading", "number=1 temperature=20C"),
                ("switched", "on=false temperature=20"),
                ("reading", "number=2 temperature=20.5C"),
            ],
        )

    def test_library_can_be_recorded_alone(self):
        recorded = self.recorded(["-e", "thermometer"], harness.example("heating"), "3")
        self.assertEqual(self.events(recorded), ["reading"] * 3)


class HttpServer(Examples):
    def port(self, process):
        line = process.stdout.readline()
        self.assertRegex(line, r"^listening on http://127\.0\.0\.1:\d+\n$")
        return line.strip().rsplit(":", 1)[1]

    def serve(self, arguments, *targets):
        """Records a server while its client requests the targets."""
        file = self.path("run.elog")
        server = harness.example("http_server")
        recorder = self.start(
            harness.ELOG, "record", *arguments, "-o", file, "--",
            server, "--requests", str(len(targets)),
        )
        output, _ = self.finish(self.start(server, "--client", self.port(recorder), *targets))
        self.finish(recorder)
        return output, self.parsed(self.run_elog("print", file).stdout)

    def test_connection_is_a_session_and_request_a_timed_scope(self):
        output, recorded = self.serve(["-e", "http:*"], "/", "/nothing")
        self.assertEqual(output, "/ HTTP/1.1 200 OK\n/nothing HTTP/1.1 404 Not Found\n")
        # Without the state that is emitted to the new listener.
        rest = [item for item in recorded if item != ("open_connections", "connections=0")]
        events = [event for event, _ in rest if event != "state_complete"]
        self.assertEqual(
            events,
            ["session_begin", "connection_opened", "open_connections"]
            + ["header_received", "request"] * 2
            + ["session_end"],
        )
        self.assertIn(("open_connections", "connections=1"), recorded)
        self.assertIn(("open_connections", "connections=0"), recorded)
        requests = [fields for event, fields in recorded if event == "request"]
        begin = r'^session=1 duration=[\d.]+[mu]?s method="GET" target='
        self.assertRegex(requests[0], begin + r'"/" status=200 sent=\d+B$')
        self.assertRegex(requests[1], begin + r'"/nothing" status=404 sent=\d+B$')

    def test_requests_are_selected_with_their_connection(self):
        file = self.path("run.elog")
        server = harness.example("http_server")
        recorder = self.start(
            harness.ELOG, "record", "-e", "http:request*", "--session", "2", "-o", file, "--",
            server, "--requests", "2",
        )
        port = self.port(recorder)
        for target in ("/first", "/second"):
            self.finish(self.start(server, "--client", port, target))
        self.finish(recorder)
        recorded = self.parsed(self.run_elog("print", file).stdout)
        recorded = [item for item in recorded if item[0] != "state_complete"]
        self.assertEqual(self.events(recorded), ["request"])
        self.assertRegex(recorded[0][1], r'^session=2 duration=.* target="/second" status=404 ')

    def test_keyword_selects_connections(self):
        _, recorded = self.serve(["-e", "http/network"], "/")
        self.assertIn("connection_opened", self.events(recorded))
        self.assertNotIn("request", self.events(recorded))
        self.assertNotIn("header_received", self.events(recorded))

    def test_invalid_requests_are_rejected_and_can_be_recorded_alone(self):
        file = self.path("run.elog")
        server = harness.example("http_server")
        recorder = self.start(
            harness.ELOG, "record", "-e", "http@warn", "-o", file, "--", server, "--requests", "1"
        )
        with socket.create_connection(("127.0.0.1", int(self.port(recorder)))) as client:
            client.sendall(b"BREW /pot HTCPCP/1.0\r\n\r\n")
            self.assertTrue(client.makefile("rb").readline().startswith(b"HTTP/1.1 501 "))
        self.finish(recorder)
        self.assertEqual(
            self.parsed(self.run_elog("print", file).stdout)[-1],
            ("request_refused",
             'session=1 status=501 why="this server supports only GET of HTTP/1.1"'),
        )

    def test_new_listener_receives_open_connections(self):
        server = self.start_provider(harness.example("http_server"))
        with socket.create_connection(("127.0.0.1", int(self.port(server)))) as client:
            # The server has answered, so it knows the connection.
            client.sendall(b"GET / HTTP/1.1\r\n\r\n")
            self.assertTrue(client.recv(1000).startswith(b"HTTP/1.1 200 OK"))
            recorder = self.start_recording("-e", "http")
            lines = []
            while not lines or " http:state_complete" not in lines[-1]:
                lines.append(recorder.stdout.readline())
                self.assertNotEqual(lines[-1], "", lines)
            port = client.getsockname()[1]
            self.assertEqual(
                self.parsed("".join(lines)),
                [
                    ("session_begin", "session=1"),
                    ("connection_opened", f"session=1 address=127.0.0.1 port={port}"),
                    ("open_connections", "connections=1"),
                    ("state_complete", ""),
                ],
            )
            self.stop(recorder)



class Readme(harness.Case):
    """The outputs in README have lines of the present format."""

    def setUp(self):
        super().setUp()
        self.environment["LC_ALL"] = "C.UTF-8"
        self.shown = {}
        for block in harness.read_blocks("README.md", "text"):
            command, _, output = block.partition("\n")
            self.shown[command] = output
        self.service = self.start_provider(harness.example("order_service"), "600")

    @staticmethod
    def forms(output):
        """The lines without the varying parts: numbers, bars, number of spaces, order."""
        return {
            re.sub(r"[\d.:]+[kM]?", "0", re.sub(r"[▁-▏]+", "#", " ".join(line.split())))
            for line in output.splitlines()
        }

    def test_top(self):
        frames = self.run_elog("top", "-e", "shop:*", "--iterations", "2", "--interval", "500ms").stdout
        # On a terminal one line is selected.
        shown = self.shown.pop("$ elog top -e 'shop:*'").replace("\n> ", "\n  ")
        self.assertLessEqual(self.forms(shown), self.forms(frames.split("\n\n")[-1]))

    def test_agg(self):
        self.run_elog("record", "-e", "shop:*", "-o", self.path("run.elog"), "--duration", "1s")
        expression = "count(), avg(took_us), max(took_us) by accepted"
        output = self.run_elog("agg", expression, self.path("run.elog")).stdout
        shown = self.shown[f"$ elog agg '{expression}' run.elog"]
        self.assertLessEqual(self.forms(shown), self.forms(output))


if __name__ == "__main__":
    harness.main()
