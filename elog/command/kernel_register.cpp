// SPDX-License-Identifier: MIT
//
// elog kernel register: registers events with the kernel before their program starts.
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>

#include "base/output.hpp"
#include "commands.hpp"
#include "discovery/schema_sources.hpp"
#include "live/user_events_registry.hpp"
#include "schema/schema.hpp"
#include "terminal/diagnostics.hpp"
#include "text/json_object.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;

struct register_options {
    std::vector<std::string> sources;
    bool persist = false;
    bool json = false;
};

struct tally {
    std::size_t events = 0;
    std::size_t were_there = 0;
    std::size_t failed = 0;
};

/// Writes a line for a registered event.
void print_registered(bool json, const core::schema_reader& schema,
                      const core::event_description& event,
                      const user_events_registry::registered& made) {
    write_all(STDOUT_FILENO, !json ? made.name + '\n'
                                   : versioned_object()
                                         .add("kernel_event", made.name)
                                         .add("provider", schema.provider())
                                         .add("event", event.name)
                                         .add("state", made.existed ? "existing" : "new")
                                         .add("reason", std::optional<std::string>())
                                         .line());
}

/// In JSON, writes a line for a refused event.
void print_refused(bool json, const core::schema_reader& schema,
                   const core::event_description& event, const char* reason) {
    if (json) {
        write_all(STDOUT_FILENO, versioned_object()
                                     .add("kernel_event", std::optional<std::string>())
                                     .add("provider", schema.provider())
                                     .add("event", event.name)
                                     .add("state", "refused")
                                     .add("reason", reason)
                                     .line());
    }
}

void register_event(const user_events_registry& kernel, core::schema_reader& schema,
                    const core::event_description& event, bool json, tally& counts) {
    static core::user_events_description text;  // several KiB
    core::error_text why;
    ++counts.events;
    if (!text.describe(schema, event, why)) {
        ++counts.failed;
        print_diagnostic(
            "elog: {}:{} cannot be registered: {}. Use shorter names, or fewer fields.",
            schema.provider(), event.name, why.text().c_str());
        print_refused(json, schema, event, why.text().c_str());
        return;
    }
    const user_events_registry::registered made = kernel.add(text);
    print_registered(json, schema, event, made);
    counts.were_there += made.existed ? 1 : 0;
}

void register_provider(const user_events_registry& kernel, const provider_schema& provider,
                       bool json, tally& counts) {
    core::schema_reader schema;
    core::error_text why;
    if (!schema.open(provider.binary, why)) {
        throw user_error("The schema of {} cannot be read: {}", provider.name, why.text().c_str());
    }
    core::event_description event;
    while (schema.next_event(event)) {
        register_event(kernel, schema, event, json, counts);
    }
}

void run_register(const register_options& options) {
    std::vector<provider_schema> providers;
    for (const std::string& source : options.sources) {
        for (provider_schema& found : find_schemas(source)) {
            add_unique(providers, std::move(found));
        }
    }
    const user_events_registry kernel;
    tally counts;
    for (const provider_schema& provider : providers) {
        register_provider(kernel, provider, options.json, counts);
    }
    if (counts.were_there != 0) {
        print_note("{} of {} events existed before. Events that a running program has "
                   "created disappear with it: end it, and register them again.",
                   counts.were_there, counts.events);
    }
    if (counts.failed != 0) {
        throw user_error("{} of {} events are not registered, for the reasons above.",
                         counts.failed, counts.events);
    }
}

}  // namespace

void add_kernel_register(command_group& kernel) {
    subcommand command = kernel.add_subcommand(
        "register", "Register events with the kernel before their program starts");
    const auto options = std::make_shared<register_options>();
    command
        .add_option("SOURCE", options->sources,
                    "File (schema, recording, program, library) or running provider")
        .required()
        .completes_as(value_kind::source);
    command.add_flag("--persist", options->persist,
                     "State that the events stay, which they do in any case");
    command.add_flag("-j,--json", options->json, "Write a JSON object on a line for each event");
    command.footer("The events are in tracefs as eventlog_PROVIDER_EVENT, and can be enabled.\n"
                   "Examples:\n"
                   "  sudo elog kernel register --persist /usr/bin/order_service\n"
                   "  sudo elog kernel register --persist ./shop.schema");
    command.action([options] { run_register(*options); });
}

}  // namespace elog
