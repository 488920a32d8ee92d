// SPDX-License-Identifier: MIT
#include "scenario.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <eventlog/abi.h>

#include "sequences.hpp"

namespace eventlog::test {

std::uint64_t scenario::entry() const {
    return kind == event_kind::small ? reinterpret_cast<std::uint64_t>(&eventlog_emit_raw_text)
                                     : reinterpret_cast<std::uint64_t>(&eventlog_emit_raw);
}

const std::vector<scenario>& scenarios() {
    using enum event_kind;
    using enum ring_state;
    // Sizes of texts: for each way of copying, an empty one, and one that is copied in pieces.
    static const std::vector<scenario> all{
        {"small", small, {12, 0, 1, 2, 3, 6, 40}, has_space, 2},
        {"block", block, {0}, has_space, 2},
        {"pieces", small, {700}, has_space, 2},
        {"block_in_the_next_buffer", block, {0}, next, 3},
        {"block_without_room", block, {0}, exhausted, 1},
        {"block_by_another_clock", block, {0}, has_space, 2, "off"},
        {"small_after_another_thread", small, {12}, other_context, 3},
        {"block_after_another_thread", block, {0}, other_context, 3},
        {"small_extended", small, {300}, has_space, 2},
        {"large", large, {0}, has_space, 2},
        {"large_in_the_next_buffer", large, {0}, next, 2},
        {"block_on_two_routes", block, {0}, has_space, 2, "on", true},
    };
    return all;
}

trace::trace(std::vector<executed_step> steps, std::size_t last_sequences)
    : steps_(std::move(steps)) {
    std::vector<std::size_t> completed;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const sequence* const in = sequence_at(steps_[i].address);
        if (in != nullptr && steps_[i].next == in->end()) {
            completed.push_back(i);
        }
    }
    if (completed.size() < last_sequences) {
        throw std::runtime_error("the event did not go through the sequences that it should");
    }
    effect_ = completed[completed.size() - last_sequences];
}

bool trace::is_committed_before(std::uint64_t address) const {
    const auto first = std::find_if(steps_.begin(), steps_.end(), [address](const auto& step) {
        return step.address == address;
    });
    return static_cast<std::size_t>(first - steps_.begin()) > effect_;
}

}  // namespace eventlog::test
