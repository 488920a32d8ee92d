// SPDX-License-Identifier: MIT
//
// elog stop: end a subscription that stands by itself.
#include <unistd.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "base/failure.hpp"
#include "base/output.hpp"
#include "commands.hpp"
#include "memory/standing_subscription.hpp"
#include "snapshot.hpp"
#include "text/json_object.hpp"

namespace elog {
namespace {

/// What it holds goes away when it is in the file, not before: a disk may be full.
void take(snapshot_taking& kept, const std::string& name) {
    try {
        kept.take();
    } catch (const ended_meanwhile&) {
        throw;
    } catch (const std::exception& error) {
        throw failure("{} '{}' takes no more events, and keeps what it has: write it elsewhere "
                      "with elog stop -o, or let it go with elog stop.",
                      error.what(), name);
    }
}

/// Without a file there is nothing else to say.
void say_ended(const std::string& name) {
    write_all(STDOUT_FILENO,
              json_object().add("name", name).add("file", std::optional<std::string>()).line());
}

void run_stop(const snapshot_arguments& arguments) {
    check_snapshot_options(arguments);
    if (arguments.where && !arguments.output) {
        throw usage_failure("--where is for what is kept: add -o FILE.");
    }
    standing_subscription ended(arguments.name);
    // A file that cannot be made, or a predicate that is none, must not cost what was kept.
    std::optional<snapshot_taking> kept;
    if (arguments.output) {
        kept.emplace(arguments, ended);
    }
    ended.end();
    if (kept) {
        take(*kept, arguments.name);
    }
    if (!ended.remove()) {
        throw failure("Somebody else has just ended the subscription '{}'{}.", arguments.name,
                      kept ? ": what the file has may not be all" : "");
    }
    if (arguments.json && !kept) {
        say_ended(arguments.name);
    }
}

}  // namespace

void add_stop(command_line& line) {
    subcommand command =
        line.add_subcommand("stop", "End what elog start began, and give back its memory");
    const auto arguments = std::make_shared<snapshot_arguments>();
    add_snapshot_options(command, *arguments);
    command.footer("With -o, what it has kept is written to a file first: all of it, to the last "
                   "event.\n"
                   "Example:\n"
                   "  elog stop flight -o last.elog");
    command.action([arguments] { run_stop(*arguments); });
}

}  // namespace elog
