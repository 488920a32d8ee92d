#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A reader written from elog(5) alone agrees with the library on every kind of file."""

import os
import random
import shutil
import subprocess
import sys

import harness

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
READER = os.path.join(TESTS, "integration", "harness", "independent_reader.py")
GOLDEN = os.path.join(TESTS, "golden")
CORPUS = os.path.join(TESTS, "fuzz", "corpus", "recording")


class FileFormat(harness.Case):
    python = (sys.executable, "-B")

    def lines(self, *command):
        result = subprocess.run(
            command, env=self.environment, stdout=subprocess.PIPE, encoding="utf-8", check=True,
            timeout=harness.TIMEOUT,
        )
        return result.stdout.splitlines()

    def assert_agreed(self, path):
        """Requires equal results of both readers, with times up to rounding; returns them."""
        ours = self.lines(harness.program("dump_recording"), path)
        theirs = self.lines(*self.python, READER, path)
        self.assertEqual(len(ours), len(theirs), path)
        for mine, other in zip(ours, theirs):
            if mine == other:
                continue
            mine, other = mine.split(" "), other.split(" ")
            self.assertEqual(mine[0], "record")
            self.assertLess(abs(int(mine[4]) - int(other[4])), 1000, path)
            self.assertEqual(mine[:4] + mine[5:], other[:4] + other[5:], path)
        return ours

    def record(self, name, *options, program="counter", arguments=("2", "600")):
        self.run_elog(
            "record", "-e", "*", "-o", self.path(name), *options, "--",
            harness.program(program) if program == "counter" else harness.example(program),
            *arguments,
        )
        return self.path(name)

    def test_of_stored_recordings(self):
        """A change of both readers that changes what a file of version 3.0 says is found."""
        for name in ("values", "compressed", "sampled"):
            path = os.path.join(GOLDEN, f"{name}.elog")
            self.assert_agreed(path)
            self.assertIn(": whole: ", self.run_elog("verify", path).stdout)
            with open(path.replace(".elog", ".jsonl"), encoding="utf-8") as expected:
                self.assertEqual(self.run_elog("print", "--json", "--utc", path).stdout,
                                 expected.read(), name)

    def test_of_a_plain_recording(self):
        read = self.assert_agreed(self.record("plain.elog"))
        self.assertEqual(sum(line.startswith("record ") for line in read), 1200)
        self.assertEqual(read[-1], "whole")

    def test_of_a_compressed_recording(self):
        if shutil.which("zstd") is None:
            self.skipTest("no zstd command")
        path = self.record("compressed.elog", "--compress")
        read = self.assert_agreed(path)
        self.assertEqual(sum(line.startswith("record ") for line in read), 1200)
        self.assertLess(os.path.getsize(path), os.path.getsize(self.record("plain.elog")))

    def test_of_a_custom_clock(self):
        path = self.path("own.elog")
        self.run_elog("record", "-e", "*", "-o", path, "--", harness.program("custom_clock"),
                      stdin=subprocess.DEVNULL)
        read = self.assert_agreed(path)
        flags = [line.split(" ")[7] for line in read if line.startswith("record ")]
        self.assertEqual(sorted(flags), ["0", "2", "2", "2"])
        for name in ("cut", "merge"):
            copy = self.path(f"{name}.elog")
            self.run_elog(name, path, "-o", copy)
            copied = self.assert_agreed(copy)
            for lines in (read, copied):
                lines[:] = [line for line in lines if line.startswith("record ")]
            self.assertEqual(copied, read)

    def test_of_texts_enumerations_and_sessions(self):
        read = self.assert_agreed(
            self.record("orders.elog", program="order_service", arguments=("1", "1"))
        )
        self.assertIn("shop:order_placed", "".join(read))

    def test_of_arrays_and_sequences(self):
        path = self.record("mail.elog", program="03_texts_and_arrays", arguments=())
        self.assertIn("part_sizes=[120,4096]", "".join(self.assert_agreed(path)))

    def test_of_a_file_that_is_being_written(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        recording = self.start_recording("-e", "counter:*", "-o", self.path("live.elog"))
        self.wait_for(
            lambda: "count" in self.run_elog("print", self.path("live.elog")).stdout, "events"
        )
        shutil.copy(self.path("live.elog"), self.path("copy.elog"))
        self.stop(recording)
        read = self.assert_agreed(self.path("copy.elog"))
        self.assertFalse(any(line.startswith("end ") for line in read))

    def test_of_damaged_and_repaired_files(self):
        path = self.record("sound.elog", "--compress", arguments=("2", "200"))
        with open(path, "rb") as file:
            sound = file.read()
        chance = random.Random(4711)
        told = 0
        for turn in range(20):
            damaged = bytearray(sound)
            for _ in range(chance.randrange(1, 4)):
                damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
            if turn % 4 == 0:
                del damaged[chance.randrange(len(damaged)) :]
            with open(self.path("damaged.elog"), "wb") as file:
                file.write(damaged)
            read = self.assert_agreed(self.path("damaged.elog"))
            told += read[-1] in ("damaged", "refused")
            if read[-1] != "refused":
                self.run_elog(
                    "repair", self.path("damaged.elog"), "--force", "-o",
                    self.path("repaired.elog")
                )
                self.assertEqual(self.assert_agreed(self.path("repaired.elog"))[-1], "whole")
        self.assertGreater(told, 14)

    def test_of_omitted_events(self):
        self.run_elog("record", "-e", "counter:* 1/10", "-o", self.path("sampled.elog"), "--",
                      harness.program("counter"), "1", "600")
        read = self.assert_agreed(self.path("sampled.elog"))
        self.assertIn("omitted counter:count 10 60 540 0", read)
        self.assertIn("scope 0 0 0", read)

    def test_of_cut_and_merged_files(self):
        one = self.record("one.elog")
        other = self.record("other.elog", program="order_service", arguments=("0.3",))
        for command, count in (
            (["cut", one, "--where", "worker == 1"], 600),
            (["cut", other, "--since", "+1h"], 0),
            (["merge", one, other], None),
        ):
            self.run_elog(*command, "--force", "-o", self.path("new.elog"))
            read = self.assert_agreed(self.path("new.elog"))
            self.assertEqual(read[-1], "whole")
            if count is not None:
                self.assertEqual(sum(line.startswith("record ") for line in read), count)
        for provider in ("counter:count", "shop:order_placed"):
            self.assertIn(provider, "".join(read))

    def test_of_fuzzing_corpus(self):
        names = sorted(os.listdir(CORPUS))
        self.assertGreater(len(names), 3)
        for name in names:
            with open(os.path.join(CORPUS, name), "rb") as file:
                content = file.read()[1:]
            with open(self.path(name), "wb") as file:
                file.write(content)
            self.assert_agreed(self.path(name))


if __name__ == "__main__":
    harness.main()
