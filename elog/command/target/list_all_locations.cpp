// SPDX-License-Identifier: MIT
#include "target/list_all_locations.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/output_buffer.hpp"
#include "base/proc_file.hpp"
#include "base/user_error.hpp"
#include "cli/complaints.hpp"
#include "cli/json_document.hpp"
#include "cli/usage_error.hpp"
#include "discovery/catalogue.hpp"
#include "discovery/catalogue_output.hpp"
#include "target/child_runner.hpp"
#include "target/container_target.hpp"
#include "target/other_directories.hpp"
#include "target/provider_locations.hpp"
#include "terminal/diagnostics.hpp"
#include "terminal/terminal.hpp"
#include "terminal/wrapped_text.hpp"
#include "text/append_format.hpp"
#include "text/json_object.hpp"

namespace elog {
namespace {

using nlohmann::ordered_json;
using outcome = child_result::outcome;
using std::chrono::steady_clock;

// Limits for each place and for all, because a place may not answer.
constexpr std::chrono::seconds location_timeout{10};
constexpr std::chrono::seconds total_timeout{60};

ordered_json where_of(const provider_location& location) {
    const bool is_common = location.what == provider_location::kind::common;
    ordered_json where = {{"uid", nullptr}, {"pid", nullptr}, {"directory", nullptr}};
    if (is_common) {
        where["directory"] = location.title();
    } else {
        where["uid"] = location.user;
    }
    if (location.what == provider_location::kind::process) {
        where["pid"] = location.process;
    }
    return where;
}

/// Places follow as they answer.
std::string begin_of_json() {
    return fmt::format("{{\"version\": {}, \"places\": [\n", json_version);
}

/// A container may end while this process enters it.
bool is_gone(const provider_location& location) {
    return location.what == provider_location::kind::process && ::kill(location.process, 0) != 0 &&
           errno == ESRCH;
}

class location_lister {
  public:
    explicit location_lister(const list_all_options& options)
        : options_(options), style_(style_of(STDOUT_FILENO)) {}

    void run() {
        check_catalogue_pattern(options_.glob);
        const found_locations found = find_provider_locations();
        const steady_clock::time_point end = steady_clock::now() + total_timeout;
        for (const provider_location& location : found.locations) {
            const auto left =
                std::min<steady_clock::duration>(end - steady_clock::now(), location_timeout);
            if (left <= steady_clock::duration::zero()) {
                complain(location, "not read, because the other places took a minute.");
                continue;
            }
            if (const std::optional<child_result> answer = query(location, left)) {
                take(location, *answer);
            }
        }
        if (found.skipped != 0) {
            print_diagnostic("elog: {} more places are not shown. See one with: elog --user USER "
                             "list, or elog --at PID list",
                             found.skipped);
            failed_ = true;
        }
        print_unreadable_directories();
        finish();
    }

  private:
    /// Returns nothing without an answer: a failure is reported unless the place has ended.
    std::optional<child_result> query(const provider_location& location,
                                      steady_clock::duration at_most) {
        try {
            child_result answer = run_in_child([&] { location.enter(); },
                                               [&] { write_catalogue(location); }, at_most);
            const bool is_shown = answer.how != outcome::failed || !is_gone(location);
            return is_shown ? std::optional(std::move(answer)) : std::nullopt;
        } catch (const user_error& mistake) {  // its message names the remedy
            print_diagnostic("elog: {}: {}", location.title(), mistake.what());
            failed_ = true;
            return std::nullopt;
        }
    }

    /// Writes the catalogue of the current place, or nothing if it is empty. Runs in a child.
    void write_catalogue(const provider_location& location) {
        const catalogue found =
            collect_catalogue(options_.glob, location.what == provider_location::kind::here
                                                 ? catalogue_scope::programs_and_kernel
                                                 : catalogue_scope::programs);
        print_complaints(found.complaints);
        print_complaints(found.unknown_keywords);
        if (found.providers.empty() && found.subscriptions.empty()) {
            return;
        }
        write_all(STDOUT_FILENO, options_.json ? catalogue_as_json(found)
                                               : catalogue_as_text(found, style_, options_.stats));
    }

    void complain(const provider_location& location, std::string_view what) {
        print_diagnostic("elog: {}: {} Try it alone with: {}", location.title(), what,
                         location.list_command());
        failed_ = true;
    }

    void take(const provider_location& location, const child_result& answer) {
        for (std::string_view rest = answer.complaints; !rest.empty();) {
            print_diagnostic("{}: {}", location.title(), take_until(rest, '\n'));
        }
        switch (answer.how) {
            case outcome::done:
                show(location, answer.output);
                break;
            case outcome::failed:
                failed_ = true;
                if (answer.signal != 0) {  // otherwise the child has reported the reason
                    complain(location,
                             fmt::format("the process that read it was ended by signal {}.",
                                         answer.signal));
                }
                break;
            case outcome::timed_out:
                complain(location, "it did not answer in time.");
                break;
            case outcome::output_too_large:
                complain(location, "the answer is too long.");
                break;
        }
    }

    void show(const provider_location& location, const std::string& text) {
        if (text.empty()) {
            return;
        }
        found_ = true;
        fmt::memory_buffer out;
        if (options_.json) {
            ordered_json parsed = ordered_json::parse(text, nullptr, false);
            if (!parsed.is_object()) {
                complain(location, "the answer is damaged, and left out.");
                return;
            }
            parsed.erase("version");  // that of the whole object precedes all places
            ordered_json where = where_of(location);
            where.update(parsed);
            append_format(out, "{}", first_ ? begin_of_json() : ",\n");
            out.append(document_text(where));
        } else {
            out.append(std::string_view(first_ ? "" : "\n"));
            wrapped_line(out, style_, 0, 2)
                .add_words("Programs of " + location.title(), paint::faint);
            out.append(text);
        }
        write_out(STDOUT_FILENO, out);
        first_ = false;
    }

    void finish() {
        if (options_.json) {
            write_all(STDOUT_FILENO, (first_ ? begin_of_json() : "") + "\n]}\n");
        }
        if (failed_) {
            throw user_error("Not all places could be read.");
        }
        if (!found_ && !options_.glob.empty()) {
            throw user_error("No running program offers an event that matches '{}', here or "
                             "elsewhere. elog list --all lists all events.",
                             options_.glob);
        }
        if (!found_ && !options_.json) {
            print_note("No running program that you may see offers events, here or elsewhere. "
                       "Start one that uses eventlog.");
        }
    }

    const list_all_options& options_;
    terminal_style style_;
    bool first_ = true;
    bool found_ = false;
    bool failed_ = false;
};

}  // namespace

void list_all_locations(const list_all_options& options) {
    if (is_in_container()) {
        throw usage_error("elog list --all searches the whole machine and looks up names of users, "
                          "which would load code of the container: leave out --all or --at.");
    }
    location_lister(options).run();
}

}  // namespace elog
