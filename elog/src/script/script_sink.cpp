// SPDX-License-Identifier: MIT
#include "script/script_sink.hpp"

#include "base/user_error.hpp"

namespace elog {

void script_sink::start(const region_view& source) {
    clock_ = clock_converter(source.header.clock);
    merger_ = time_merger(source.geometry.ring_count);
}

void script_sink::take_provider(const provider_instance& provider) {
    try {
        runner_.add(provider);
    } catch (const user_error& error) {
        mismatches_.add(error.what());
    }
}

void script_sink::take_loss(const loss_report& loss) {
    merge(UINT64_MAX, UINT64_MAX);
    runner_.note_missing(missing_of(loss));
}

void script_sink::merge(std::uint64_t time, std::uint64_t present) {
    merger_.merge(time, present,
                  [this](const merged_record& record) { runner_.take(record, clock_); });
}

void script_sink::advance(std::uint64_t time, std::uint64_t present) {
    merge(time, present);
    if (time != 0 && time != UINT64_MAX && !runner_.is_done()) {
        runner_.advance(clock_.monotonic(time));
    }
}

}  // namespace elog
