// SPDX-License-Identifier: MIT
//
// Starts the command elog: leading options, subcommands, exit status.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/output.hpp"
#include "base/sigbus_guard.hpp"
#include "cli/global_options.hpp"
#include "commands.hpp"
#include "one_liner_option.hpp"
#include "target/container_target.hpp"
#include "target/other_user.hpp"
#include "terminal/diagnostics.hpp"

namespace {

constexpr int exit_ok = 0;
constexpr int exit_error = 1;
constexpr int exit_usage = 2;
constexpr int exit_lost = 3;

// In the order of the overview, after list and record.
constexpr void (*subcommands[])(elog::command_line&) = {
    elog::add_start,      elog::add_status,  elog::add_snapshot, elog::add_stop,
    elog::add_print,      elog::add_stat,    elog::add_agg,      elog::add_top,
    elog::add_convert,    elog::add_cut,     elog::add_merge,    elog::add_verify,
    elog::add_repair,     elog::add_schema,  elog::add_gen,      elog::add_register,
    elog::add_unregister, elog::add_events,  elog::add_enable,   elog::add_disable,
    elog::add_doctor,     elog::add_features};

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
    elog::expand_one_liner(words);

    elog::command_line line("elog",
                            "Record events of programs. Of other users and containers, as root: "
                            "elog --user NAME or --at PID",
                            "elog " ELOG_VERSION);
    elog::add_list(line);
    elog::add_record(line, command);
    for (const auto add : subcommands) {
        add(line);
    }
    elog::add_completion(line, command);
    line.show_together({"start", "status", "snapshot", "stop"},
                       "Run a flight recorder in memory without a process, and read it");
    line.show_together({"verify", "repair"}, "Check a recording; recover a damaged one");
    line.show_together({"cut", "merge"}, "Copy a part of a recording; merge recordings");
    line.show_together({"schema", "gen"}, "Show schemas of providers; generate code from a schema");
    line.show_together({"events", "enable", "disable"},
                       "List trace events of the kernel; enable and disable them");
    line.show_together({"register", "unregister"},
                       "Register events with the kernel before their program starts");
    line.show_together({"doctor", "features"},
                       "Check the requirements of recording; list features");
    const std::string_view first = words.empty() ? std::string_view() : words.front();
    // elog completion reports missing words itself.
    const bool may_follow = first == "completion" || (first == "record" && !command.empty());
    if (separator_found && !may_follow) {
        throw elog::usage_error("Only elog record runs the command after '--'.");
    }
    global.take(words, line.describe());
    global.apply();
    line.run(std::move(words));
}

}  // namespace

int main(int argument_count, char** arguments) {
    open_standard_descriptors();
    // A closed pipe and a file that may not grow then appear as errors of write(), which end the
    // command in order.
    static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
    static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
    elog::install_sigbus_guard();
    try {
        run(argument_count, arguments);
        return exit_ok;
    } catch (const elog::output_closed&) {
        return exit_ok;
    } catch (const elog::events_lost&) {
        return exit_lost;
    } catch (const elog::syntax_error& error) {
        complain(error.what(), exit_usage);
        elog::print_diagnostic("Try: elog --help");
        return exit_usage;
    } catch (const elog::usage_error& error) {
        return complain(error.what(), exit_usage);
    } catch (const std::exception& error) {
        return complain(error.what(), exit_error);
    }
}
