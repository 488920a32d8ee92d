// SPDX-License-Identifier: MIT
#include "target/list_everywhere.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/failure.hpp"
#include "base/output_buffer.hpp"
#include "base/proc_file.hpp"
#include "discovery/catalogue.hpp"
#include "discovery/catalogue_output.hpp"
#include "target/other_places.hpp"
#include "target/place_runner.hpp"
#include "terminal/tell.hpp"
#include "terminal/terminal.hpp"
#include "terminal/wrapped_text.hpp"

namespace elog {
namespace {

using nlohmann::ordered_json;
using outcome = place_answer::outcome;
using std::chrono::steady_clock;

// For each place, and for all of them: whoever is looked at can let us wait.
constexpr std::chrono::seconds answer_patience{10};
constexpr std::chrono::seconds patience_with_all{60};

ordered_json where_of(const other_place& place) {
    const bool is_common = place.what == other_place::kind::common;
    ordered_json where = {{"user", nullptr}, {"process", nullptr}, {"directory", nullptr}};
    if (is_common) {
        where["directory"] = place.title();
    } else {
        where["user"] = place.user;
    }
    if (place.what == other_place::kind::process) {
        where["process"] = place.process;
    }
    return where;
}

/// Containers end when they like, also while we are on the way there.
bool is_gone(const other_place& place) {
    return place.what == other_place::kind::process && ::kill(place.process, 0) != 0 &&
           errno == ESRCH;
}

class lister {
  public:
    explicit lister(const everywhere_options& options)
        : options_(options), style_(style_of(STDOUT_FILENO)) {}

    void run() {
        check_catalogue_pattern(options_.glob);
        const found_places found = find_places();
        const steady_clock::time_point end = steady_clock::now() + patience_with_all;
        for (const other_place& place : found.places) {
            const auto left =
                std::min<steady_clock::duration>(end - steady_clock::now(), answer_patience);
            if (left <= steady_clock::duration::zero()) {
                complain(place, "not looked at, because others have let us wait for a minute.");
                continue;
            }
            if (const std::optional<place_answer> answer = look(place, left)) {
                take(place, *answer);
            }
        }
        if (found.left_out != 0) {
            tell("elog: There are {} more places, which are not shown. See one with: elog --user "
                 "USER list, or elog --at PID list",
                 found.left_out);
            failed_ = true;
        }
        finish();
    }

  private:
    /// Nothing if there is no answer to show: that is told, unless the place has gone.
    std::optional<place_answer> look(const other_place& place, steady_clock::duration at_most) {
        try {
            place_answer answer =
                run_elsewhere([&] { place.go(); }, [&] { write_catalogue(place); }, at_most);
            const bool is_shown = answer.how != outcome::failed || !is_gone(place);
            return is_shown ? std::optional(std::move(answer)) : std::nullopt;
        } catch (const failure& mistake) {  // which says itself what to do
            tell("elog: {}: {}", place.title(), mistake.what());
            failed_ = true;
            return std::nullopt;
        }
    }

    /// Of where this process is, nothing if nothing is there. In a child.
    void write_catalogue(const other_place& place) {
        const catalogue found =
            collect_catalogue(options_.glob, place.what == other_place::kind::here
                                                 ? catalogue_scope::programs_and_kernel
                                                 : catalogue_scope::programs);
        for (const std::string& complaint : found.complaints) {
            tell("elog: {}", complaint);
        }
        if (found.providers.empty() && (!options_.json || found.subscriptions.empty())) {
            return;
        }
        write_all(STDOUT_FILENO, options_.json ? catalogue_as_json(found)
                                               : catalogue_as_text(found, style_, options_.stats));
    }

    void complain(const other_place& place, std::string_view what) {
        tell("elog: {}: {} Try it alone with: {}", place.title(), what, place.way());
        failed_ = true;
    }

    void take(const other_place& place, const place_answer& answer) {
        for (std::string_view said = answer.complaints; !said.empty();) {
            tell("{}: {}", place.title(), take_until(said, '\n'));
        }
        switch (answer.how) {
            case outcome::done:
                show(place, answer.output);
                break;
            case outcome::failed:
                failed_ = true;
                if (answer.signal != 0) {  // else it has said why
                    complain(place, fmt::format("who looked there was ended by signal {}.",
                                                answer.signal));
                }
                break;
            case outcome::too_long:
                complain(place, "there has been no answer in time.");
                break;
            case outcome::too_much:
                complain(place, "the answer is too long.");
                break;
        }
    }

    void show(const other_place& place, const std::string& text) {
        if (text.empty()) {
            return;
        }
        found_ = true;
        fmt::memory_buffer out;
        if (options_.json) {
            const ordered_json told = ordered_json::parse(text, nullptr, false);
            if (!told.is_object()) {
                complain(place, "what was told is damaged, and is left out.");
                return;
            }
            ordered_json where = where_of(place);
            where.update(told);
            out.append(std::string_view(first_ ? "{\"places\": [\n" : ",\n"));
            out.append(where.dump(2, ' ', false, ordered_json::error_handler_t::replace));
        } else {
            out.append(std::string_view(first_ ? "" : "\n"));
            wrapped_line(out, style_, 0, 2).add_words("Programs of " + place.title(), paint::faint);
            out.append(text);
        }
        write_out(STDOUT_FILENO, out);
        first_ = false;
    }

    void finish() {
        if (options_.json) {
            write_all(STDOUT_FILENO, first_ ? "{\"places\": []}\n" : "\n]}\n");
        }
        if (failed_) {
            throw failure("Not all places could be looked at.");
        }
        if (!found_ && !options_.glob.empty()) {
            throw failure("No running program offers an event that matches '{}', here or "
                          "elsewhere. elog list "
                          "--all shows what there is.",
                          options_.glob);
        }
        if (!found_ && !options_.json) {
            tell("No running program offers events, here or elsewhere. Start one that uses "
                 "eventlog.");
        }
    }

    const everywhere_options& options_;
    terminal_style style_;
    bool first_ = true;
    bool found_ = false;
    bool failed_ = false;
};

}  // namespace

void list_everywhere(const everywhere_options& options) {
    lister(options).run();
}

}  // namespace elog
