// SPDX-License-Identifier: MIT
//
// elog list: lists running providers and their listeners.
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "base/output.hpp"
#include "cli/complaints.hpp"
#include "cli/pager.hpp"
#include "commands.hpp"
#include "discovery/catalogue.hpp"
#include "discovery/catalogue_output.hpp"
#include "discovery/incompatible_processes.hpp"
#include "target/list_all_locations.hpp"
#include "target/other_directories.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {
namespace {

struct list_options {
    std::string glob;
    bool json = false;
    bool stats = false;
    bool everywhere = false;
};

[[noreturn]] void fail_without_match(const std::string& glob, const catalogue& found) {
    if (found.only_conditions_differ) {
        throw user_error("No running program offers an event that matches '{}'; {} has another "
                         "level, keyword or session. See the events with: elog list",
                         glob, *found.nearest);
    }
    if (found.nearest) {
        throw user_error("No running program offers an event that matches '{}'. Did you mean '{}'? "
                         "See the events with: elog list",
                         glob, *found.nearest);
    }
    throw user_error(
        "No running program offers an event that matches '{}'. See the events with: elog list",
        glob);
}

/// Names flight recorders in any case, because they may be forgotten.
void print_detached(const std::vector<running_subscription>& subscriptions) {
    std::string names;
    for (const running_subscription& each : subscriptions) {
        if (!each.name.empty()) {
            names += (names.empty() ? "" : ", ") + each.name;
        }
    }
    if (!names.empty()) {
        print_note("Flight recorders: {}. See: elog flight status", names);
    }
}

/// A directory that cannot be used may have been made by another user.
catalogue collect_or_name_users(const std::string& glob) {
    check_catalogue_pattern(glob);
    try {
        return collect_catalogue(glob);
    } catch (const user_error&) {
        print_other_directories();
        throw;
    }
}

void run_list(const list_options& options) {
    const catalogue found = collect_or_name_users(options.glob);
    print_complaints(found.complaints);
    if (found.providers.empty()) {
        print_other_directories();
    }
    if (!found.unknown_keywords.empty()) {
        throw user_error("{}", found.unknown_keywords.front());
    }
    if (found.providers.empty() && !options.glob.empty()) {
        fail_without_match(options.glob, found);
    }
    start_pager();
    write_all(STDOUT_FILENO,
              options.json ? catalogue_as_json(found)
                           : catalogue_as_text(found, style_of(STDOUT_FILENO), options.stats));
    if (found.providers.empty()) {
        print_note("No running program of yours offers events. Start one that uses eventlog.");
    }
    warn_incompatible_processes(found.subscriptions);
    if (!options.json) {
        print_detached(found.subscriptions);
    }
}

}  // namespace

void add_list(command_line& line) {
    subcommand command =
        line.add_subcommand("list", "List running programs with their events and listeners");
    const auto options = std::make_shared<list_options>();
    command.add_option("GLOB", options->glob, "Only PROVIDER or PROVIDER:EVENT, with * and ?")
        .completes_as(value_kind::event);
    command.add_flag("-s,--stats", options->stats,
                     "Print the number of written and lost events of each process");
    command.add_flag("-a,--all", options->everywhere,
                     "Also programs of other users, for root, and in containers");
    command.add_flag("-j,--json", options->json, "Write everything as a JSON object");
    command.footer("Examples:\n"
                   "  elog list 'shop:order_*'\n"
                   "  elog list --json | jq -r '.providers[].provider'");
    command.action([options] {
        if (options->everywhere) {
            list_all_locations({options->glob, options->json, options->stats});
        } else {
            run_list(*options);
        }
    });
}

}  // namespace elog
