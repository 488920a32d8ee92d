// SPDX-License-Identifier: MIT
//
// elog stop: ends a flight recorder.
#include <unistd.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "base/output.hpp"
#include "base/user_error.hpp"
#include "commands.hpp"
#include "memory/detached_subscription.hpp"
#include "snapshot.hpp"
#include "text/json_object.hpp"

namespace elog {
namespace {

/// The memory is released after the file is complete, because the disk may be full.
void take(snapshot_writer& kept, const std::string& name) {
    try {
        kept.take();
    } catch (const subscription_ended&) {
        throw;
    } catch (const std::exception& error) {
        throw user_error("{} '{}' receives no more events, and keeps those that it has: write them "
                         "elsewhere with elog stop -o, or discard them with elog stop.",
                         error.what(), name);
    }
}

/// The JSON output without a file.
void print_ended(const std::string& name) {
    write_all(
        STDOUT_FILENO,
        versioned_object().add("name", name).add("file", std::optional<std::string>()).line());
}

void run_stop(const snapshot_arguments& arguments) {
    check_snapshot_options(arguments);
    if (arguments.where && !arguments.output) {
        throw usage_error("--where is for the file: add -o FILE.");
    }
    detached_subscription ended(arguments.name);
    // An error with the file or the predicate has to occur before the end, so that no events are
    // lost.
    std::optional<snapshot_writer> kept;
    if (arguments.output) {
        kept.emplace(arguments, ended);
    }
    ended.end();
    if (kept) {
        take(*kept, arguments.name);
    }
    if (!ended.remove()) {
        throw user_error("Another process has just ended the subscription '{}'{}.", arguments.name,
                         kept ? ": the file may be incomplete" : "");
    }
    if (arguments.json && !kept) {
        print_ended(arguments.name);
    }
}

}  // namespace

void add_stop(command_line& line) {
    subcommand command = line.add_subcommand("stop", "End a flight recorder");
    const auto arguments = std::make_shared<snapshot_arguments>();
    add_snapshot_options(command, *arguments);
    command.footer("With -o, all of its events are written to a file first, to the last one.\n"
                   "Example:\n"
                   "  elog stop flight -o last.elog");
    command.action([arguments] { run_stop(*arguments); });
}

}  // namespace elog
