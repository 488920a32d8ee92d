// SPDX-License-Identifier: MIT
//
// elog flight stop: ends a flight recorder.
#include <unistd.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "base/output.hpp"
#include "base/user_error.hpp"
#include "commands.hpp"
#include "flight_snapshot.hpp"
#include "memory/detached_subscription.hpp"
#include "text/json_object.hpp"

namespace elog {
namespace {

struct stop_arguments {
    snapshot_arguments snapshot;
    bool discard = false;
};

[[noreturn]] void reject_release(const char* reason, const std::string& name) {
    throw user_error(
        "{0} '{1}' receives no more events, and keeps those that it has: write them elsewhere with "
        "elog flight stop {1} -o FILE, or drop them with elog flight stop {1} --discard",
        reason, name);
}

/// The memory is released after the file is complete, because the disk may be full. Returns whether
/// the summary could be written.
bool take(snapshot_writer& kept, const std::string& name) {
    try {
        return kept.take();
    } catch (const subscription_ended&) {
        throw;
    } catch (const output_closed&) {
        reject_release("Standard output was closed before the end of the events.", name);
    } catch (const std::exception& error) {
        reject_release(error.what(), name);
    }
}

/// The JSON output without a file.
void print_ended(const std::string& name) {
    write_all(
        STDOUT_FILENO,
        versioned_object().add("name", name).add("file", std::optional<std::string>()).line());
}

void check_stop_options(const stop_arguments& arguments) {
    check_snapshot_options(arguments.snapshot);
    if (arguments.snapshot.where && !arguments.snapshot.has_file()) {
        throw usage_error("--where is for the file: add -o FILE.");
    }
}

void run_stop(const snapshot_arguments& arguments, bool discard) {
    // A wrong name is reported before the missing option.
    detached_subscription ended(arguments.name);
    if (!arguments.has_file() && !discard) {
        throw usage_error("The events of '{0}' would be lost: add -o FILE to write them, or "
                          "--discard to drop them.",
                          arguments.name);
    }
    // An error with the file or the predicate has to occur before the end, so that no events are
    // lost.
    std::optional<snapshot_writer> kept;
    if (arguments.has_file()) {
        kept.emplace(arguments, ended);
    }
    ended.end();
    const bool is_reported = !kept || take(*kept, arguments.name);
    if (!ended.remove()) {
        throw user_error("Another process has just ended the flight recorder '{}'{}.",
                         arguments.name, kept ? ": the file may be incomplete" : "");
    }
    if (arguments.json && !kept) {
        print_ended(arguments.name);
    }
    if (!is_reported) {
        throw failure_reported{};
    }
}

}  // namespace

void add_flight_stop(command_group& flight) {
    subcommand command = flight.add_subcommand("stop", "End a flight recorder");
    const auto arguments = std::make_shared<stop_arguments>();
    const command_option output =
        add_snapshot_options(command, arguments->snapshot,
                             {"Write its events to an .elog file; - is standard output",
                              "Write a JSON object: the summary of the file, or the name"});
    command.add_flag("--discard", arguments->discard, "Drop its events").excludes(output);
    command.footer("One of -o and --discard is required.\n"
                   "Examples:\n"
                   "  elog flight stop shop -o last.elog\n"
                   "  elog flight stop shop --discard");
    command.action([arguments] {
        check_stop_options(*arguments);
        run_stop(arguments->snapshot, arguments->discard);
    });
}

}  // namespace elog
