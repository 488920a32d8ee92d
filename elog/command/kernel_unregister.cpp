// SPDX-License-Identifier: MIT
//
// elog kernel unregister: removes events from the kernel's user_events.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/output.hpp"
#include "commands.hpp"
#include "live/user_events_registry.hpp"
#include "platform/glob.hpp"
#include "terminal/diagnostics.hpp"
#include "text/json_object.hpp"

namespace elog {
namespace {

/// Converts PROVIDER[:EVENT] to a pattern for names in the kernel, which have _ between the two.
std::string pattern_of(const std::string& glob) {
    const auto colon = glob.find(':');
    const std::string provider = glob.substr(0, colon);
    const std::string event = colon == std::string::npos ? "*" : glob.substr(colon + 1);
    const auto is_sound = [](const std::string& part) {
        return !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   c == '_' || c == '*' || c == '?';
        });
    };
    if (!is_sound(provider) || !is_sound(event)) {
        throw usage_error("'{}' is not a pattern for events: write PROVIDER or PROVIDER:EVENT, "
                          "with letters, digits, _, * and ?.",
                          glob);
    }
    return "eventlog_" + provider + "_" + event;
}

std::vector<std::string> find_matching(const user_events_registry& kernel,
                                       const std::vector<std::string>& globs,
                                       const std::vector<std::string>& patterns) {
    std::vector<std::string> wanted;
    const std::vector<std::string> names = kernel.names();
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        const std::size_t before = wanted.size();
        std::copy_if(
            names.begin(), names.end(), std::back_inserter(wanted),
            [&](const std::string& name) { return eventlog::core::glob_match(patterns[i], name); });
        if (wanted.size() == before) {
            throw user_error("The kernel has no event that matches '{}'. See the events with: cat "
                             "/sys/kernel/tracing/user_events_status",
                             globs[i]);
        }
    }
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    return wanted;
}

struct unregister_options {
    std::vector<std::string> globs;
    bool json = false;
};

/// Writes a line for an event. The reason why one stays is also on standard error.
void print_event(bool json, const std::string& name, const std::optional<std::string>& reason) {
    if (json) {
        write_all(STDOUT_FILENO, versioned_object()
                                     .add("kernel_event", name)
                                     .add("state", reason ? "stays" : "removed")
                                     .add("reason", reason)
                                     .line());
    } else if (!reason) {
        write_all(STDOUT_FILENO, name + '\n');
    }
}

void run_unregister(const unregister_options& options) {
    std::vector<std::string> patterns;
    for (const std::string& glob : options.globs) {
        patterns.push_back(pattern_of(glob));
    }
    const user_events_registry kernel;
    const std::vector<std::string> wanted = find_matching(kernel, options.globs, patterns);
    std::size_t left = 0;
    for (const std::string& name : wanted) {
        std::optional<std::string> reason;
        try {
            kernel.remove(name);
        } catch (const user_error& error) {
            ++left;
            reason = error.what();
            print_diagnostic("elog: {}", *reason);
        }
        print_event(options.json, name, reason);
    }
    if (left != 0) {
        throw user_error("{} of {} events have not been removed, for the reasons above.", left,
                         wanted.size());
    }
}

}  // namespace

void add_kernel_unregister(command_group& kernel) {
    subcommand command =
        kernel.add_subcommand("unregister", "Remove registered events from the kernel");
    const auto options = std::make_shared<unregister_options>();
    command.add_option("GLOB", options->globs, "PROVIDER or PROVIDER:EVENT, with * and ?")
        .required()
        .completes_as(value_kind::event);
    command.add_flag("-j,--json", options->json, "Write a JSON object on a line for each event");
    command.footer("Events that a program has or that are recorded stay, with a message.\n"
                   "Examples:\n"
                   "  sudo elog kernel unregister shop\n"
                   "  sudo elog kernel unregister 'shop:order_*'");
    command.action([options] { run_unregister(*options); });
}

}  // namespace elog
