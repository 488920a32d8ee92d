// SPDX-License-Identifier: MIT
//
// elog list: who can be listened to.
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "commands.hpp"
#include "patterns.hpp"
#include "running_providers.hpp"
#include "tell.hpp"
#include "text_writer.hpp"

namespace elog {
namespace {

void append_event(fmt::memory_buffer& out, const event_schema& event, std::size_t width) {
    fmt::format_to(std::back_inserter(out), "  {:<{}}", event.name, width);
    for (const field_schema& field : event.fields) {
        fmt::format_to(std::back_inserter(out), " {}:{}", field.name, name_of(field.type));
    }
    out.push_back('\n');
}

/// Returns whether any event of it is wanted.
bool append_provider(fmt::memory_buffer& out, const provider_instance& provider,
                     const event_patterns& patterns) {
    std::vector<const event_schema*> wanted;
    std::size_t width = 0;
    for (const event_schema& event : provider.schema.events) {
        if (patterns.matches(provider.schema, event)) {
            wanted.push_back(&event);
            width = std::max(width, event.name.size());
        }
    }
    if (wanted.empty()) {
        return false;
    }
    fmt::format_to(std::back_inserter(out), "{}  (", provider.schema.name);
    append_visible(out, provider.process);
    fmt::format_to(std::back_inserter(out), ", process {})\n", provider.pid);
    for (const event_schema* event : wanted) {
        append_event(out, *event, width);
    }
    return true;
}

void run_list(const std::string& glob) {
    event_patterns patterns;
    try {
        patterns.add(glob.empty() ? "*" : glob);
    } catch (const failure& error) {
        throw usage_failure("{}", error.what());
    }
    const running_providers found = find_running_providers();
    for (const std::string& complaint : found.complaints) {
        tell("elog: {}", complaint);
    }
    fmt::memory_buffer out;
    bool any = false;
    for (const provider_instance& provider : found.providers) {
        any = append_provider(out, provider, patterns) || any;
    }
    write_all(STDOUT_FILENO, {out.data(), out.size()});
    if (!any && glob.empty()) {
        tell("No running program of yours offers events. Start one that uses eventlog.");
    } else if (!any) {
        throw failure("No running program offers an event that matches '{}'. See what there is "
                      "with: elog list",
                      glob);
    }
}

}  // namespace

void add_list(CLI::App& application) {
    CLI::App* command =
        application.add_subcommand("list", "Show running providers, their events and fields");
    const auto glob = std::make_shared<std::string>();
    command->add_option("GLOB", *glob, "Only events that match PROVIDER:EVENT, with * and ?");
    command->footer("Example:\n  elog list 'shop:order_*'");
    command->callback([glob] { run_list(*glob); });
}

}  // namespace elog
