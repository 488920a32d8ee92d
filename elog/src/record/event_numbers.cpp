// SPDX-License-Identifier: MIT
#include "record/event_numbers.hpp"

#include <linux/eventlog.h>

#include <iterator>

namespace elog {

bool event_numbers::add(const event_range& added) {
    if (added.first == 0 || added.count == 0) {
        return true;
    }
    const auto next = ranges_.lower_bound(added.first);
    const bool overlaps_next = next != ranges_.end() && added.contains(next->first);
    const bool overlaps_previous =
        next != ranges_.begin() && std::prev(next)->second.contains(added.first);
    if (added.count - 1 > UINT32_MAX - added.first || overlaps_next || overlaps_previous) {
        return false;
    }
    ranges_.emplace_hint(next, added.first, added);
    return true;
}

bool event_numbers::add(const provider_instance& provider) {
    const event_range added{provider.event_base,
                            static_cast<std::uint32_t>(provider.schema.events.size()), provider.id};
    return added.first <= EVENTLOG_EVENT_NUMBER_MAX &&
           added.count <= EVENTLOG_EVENT_NUMBER_MAX - added.first + 1 && add(added);
}

event_range event_numbers::find(std::uint32_t number) const noexcept {
    const auto next = ranges_.upper_bound(number);
    return next != ranges_.begin() && std::prev(next)->second.contains(number)
               ? std::prev(next)->second
               : event_range{};
}

}  // namespace elog
