// SPDX-License-Identifier: MIT
#include "list_everywhere.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "catalogue.hpp"
#include "catalogue_output.hpp"
#include "failure.hpp"
#include "other_places.hpp"
#include "output.hpp"
#include "place_runner.hpp"
#include "proc_file.hpp"
#include "tell.hpp"
#include "terminal.hpp"
#include "wrapped_text.hpp"

namespace elog {
namespace {

using json = nlohmann::ordered_json;
using outcome = place_answer::outcome;

json where_of(const other_place& place) {
    json where = {{"user", place.user}, {"process", nullptr}};
    if (place.process) {
        where["process"] = *place.process;
    }
    return where;
}

/// Containers end when they like, also while we are on the way there.
bool is_gone(const other_place& place) {
    return place.process && ::kill(*place.process, 0) != 0 && errno == ESRCH;
}

std::string way_to(const other_place& place) {
    const std::vector<std::string> words = place.words();
    return fmt::format("elog {} {} list", words.at(0), words.at(1));
}

class lister {
  public:
    explicit lister(const everywhere_options& options)
        : options_(options), style_(style_of(STDOUT_FILENO)) {}

    void run() {
        check_catalogue_pattern(options_.glob);
        // Children first: they go on as this process was before it opened anything.
        const other_places others = find_other_places();
        const std::vector<answered_place> answers = ask(others.places);
        add_ours();
        for (const auto& [place, answer] : answers) {
            add_answer(place, answer);
        }
        if (others.left_out != 0) {
            tell("elog: There are {} more places, which are not shown. See one with: elog --user "
                 "USER list, or elog --at PID list",
                 others.left_out);
        }
        finish();
    }

  private:
    struct answered_place {
        const other_place& place;
        place_answer answer;
    };

    /// A user who lets us wait does so once.
    std::vector<answered_place> ask(const std::vector<other_place>& places) {
        std::vector<answered_place> answers;
        std::set<uid_t> delaying;
        for (const other_place& place : places) {
            if (delaying.contains(place.user)) {
                tell("elog: {}: not looked at, because that user has let us wait elsewhere. See "
                     "it with: {}",
                     place.title(), way_to(place));
                failed_ = true;
                continue;
            }
            answers.push_back({place, run_elsewhere(place.words(), [&] { write_ours(); })});
            if (answers.back().answer.how == outcome::too_long) {
                delaying.insert(place.user);
            }
        }
        return answers;
    }

    /// What runs where this process is; nothing, if nothing does.
    std::string text_of_ours() {
        const catalogue found = collect_catalogue(options_.glob);
        for (const std::string& complaint : found.complaints) {
            tell("elog: {}", complaint);
        }
        if (found.providers.empty() && (!options_.json || found.subscriptions.empty())) {
            return {};
        }
        return options_.json ? catalogue_as_json(found)
                             : catalogue_as_text(found, style_, options_.stats);
    }

    /// In a child.
    void write_ours() { write_all(STDOUT_FILENO, text_of_ours()); }

    void add_ours() {
        try {
            add(other_place{::geteuid(), std::nullopt, {}}, text_of_ours());
        } catch (const failure& error) {
            tell("elog: {}", error.what());
            failed_ = true;
        }
    }

    void add_answer(const other_place& place, const place_answer& answer) {
        if (answer.how == outcome::failed && is_gone(place)) {
            return;
        }
        for (std::string_view said = answer.complaints; !said.empty();) {
            tell("{}: {}", place.title(), take_until(said, '\n'));
        }
        if (answer.how == outcome::done) {
            add(place, answer.output);
            return;
        }
        failed_ = true;
        if (answer.how != outcome::failed) {  // else it has said why
            tell("elog: {}: {} Try it alone with: {}", place.title(),
                 answer.how == outcome::too_long ? "there has been no answer for ten seconds."
                                                 : "the answer is too long.",
                 way_to(place));
        }
    }

    void add(const other_place& place, const std::string& text) {
        if (text.empty()) {
            return;
        }
        found_ = true;
        if (options_.json) {
            add_json(place, text);
            return;
        }
        fmt::memory_buffer out;
        if (!first_) {
            out.push_back('\n');
        }
        wrapped_line(out, style_, 0, 2).add_words("Programs of " + place.title(), paint::faint);
        out.append(text);
        write_out(STDOUT_FILENO, out);
        first_ = false;
    }

    void add_json(const other_place& place, const std::string& text) {
        const json told = json::parse(text, nullptr, false);
        if (!told.is_object()) {
            tell("elog: {}: what was told is damaged, and is left out.", place.title());
            failed_ = true;
            return;
        }
        json where = where_of(place);
        where.update(told);
        places_.push_back(std::move(where));
    }

    void finish() {
        if (options_.json) {
            write_all(STDOUT_FILENO, json{{"places", places_}}.dump(
                                         2, ' ', false, json::error_handler_t::replace) +
                                         '\n');
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
    json places_ = json::array();
    bool first_ = true;
    bool found_ = false;
    bool failed_ = false;
};

}  // namespace

void list_everywhere(const everywhere_options& options) {
    lister(options).run();
}

}  // namespace elog
