// SPDX-License-Identifier: MIT
//
// Starts the command elog: leading options, subcommands, exit status.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/output.hpp"
#include "base/sigbus_guard.hpp"
#include "cli/global_options.hpp"
#include "cli/pager.hpp"
#include "commands.hpp"
#include "scripts.hpp"
#include "target/container_target.hpp"
#include "target/other_user.hpp"
#include "terminal/diagnostics.hpp"

namespace {

constexpr int exit_ok = 0;
constexpr int exit_error = 1;
constexpr int exit_usage = 2;
constexpr int exit_lost = 3;

// In the order in which completion and elog help list them, after record.
constexpr void (*subcommands[])(elog::command_line&) = {
    elog::add_list,     elog::add_top,        elog::add_run,    elog::add_flight,  elog::add_kernel,
    elog::add_print,    elog::add_stat,       elog::add_agg,    elog::add_convert, elog::add_cut,
    elog::add_merge,    elog::add_verify,     elog::add_repair, elog::add_schema,  elog::add_doctor,
    elog::add_features, elog::add_completion, elog::add_help};

/// What elog --help prints: one screen.
std::vector<elog::overview_section> overview() {
    return {
        {"Running programs",
         {{{"list", "top"}, "List programs, events and listeners; show rates of events"},
          {{"record"}, "Record events, live or into a file: elog record -- ./program"},
          {{"run"}, "Run a script, in the syntax of -n"},
          {{"flight"}, "Run flight recorders: start, status, snapshot, pause, resume, stop"},
          {{"kernel"},
           "Control the kernel's events: list, enable, disable, register, unregister"}}},
        {"Recordings",
         {{{"print", "convert"}, "Print a recording as text; convert it to JSON Lines or CSV"},
          {{"stat", "agg"}, "Count the events of a recording; aggregate events, also live ones"},
          {{"cut", "merge"}, "Copy a part of a recording; merge recordings"},
          {{"verify", "repair"}, "Check a recording; recover a damaged one"}}},
        {"Schemas and setup",
         {{{"schema"}, "Show schemas, generate code and scripts: show, gen, bpftrace"},
          {{"doctor"}, "Check the requirements of recording; --all lists all features"},
          {{"completion", "help"}, "Print the script for a shell; print the help of a command"}}},
        {"Options",
         {{{"-n SCRIPT"}, "Script in one line: 'PROVIDER:EVENT /PREDICATE/ { ACTION }'"},
          {{"--user USER", "--at PID"},
           "As root: run as that user, or in the container of a process"},
          {{"-j,--json", "--no-pager"}, "Write JSON instead of text; do not use a pager"},
          {{"-q,--quiet", "-v,--verbose"}, "Print errors and losses only; print the route as well"},
          {{"--color WHEN"}, "Use colors: auto, always, never"},
          {{"-h,--help", "--version"},
           "Print the help of elog or of a command; print the version"}}},
    };
}

/// The help of the whole command is longer than a line.
void print_advice(const std::string& lines) {
    for (std::size_t begin = 0; begin < lines.size();) {
        const std::size_t end = std::min(lines.find('\n', begin), lines.size());
        elog::print_diagnostic_line(std::string_view(lines).substr(begin, end - begin));
        begin = end + 1;
    }
}

int complain(const char* text, int status) {
    elog::print_diagnostic("elog: {}", text);
    return status;
}

/// Opens missing standard descriptors, so that a later file does not become standard output.
void open_standard_descriptors() {
    int descriptor = 0;
    do {
        descriptor = ::open("/dev/null", O_RDONLY);  // writing stays an error
    } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    ::close(descriptor);
}

void run(int argument_count, char** arguments) {
    std::vector<std::string> words(arguments + 1, arguments + argument_count);
    // Words after "--" are a command, which the parser does not read.
    const auto separator = std::find(words.begin(), words.end(), "--");
    const std::vector<std::string> command(separator == words.end() ? separator : separator + 1,
                                           words.end());
    const bool separator_found = separator != words.end();
    words.erase(separator, words.end());
    elog::global_options global;
    global.take_leading(words);
    elog::enter_named_process(words, !command.empty());
    elog::become_named_user(words);
    elog::expand_script(words);

    elog::command_line line("elog", "Record and read structured events of running programs.",
                            "elog " ELOG_VERSION);
    elog::add_record(line, command);
    for (const auto add : subcommands) {
        add(line);
    }
    elog::add_completion_query(line, command);
    line.overview(overview());
    const std::string_view first = words.empty() ? std::string_view() : words.front();
    // The query of completion reports missing words itself.
    const bool may_follow = first == "__complete" || (first == "record" && !command.empty());
    if (separator_found && first == "record" && command.empty()) {
        throw elog::usage_error("The command after '--' is missing. Name it, or leave out '--'.");
    }
    if (separator_found && !may_follow) {
        throw elog::usage_error("Only elog record runs the command after '--'.");
    }
    global.take(words, line.describe());
    global.apply();
    line.run(std::move(words));
}

/// Runs the command; returns its exit status.
int run_and_report(int argument_count, char** arguments) {
    try {
        run(argument_count, arguments);
        return exit_ok;
    } catch (const elog::output_closed&) {
        return exit_ok;
    } catch (const elog::events_lost&) {
        return exit_lost;
    } catch (const elog::failure_reported&) {
        return exit_error;
    } catch (const elog::command_failed& failed) {
        return failed.status;
    } catch (const elog::syntax_error& error) {
        complain(error.what(), exit_usage);
        print_advice(error.advice());
        return exit_usage;
    } catch (const elog::usage_error& error) {
        return complain(error.what(), exit_usage);
    } catch (const std::exception& error) {
        return complain(error.what(), exit_error);
    }
}

}  // namespace

int main(int argument_count, char** arguments) {
    open_standard_descriptors();
    // A closed pipe and a file that may not grow then appear as errors of write(), which end the
    // command in order.
    static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
    static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
    // Where the parent process ignores it, the kernel would reap the recorded command.
    static_cast<void>(std::signal(SIGCHLD, SIG_DFL));
    elog::install_sigbus_guard();
    return elog::finish_pager(run_and_report(argument_count, arguments));
}
