// SPDX-License-Identifier: MIT
#include "scenario.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <eventlog/abi.h>

#include "sequences.hpp"

namespace eventlog::test {

std::uint64_t scenario::entry() const {
    return kind == event_kind::block ? reinterpret_cast<std::uint64_t>(&eventlog_emit_raw)
                                     : reinterpret_cast<std::uint64_t>(&eventlog_emit_raw_text);
}

const std::vector<scenario>& scenarios() {
    using enum event_kind;
    using enum ring_state;
    // Sizes of texts: for each way of copying, an empty one, and one that is copied in pieces.
    static const std::vector<scenario> all{
        {"small", small, {12, 0, 1, 2, 3, 6, 40}, has_space, true},
        {"block", block, {0}, has_space, true},
        {"pieces", small, {700}, has_space, true},
        {"block_in_the_next_buffer", block, {0}, next, true},
        {"block_without_room", block, {0}, exhausted, false},
        {"block_by_another_clock", block, {0}, has_space, true, "off"},
    };
    return all;
}

trace::trace(std::vector<executed_step> steps, bool counted) : steps_(std::move(steps)) {
    std::vector<std::size_t> completed;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const sequence* const in = sequence_at(steps_[i].address);
        if (in != nullptr && steps_[i].next == in->end()) {
            completed.push_back(i);
        }
    }
    const std::size_t behind = counted ? 2 : 1;
    if (completed.size() < behind) {
        throw std::runtime_error("the event did not go through the sequences that it should");
    }
    effect_ = completed[completed.size() - behind];
}

bool trace::is_committed_before(std::uint64_t address) const {
    const auto first = std::find_if(steps_.begin(), steps_.end(), [address](const auto& step) {
        return step.address == address;
    });
    return static_cast<std::size_t>(first - steps_.begin()) > effect_;
}

}  // namespace eventlog::test
