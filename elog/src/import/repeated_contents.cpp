// SPDX-License-Identifier: MIT
#include "import/repeated_contents.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "base/saturating.hpp"

namespace elog {
namespace {

/// Of a sampling_report or a sampled_event.
template <class Counts>
void add_counts(Counts& to, const Counts& other) noexcept {
    add_saturating(to.kept, other.kept);
    add_saturating(to.by_sampling, other.by_sampling);
    add_saturating(to.by_rate, other.by_rate);
}

void add_omitted(sampling_report& to, const sampling_report& other) {
    add_counts(to, other);
    to.max_rate = std::max(to.max_rate, other.max_rate);
    std::map<std::tuple<std::string, std::string, std::uint64_t>, sampled_event> events;
    for (const auto* const all : {&std::as_const(to.events), &other.events}) {
        for (const sampled_event& each : *all) {
            const auto [found, is_new] =
                events.try_emplace({each.provider, each.event, each.every}, each);
            if (!is_new) {
                add_counts(found->second, each);
            }
        }
    }
    to.events.clear();
    for (auto& [key, each] : events) {
        to.events.push_back(std::move(each));
    }
}

void add_notes(recording_notes& to, const recording_notes& other) {
    if (other.omitted) {
        add_omitted(to.omitted ? *to.omitted : to.omitted.emplace(), *other.omitted);
    }
    if (other.scope) {
        command_scope_counts& scope = to.scope ? *to.scope : to.scope.emplace();
        add_saturating(scope.outside, other.scope->outside);
        add_saturating(scope.undecided, other.scope->undecided);
        add_saturating(scope.undecided_processes, other.scope->undecided_processes);
    }
}

}  // namespace

/// Pauses get different numbers. Parts of one recording repeat the begin of a pause.
std::optional<recording_mark> repeated_contents::take_mark(std::uint64_t recording,
                                                           const recording_mark& mark) {
    if (!known_marks_.emplace(recording, mark).second) {
        return std::nullopt;
    }
    const std::pair source(recording, mark.number);
    recording_mark taken = mark;
    taken.number = pauses_.try_emplace(source, pauses_.size() + 1).first->second;
    return taken;
}

/// The later files of a recording repeat what the providers have lost in the earlier ones.
void repeated_contents::subtract_counted(std::uint64_t recording, loss_report& loss) {
    loss_report& counted = counted_[{recording, loss.index}];
    for (const auto count :
         {&loss_report::full, &loss_report::too_large, &loss_report::busy, &loss_report::unattached,
          &loss_report::refused, &loss_report::no_memory}) {
        const std::uint64_t all = std::max(loss.*count, counted.*count);
        loss.*count = all - counted.*count;
        counted.*count = all;
    }
}

/// Of several files of a recording, one has the counts, or all have the same.
void repeated_contents::take_notes(std::uint64_t recording, const recording_notes& notes) {
    if ((notes.omitted || notes.scope) && noted_.insert(recording).second) {
        add_notes(notes_, notes);
    }
}

}  // namespace elog
