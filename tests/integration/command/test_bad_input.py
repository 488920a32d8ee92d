#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Bad input: one sentence with the error and the remedy, the documented exit status, and no file
left behind.
"""

import glob
import os
import socket
import subprocess

import harness


class BadInput(harness.Case):
    def test_file_that_does_not_exist(self):
        for command in ("print", "stat"):
            result = self.run_elog(command, self.path("missing.elog"), status=1)
            self.assert_one_message(result.stderr, "missing.elog", "cannot be opened")

    def test_file_without_read_permission(self):
        # Unreadable even for root: some kernel attributes are write-only.
        for path in glob.glob("/sys/bus/*/drivers_probe"):
            for command in ("print", "stat", "verify"):
                result = self.run_elog(command, path, status=1)
                self.assert_one_message(result.stderr, path, "cannot be opened", "Permission")
            return
        self.skipTest("there is no attribute that can only be written")

    def test_file_that_is_a_directory(self):
        result = self.run_elog("print", self.scratch, status=1)
        self.assert_one_message(result.stderr, "is not a file")

    def test_file_of_another_type(self):
        with open(self.path("text"), "w", encoding="utf-8") as file:
            file.write("this is a text\n" * 100)
        result = self.run_elog("print", self.path("text"), status=1)
        self.assert_one_message(result.stderr, "is not an .elog file")

    def assert_damage_reported(self, damage):
        self.run_elog(
            "record", "-e", "counter:*", "-o", self.path("run.elog"), "--",
            harness.program("counter"), "2", "20000",
        )
        whole = self.run_elog("print", self.path("run.elog")).stdout
        damage(self.path("run.elog"))
        result = self.run_elog("print", self.path("run.elog"), status=1)
        self.assertRegex(result.stderr, r"elog: .*run.elog: .*" f"({harness.DAMAGE})")
        self.assertIn("everything else in it has been shown", result.stderr)
        shown = result.stdout.splitlines()
        self.assertLess(len(shown), len(whole.splitlines()))
        self.assertLessEqual(set(shown), set(whole.splitlines()))

    def test_damaged_file_shows_remaining_records_and_reports_offset(self):
        self.assert_damage_reported(harness.damage_records)

    def test_damaged_ring_id_is_a_damaged_block(self):
        def damage(path):
            at, _ = harness.records_in_the_middle(path)
            harness.flip(path, at + harness.BLOCK_HEADER.size + 7, bits=0xFF)

        self.assert_damage_reported(damage)

    def test_truncated_file_shows_remaining_records(self):
        self.run_elog(
            "record", "-e", "counter:*", "-o", self.path("run.elog"), "--",
            harness.program("counter"), "2", "20000",
        )
        os.truncate(self.path("run.elog"), os.path.getsize(self.path("run.elog")) - 20)
        result = self.run_elog("print", self.path("run.elog"), status=1)
        self.assertRegex(result.stderr, r"ends in the middle of the block at \d+")
        self.assertIn("counter:count", result.stdout)

    def test_file_that_is_truncated_while_it_is_read(self):
        path = self.path("run.elog")
        self.run_elog("record", "-e", "counter:*", "-o", path, "--", harness.program("counter"), "2",
                      "20000")
        whole = self.run_elog("print", path).stdout.splitlines()
        # The output is larger than the pipe, so that the command waits in the middle of the file.
        process = self.start(harness.ELOG, "print", path)
        first = process.stdout.readline()
        os.truncate(path, os.path.getsize(path) // 2)
        shown = [first, *process.stdout.readlines()]
        _, errors = self.finish(process, status=1)
        self.assertRegex(errors, r"\d+ of 40000 records are missing where the file is damaged")
        self.assertLess(len(shown), len(whole))
        self.assertLessEqual({line.rstrip("\n") for line in shown}, set(whole))

    def test_output_that_cannot_be_created(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        result = self.run_elog("record", "-e", "counter:*", "-o", "/no/such/folder/x", status=1)
        self.assert_one_message(result.stderr, "/no/such/folder/x", "cannot be made")
        self.assertEqual(self.names("subscriptions"), [])

    def test_output_that_is_a_socket(self):
        output = self.path("socket")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(output)
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        self.run_elog("record", "-e", "counter:*", "-o", output, status=1)
        path = self.path("run.elog")
        self.run_elog("record", "-e", "counter:*", "--duration", "100ms", "-o", path)
        for command in ("cut", "merge", "repair"):
            result = self.run_elog(command, path, "--force", "-o", output, status=1)
            self.assert_one_message(result.stderr, "is not a file")
        self.assertEqual(self.names("subscriptions"), [])

    def test_closed_standard_output_is_not_reused(self):
        for closed in (">&-", "2>&-", "<&- >&- 2>&-"):
            result = subprocess.run(
                ["/bin/sh", "-c", f"{harness.ELOG} record -e 'counter:*' -- "
                 f"{harness.program('counter')} 1 1000 {closed}"],
                env=self.environment, capture_output=True, encoding="utf-8", check=False,
                timeout=harness.TIMEOUT,
            )
            self.assertIn(result.returncode, (0, 1), result.stderr)
            if result.stderr:
                self.assertIn("output cannot be written", result.stderr)
            self.assertEqual(self.names("subscriptions"), [])

    def test_full_standard_error_is_ignored(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            for arguments, status in ((["print", "missing"], 1), (["nonsense"], 2)):
                result = subprocess.run(
                    [harness.ELOG, *arguments], env=self.environment, stderr=full,
                    stdout=subprocess.PIPE, check=False, timeout=harness.TIMEOUT,
                )
                self.assertEqual(result.returncode, status)

    def test_terminal_escapes_in_names_are_escaped(self):
        result = self.run_elog("print", self.path("\x1b[31mred\nline"), status=1)
        self.assertNotIn("\x1b", result.stderr)
        self.assertIn("\\x1b[31mred\\nline", result.stderr)

    def test_pattern_without_match(self):
        self.start_provider(harness.program("counter"), "1", "0", "1000")
        result = self.run_elog("record", "-e", "conter:*", status=1)
        self.assert_one_message(result.stderr, "conter:*", "elog list", "--wait")
        self.assertEqual(self.names("subscriptions"), [])

    def test_truncated_subscription_is_reported(self):
        for command in (["record", "-e", "*"], ["record", "-e", "*", "--overwrite"],
                        ["agg", "count()", "-e", "*"], ["top", "--iterations", "1000"]):
            for part in (0, 0.001, 0.5):
                process = self.start(harness.ELOG, *command, "--wait")
                self.wait_for(lambda: self.is_mapped(process, "subscriptions"), "a subscription")
                (name,) = self.names("subscriptions")
                path = os.path.join(self.directory, "subscriptions", name)
                os.truncate(path, int(os.path.getsize(path) * part))
                _, errors = self.finish(process, status=1)
                self.assert_one_message(errors, "cut short")
                self.assertEqual(self.names("subscriptions"), [])

    def test_directory_of_another_user(self):
        if os.geteuid() != 0:
            self.skipTest("only root can make a directory that belongs to another user")
        os.mkdir(self.directory, 0o700)
        os.chown(self.directory, 12345, 12345)
        for arguments in (["list"], ["record", "-e", "*"]):
            result = self.run_elog(*arguments, status=1)
            self.assert_one_message(result.stderr, "belongs to user 12345", "EVENTLOG_DIR")
        self.assertEqual(os.listdir(self.directory), [])

    def test_directory_accessible_to_other_users(self):
        os.mkdir(self.directory)
        os.chmod(self.directory, 0o755)
        result = self.run_elog("record", "-e", "*", status=1)
        self.assertIn(f"chmod 700 {self.directory}", result.stderr)
        self.assertEqual(os.listdir(self.directory), [])

    def test_directory_that_cannot_be_created(self):
        self.environment["EVENTLOG_DIR"] = "/proc/no/such/place"
        result = self.run_elog("record", "-e", "*", status=1)
        self.assert_one_message(result.stderr, "cannot be made", "EVENTLOG_DIR")

    def test_directory_with_relative_path(self):
        self.environment["EVENTLOG_DIR"] = "relative"
        for arguments in (["list"], ["record", "-e", "*"], ["top", "--iterations", "1"],
                          ["flight", "status"], ["flight", "start", "a", "-e", "*"],
                          ["flight", "stop", "a", "--discard"]):
            result = self.run_elog(*arguments, status=1)
            self.assert_one_message(result.stderr, "EVENTLOG_DIR is relative", "begins with /")
        self.assertFalse(os.path.exists("relative"))
        self.assertIn("EVENTLOG_DIR is relative", self.run_elog("doctor", status=1).stdout)

    def test_invalid_command_lines_are_usage_errors(self):
        for arguments in (
            [],
            ["nonsense"],
            ["record"],
            ["record", "-e"],
            ["record", "-e", "not a name"],
            ["record", "-e", "a:b:c"],
            ["record", "-e", "*", "--duration", "soon"],
            ["record", "-e", "*", "--duration", "-1s"],
            ["record", "-e", "*", "--duration", "0s"],
            ["agg", "count()", "-e", "*", "--interval", "0.0000000001s"],
            ["record", "-e", "*", "--buffer-size", "1000"],
            ["record", "-e", "*", "--buffer-size", "128G"],
            ["record", "-e", "*", "--buffer-size", "3x1M"],
            ["record", "-e", "*", "--buffer-size", "128x1M"],
            ["record", "-e", "*", "--buffer-size", "x1M"],
            ["record", "-e", "*", "--buffer-size", "8x"],
            ["record", "-e", "*", "--buffer-size", "-2x1M"],
            ["record", "-e", "*", "--latency", "0.5ms"],
            ["record", "-e", "*", "--latency", "11s"],
            ["record", "-e", "*", "--latency", "1s", "--overwrite"],
            ["record", "-e", "*", "--nonsense"],
            ["list", "a", "b"],
            ["list", "sh-op"],
            ["print"],
            ["print", "a", "b"],
            ["list", "--", "x"],
            ["record", "-e", "*", "--"],
            ["record", "-e", "*", "--duration", ""],
            ["record", "-e", "*", "--buffer-size", ""],
        ):
            result = self.run_elog(*arguments, status=2)
            self.assertTrue(result.stderr.startswith("elog: "), (arguments, result.stderr))
        self.assertFalse(os.path.exists(self.directory))

    def test_words_that_are_no_numbers_are_rejected(self):
        for option, words in (
            ("--session", ("18446744073709551616", "99999999999999999999999", "-5", "+5", "5x",
                           " 5", "0b11", "0x", "0x10000000000000000", "1_000")),
            ("--pid", ("4294967297", "-1", "0", "1.5")),
            ("--limit", ("18446744073709551617", "0", "1e3")),
            ("--compress", ("20", "-1", "x")),
        ):
            for word in words:
                with self.subTest(option=option, word=word):
                    result = self.run_elog("record", "-e", "*", f"{option}={word}", status=2)
                    message = result.stderr.splitlines()[0]
                    self.assertTrue(message.startswith(f"elog: {option}: "), message)
                    self.assertIn(word, message)
        self.assertFalse(os.path.exists(self.directory))

    def test_messages_about_options_name_option_word_and_remedy(self):
        for arguments, complaint in (
            (["record", "--event"], "--event needs a value. Write --event GLOB."),
            (["record", "-e", "*", "--session="], "--session needs a value. Write --session ID."),
            (["record", "-qe"], "--event needs a value. Write --event GLOB."),
            (["print", "a.elog", "--limit"], "--limit needs a value. Write --limit NUMBER."),
            (["print", "a.elog", "--limit="], "--limit needs a value. Write --limit NUMBER."),
            (["print", "a.elog", "--limit", "3", "--limit", "4"],
             "--limit is given 2 times, the last time as '4'. Give it once."),
            (["print", "a.elog", "--tail", "0"],
             "--tail: '0' is out of range. Write a number from 1 to 1000000000."),
            (["print", "a.elog", "--tail", "99999999999"],
             "--tail: '99999999999' is out of range. Write a number from 1 to 1000000000."),
            (["print", "a.elog", "--tail", "x"],
             "--tail: 'x' is not a whole number, such as 8."),
            (["print", "a.elog", "--utc=foo"],
             "'--utc=foo' gives a value to a flag. Write --utc without one."),
            (["list", "--json=5"], "'--json=5' gives a value to a flag. Write --json without one."),
            (["list", "--json=true"],
             "'--json=true' gives a value to a flag. Write --json without one."),
            (["list", "--json="], "'--json=' gives a value to a flag. Write --json without one."),
            (["flight", "stop", "--discard=1"],
             "'--discard=1' gives a value to a flag. Write --discard without one."),
        ):
            with self.subTest(arguments):
                result = self.run_elog(*arguments, status=2)
                command = "elog " + " ".join(arguments[:1 + (arguments[0] == "flight")])
                self.assertEqual(result.stderr, f"elog: {complaint}\nTry: {command} --help\n")

    def test_value_may_look_like_a_flag_with_value(self):
        result = self.run_elog("print", self.path("missing.elog"), "--where", "--utc=1", status=1)
        self.assertNotIn("to a flag", result.stderr)

    def test_pattern_of_sessions_without_session_is_rejected(self):
        for command in (("record",), ("agg", "count()"), ("flight", "start", "flight"), ("top",)):
            result = self.run_elog(*command, "-e", "x:*", "-e", "shop:*#", status=2)
            self.assert_one_message(result.stderr, "'shop:*#'", "--session")
        result = self.run_elog("record", "-e", "shop:*@warn# 1/10", status=2)
        self.assert_one_message(result.stderr, "'shop:*@warn# 1/10'", "--session")

    def test_number_is_decimal_or_hexadecimal(self):
        for word, number in (("010", 10), ("0x10", 16), ("18", 18)):
            result = self.run_elog("record", "-e", "counter:*", "--limit", word, "--",
                                   harness.program("counter"), "1", "100")
            self.assertIn(f"{number} events were kept", result.stderr)

    def test_unknown_words_are_named_with_suggestion(self):
        for arguments, complaint, command in (
            (["recrod", "-e", "*"], "There is no command 'recrod'. Did you mean 'record'?", "elog"),
            (["nonsense"], "There is no command 'nonsense'.", "elog"),
            (["snapshot"], "There is no command 'snapshot'. Did you mean 'flight snapshot'?", "elog"),
            (["flight", "strat"], "elog flight has no command 'strat'. Did you mean 'start'?",
             "elog flight"),
            (["help", "recrod"], "elog has no command 'recrod'. Did you mean 'record'?", "elog"),
            (["record", "-e", "*", "--outptu=x"],
             "elog record has no option '--outptu'. Did you mean '--output'?", "elog record"),
            # In front of what is missing: the option may be what was meant.
            (["flight", "start", "--discrd"], "elog flight start has no option '--discrd'.",
             "elog flight start"),
            (["convert", "--nonsense"], "elog convert has no option '--nonsense'.", "elog convert"),
            (["print", "x.elog", "-e", "shop:*"],
             "elog print has no option '-e'. Select events with --where 'event == \"NAME\" && "
             "level <= warn'.", "elog print"),
            (["list", "--nonsense"], "elog list has no option '--nonsense'.", "elog list"),
            (["list", "a", "b"], "elog list does not take the argument 'b'. Leave it out.",
             "elog list"),
            (["--nonsense", "list"],
             "elog has no option '--nonsense'. Options of a command follow its name.", "elog"),
        ):
            result = self.run_elog(*arguments, status=2)
            self.assertEqual(result.stderr, f"elog: {complaint}\nTry: {command} --help\n")

    def test_missing_command_prints_help(self):
        result = self.run_elog(status=2)
        self.assertEqual(result.stderr,
                         "elog: A command is missing.\n" + self.run_elog("--help").stdout)
        for group in ("flight", "kernel", "schema"):
            for words in ((group,), ("--json", group)):
                result = self.run_elog(*words, status=2)
                self.assertEqual(result.stdout, "")
                self.assertEqual(
                    result.stderr, f"elog: One of the commands of elog {group} is missing.\n"
                    + self.run_elog(group, "--help").stdout)

    def test_help_command_prints_help(self):
        self.assertEqual(self.run_elog("help").stdout, self.run_elog("--help").stdout)
        for command in self.commands():
            self.assertEqual(self.run_elog("help", *command).stdout,
                             self.run_elog(*command, "--help").stdout)

    def test_help_and_version_are_no_errors(self):
        self.assertRegex(self.run_elog("--version").stdout, r"^elog \d+\.\d+\.\d+\n$")
        commands = self.commands()
        self.assertGreater(len(commands), 20)
        for arguments in ((), *commands):
            lines = self.run_elog(*arguments, "--help").stdout.splitlines()
            # The overview fits on a screen; the options of a command may need a second one.
            self.assertLessEqual(len(lines), 40 if arguments else 24, lines)
            self.assertLessEqual(max(map(len, lines)), 100, lines)

    def test_help_names_every_command(self):
        text = self.run_elog("--help").stdout
        for option in ("-n", "--user", "--at", "--json", "--quiet", "--verbose", "--color",
                       "--no-pager", "--version"):
            self.assertIn(f" {option}", text.replace(",", " "))
        commands = self.commands()
        self.assertIn(("flight", "start"), commands)
        for command in commands:
            if len(command) == 1:
                self.assertRegex(text, rf"(?m)^  (\w+, )*{command[0]}(, \w+)* +[A-Z]")
            own = self.run_elog(*command, "--help").stdout
            self.assertIn(f"Usage: elog {' '.join(command)} ", own)
            self.assertNotIn("Subcommands:", own)
            # Messages name values in the words of the manual, not by types of the parser.
            self.assertNotRegex(own, r"\b(TEXT|U?INT|Excludes|Needs)\b")

    def test_help_has_two_examples(self):
        for command in (*self.commands(), ("features",)):
            _, _, examples = self.run_elog(*command, "--help").stdout.partition("Examples:\n")
            words = " ".join(command)
            found = [line for line in examples.splitlines() if f"elog {words}" in line]
            with self.subTest(words):
                self.assertGreaterEqual(len(found), 2, examples)


if __name__ == "__main__":
    harness.main()
