// SPDX-License-Identifier: MIT
#include "tracing/process_names.hpp"

#include <algorithm>
#include <cstddef>

#include "tracing/process_files.hpp"

namespace elog {
namespace {

// More processes at once are rare; those that are forgotten are named "?".
constexpr std::size_t known_names_max = 65536;

}  // namespace

process_names::process_names() : lookup_(living_process_name) {}

void process_names::take(std::vector<process_change> changes) {
    std::stable_sort(changes.begin(), changes.end(),
                     [](const auto& one, const auto& other) { return one.time < other.time; });
    for (process_change& change : changes) {
        if (change.parent != 0) {
            change.name = of(change.parent);
            if (change.name.empty()) {
                change.name = lookup_(change.parent);
            }
        }
        if (known_.size() >= known_names_max) {
            known_.clear();
        }
        entry& known = known_[change.process];
        if (change.time >= known.time) {
            known = {change.time, std::move(change.name)};
        }
    }
}

std::string process_names::of(std::uint32_t process) const {
    const auto known = known_.find(process);
    return known == known_.end() ? std::string() : known->second.name;
}

}  // namespace elog
