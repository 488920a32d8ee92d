#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Completion of elog's command line: the candidates that elog prints, and their use by shells.

bash and zsh run on a terminal with typed keys; fish has a command for its candidates.
"""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

import harness

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
SCRIPTS = os.path.join(os.path.realpath(ROOT), "elog", "completions")


# Names that are commands of a shell, or have a meaning there. Each creates the file x where it runs.
HOSTILE_NAMES = [
    "a;>x;#", "b$(>x)", "c`>x`", "d: server", "e'>x'\"\\", "f&>x", "g!!{1,2}", "h|>x *", "i\\$(>x)",
    "j~ #?[a]", "k\"$(>x)\"", "l:>x@=y", "m\u00e9$x(>x)",
]


GLOBAL_OPTIONS = ["-q", "--quiet", "-v", "--verbose", "--color", "--no-pager"]


class Answers(harness.Case):
    def candidates(self, *words):
        answer = self.run_elog("__complete", "--", *words)
        self.assertEqual(answer.stderr, "")
        return [line.split("\t")[0] for line in answer.stdout.splitlines()]

    def test_first_word_is_a_command(self):
        self.assertEqual(self.candidates("re"), ["record", "repair"])
        self.assertIn("list", self.candidates(""))
        self.assertNotIn("__complete", self.candidates(""))
        self.assertEqual(self.candidates("nonsense", ""), [])

    def test_commands_of_group_follow_it(self):
        self.assertEqual(self.candidates("flight", "st"), ["start", "status", "stop"])
        self.assertEqual(self.candidates("kernel", ""),
                         ["list", "enable", "disable", "register", "unregister"])
        self.assertEqual(self.candidates("flight", "nonsense", ""), [])
        self.assertEqual(self.candidates("help", "fl"), ["flight"])
        self.assertEqual(self.candidates("help", "flight", "sn"), ["snapshot"])
        self.assertEqual(self.candidates("help", "record", ""), [])

    def test_option_may_precede_command(self):
        self.assertEqual(self.candidates("--js"), ["--json"])
        self.assertEqual(self.candidates("--json", "lis"), ["list"])

    def test_every_option_that_help_shows_is_offered_with_its_description(self):
        for command in self.commands():
            shown = re.findall(r"^  (-[^ \[]+)", self.run_elog(*command, "--help").stdout, re.M)
            offered = self.candidates(*command, "-")
            self.assertEqual(offered, ",".join(shown).split(",") + GLOBAL_OPTIONS, command)
        answer = self.run_elog("__complete", "--", "record", "--dur").stdout
        self.assertRegex(answer, r"\A--duration\t\S.*\n\Z")

    def test_option_is_offered_once_unless_it_may_be_repeated(self):
        self.assertEqual(self.candidates("record", "--wait", "--wa"), [])
        self.assertEqual(self.candidates("record", "-e", "a", "--ev"), ["--event"])

    def test_values_of_options(self):
        self.assertEqual(self.candidates("convert", "--to", ""), ["jsonl", "csv"])
        self.assertEqual(self.candidates("convert", "--to=c"), ["--to=csv"])
        self.assertEqual(self.candidates("convert", "--to=jsonl", ""), [":files"])

    def test_events_of_running_programs(self):
        self.assertEqual(self.candidates("record", "-e", ""), [])
        self.start_provider(harness.example("order_service"), "600")
        self.assertIn("shop:order_placed", self.candidates("record", "-e", ""))
        self.assertIn("shop:*", self.candidates("list", "sh"))
        self.assertEqual(self.candidates("record", "-e", "shop:*@w"), ["shop:*@warn"])
        self.assertEqual(self.candidates("record", "--event=shop:*@in"), ["--event=shop:*@info"])

    def test_processes_with_providers(self):
        service = self.start_provider(harness.example("order_service"), "600")
        self.assertEqual(self.candidates("record", "-p", ""), [str(service.pid)])
        self.assertEqual(self.candidates("record", "--comm", "or"), ["order_service"])

    def test_names_with_control_characters_are_no_candidates(self):
        os.mkdir(self.path("programs"))
        names = ["a b", "a\nb", "a\tb", "a\x1b[2J", "a\x7fb", "a\u009b2J", "a\u202eb",
                 b"a\xffb", ":files", ":commands", ":filesystem", ":0", "tmux: server"]
        for name in names:
            program = os.path.join(os.fsencode(self.path("programs")), os.fsencode(name))
            os.symlink(harness.program("counter"), program)
            self.start_provider(program, "1", "0", "1000")
        self.assertEqual(sorted(self.candidates("record", "--comm", "")),
                         [":0", ":filesystem", "a b", "tmux: server"])

    def test_detached_subscriptions(self):
        self.run_elog("flight", "start", "flight", "-e", "shop:*")
        self.assertEqual(self.candidates("flight", "stop", ""), ["flight"])
        self.assertEqual(self.candidates("flight", "snapshot", "fl"), ["flight"])
        self.assertEqual(self.candidates("flight", "pause", ""), ["flight"])
        self.assertEqual(self.candidates("flight", "resume", ""), ["flight"])
        self.assertEqual(self.candidates("flight", "snapshot", "flight", "--ou"), ["--output"])
        self.run_elog("flight", "stop", "flight", "--discard")

    def test_files_and_commands_are_left_to_the_shell(self):
        self.assertEqual(self.candidates("print", ""), [":files"])
        self.assertEqual(self.candidates("merge", "a", "b", "c"), [":files"])
        self.assertEqual(self.candidates("record", "--", "l"), [":commands"])

    def test_directory_of_another_user_is_not_reported(self):
        os.mkdir(self.directory, 0o777)
        os.chmod(self.directory, 0o777)
        self.assertEqual(self.candidates("record", "-e", ""), [])

    def test_without_words_is_a_usage_error(self):
        for words in ((), ("--",)):
            result = self.run_elog("__complete", *words, status=2)
            self.assert_one_message(result.stderr, "The words to complete are missing", "Load the script")

    def test_script_of_each_shell_is_printed(self):
        for shell in ("bash", "zsh", "fish"):
            with open(f"{SCRIPTS}/elog.{shell}", encoding="utf-8") as file:
                self.assertEqual(self.run_elog("completion", shell).stdout, file.read())
        self.assertEqual(self.candidates("completion", ""), ["bash", "zsh", "fish"])
        result = self.run_elog("completion", "tcsh", status=2)
        self.assert_one_message(result.stderr, "no completion for 'tcsh'", "bash, zsh and fish")


class Shells(harness.Case):
    """Types keys into an interactive shell."""

    def setUp(self):
        super().setUp()
        self.environment.update(
            PATH=f"{self.scratch}:{os.environ['PATH']}", TERM="xterm", HOME=self.scratch
        )

    def open_shell(self, *command, setup):
        self.terminal, other = pty.openpty()
        self.addCleanup(os.close, self.terminal)
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 200, 0, 0))
        self.start(
            *command, cwd=self.scratch, stdin=other, stdout=other, stderr=other,
            start_new_session=True,
        )
        os.close(other)
        self.seen = ""
        self.type(setup + "\n")
        self.read_until(r"R''EADY.*READY")

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def read_until(self, pattern):
        end = time.monotonic() + harness.TIMEOUT
        while not (found := re.search(pattern, self.seen, re.S)):
            self.assertLess(time.monotonic(), end, self.seen)
            if select.select([self.terminal], [], [], 0.1)[0]:
                self.seen += os.read(self.terminal, 4096).decode(errors="replace")
        return found

    def completed(self, typed):
        """Types the text and the tab key; returns the resulting line."""
        self.seen = ""
        self.type(typed + "\t\x18")  # the last key shows the line
        line = self.read_until(r"<<(.*)>>")[1]
        self.type("\x15")
        return line

    def open_bash(self):
        setup = (
            "source /usr/share/bash-completion/bash_completion; "
            f"source {SCRIPTS}/elog.bash; "
            """bind -x '"\\C-x": printf "<%s>" "<$READLINE_LINE>"'; """
            "printf '\\n%s\\n' R''EADY"
        )
        self.open_shell("bash", "--norc", "--noprofile", "-i", setup=setup)

    def open_zsh(self):
        os.symlink(f"{SCRIPTS}/elog.zsh", self.path("_elog"))
        setup = (
            f"fpath=({self.scratch} $fpath); autoload -Uz compinit; compinit -u -D; "
            'show() { print -rn -- "<<$BUFFER>>" }; zle -N show; bindkey "^X" show; '
            "printf '\\n%s\\n' R''EADY"
        )
        self.open_shell("zsh", "-f", "-i", setup=setup)


class Typing(Shells):
    def setUp(self):
        super().setUp()
        os.symlink(harness.ELOG, self.path("elog"))
        with open(self.path("recording.elog"), "w", encoding="utf-8"):
            pass
        self.start_provider(harness.example("order_service"), "600")

    def check(self):
        self.assertEqual(self.completed("elog recor"), "elog record ")
        self.assertEqual(self.completed("elog record --fail"), "elog record --fail-on-loss ")
        self.assertEqual(self.completed("elog print reco"), "elog print recording.elog ")
        self.assertEqual(self.completed("elog record -o reco"), "elog record -o recording.elog ")
        self.assertEqual(
            self.completed("elog record -e shop:order_pl"), "elog record -e shop:order_placed "
        )
        self.assertEqual(
            self.completed("elog record -e shop:order_placed@wa"),
            "elog record -e shop:order_placed@warn ",
        )
        self.assertEqual(
            self.completed("elog record -e shop -- elog convert --to js"),
            "elog record -e shop -- elog convert --to jsonl ",
        )

    def test_bash(self):
        self.open_bash()
        self.check()
        self.assertEqual(self.completed("elog convert --to=js"), "elog convert --to=jsonl ")
        self.assertEqual(
            self.completed("elog record -e 'shop:order_pl"), "elog record -e 'shop:order_placed' "
        )
        for changed in ("COMP_WORDBREAKS=${COMP_WORDBREAKS//[:=@]/}", "shopt -s hostcomplete"):
            self.seen = ""
            self.type(changed + "; printf '\\n%s\\n' R''EADY\n")
            self.read_until(r"R''EADY.*READY")
            self.check()

    def test_zsh(self):
        self.open_zsh()
        self.check()
        self.assertEqual(self.completed("elog convert --to=js"), "elog convert --to=jsonl ")

    def test_fish(self):
        def offered(line):
            result = subprocess.run(
                ["fish", "--no-config", "-c", f"source {SCRIPTS}/elog.fish; complete -C '{line}'"],
                env=self.environment, cwd=self.scratch, stdout=subprocess.PIPE,
                encoding="utf-8", check=True, timeout=harness.TIMEOUT,
            )
            return [each.split("\t")[0] for each in result.stdout.splitlines()]

        self.assertEqual(offered("elog recor"), ["record"])
        self.assertEqual(offered("elog record --fail"), ["--fail-on-loss"])
        self.assertEqual(offered("elog print reco"), ["recording.elog"])
        self.assertEqual(offered("elog record -e shop:order_pl"), ["shop:order_placed"])
        self.assertEqual(offered("elog convert --to=js"), ["--to=jsonl"])
        self.assertEqual(offered("elog record -e shop -- elog convert --to js"), ["jsonl"])


class HostileNames(Shells):
    """Completes the names of processes that are commands, and runs the line."""

    def setUp(self):
        super().setUp()
        # Completes as elog does, and prints its last argument in place of everything else.
        with open(self.path("elog"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n"
                       f"[ \"$1\" != __complete ] || exec {harness.ELOG} \"$@\"\n"
                       "for last; do :; done\n"
                       "printf 'ARGU''MENT<%s>\\n' \"$last\"\n")
        os.chmod(self.path("elog"), 0o755)
        os.mkdir(self.path("programs"))
        for name in HOSTILE_NAMES:
            program = self.path(os.path.join("programs", name))
            os.symlink(harness.program("counter"), program)
            self.start_provider(program, "1", "0", "100000")

    def check(self, *beginnings):
        for name in HOSTILE_NAMES:
            for beginning in beginnings:
                self.seen = ""
                self.type(f"elog record {beginning}{name[0]}\t\n")
                given = self.read_until("ARGUMENT<(.*?)>\r\n")[1]
                self.assertEqual(given.removeprefix("--comm="), name, beginning)
        self.assertFalse(os.path.exists(self.path("x")))

    def test_bash_quotes_them(self):
        self.open_bash()
        beginnings = ["--comm ", "--comm=", "--comm '", '--comm "', "--comm='", '"--comm=']
        self.check(*beginnings)
        # The part in front of a colon is completed already.
        self.seen = ""
        self.type("elog record --comm l:\t\n")
        self.assertEqual(self.read_until("ARGUMENT<(.*?)>\r\n")[1], "l:>x@=y")
        for changed in ("COMP_WORDBREAKS=${COMP_WORDBREAKS//[:=@]/}", "shopt -s hostcomplete"):
            self.type(changed + "\n")
            self.check("--comm ")

    def test_zsh_quotes_them(self):
        self.open_zsh()
        self.check("--comm ", "--comm '", '--comm "')

    def test_fish_quotes_them(self):
        for name in HOSTILE_NAMES:
            script = (f"source {SCRIPTS}/elog.fish; "
                      f"complete --escape -C 'elog record --comm {name[0]}'")
            result = subprocess.run(
                ["fish", "--no-config", "-c", script], env=self.environment, cwd=self.scratch,
                stdout=subprocess.PIPE, encoding="utf-8", check=True, timeout=harness.TIMEOUT,
            )
            (word,) = (line.split("\t")[0] for line in result.stdout.splitlines())
            result = subprocess.run(
                ["fish", "--no-config", "-c", f"elog record --comm {word}"], env=self.environment,
                cwd=self.scratch, stdout=subprocess.PIPE, encoding="utf-8", check=True,
                timeout=harness.TIMEOUT,
            )
            self.assertEqual(result.stdout, f"ARGUMENT<{name}>\n")
        self.assertFalse(os.path.exists(self.path("x")))


if __name__ == "__main__":
    harness.main()
