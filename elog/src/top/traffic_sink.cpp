// SPDX-License-Identifier: MIT
#include "top/traffic_sink.hpp"

#include "base/failure.hpp"

namespace elog {
namespace {

constexpr std::size_t kept_complaints_max = 20;

}  // namespace

void traffic_sink::start(const open_region& source) {
    clock_ = clock_table(source.header.clock);
}

void traffic_sink::take_provider(const provider_instance& provider) {
    try {
        if (filter_ != nullptr) {
            filter_->add(provider);
        }
    } catch (const failure& error) {
        if (complaints_.size() < kept_complaints_max) {
            complaints_.insert(error.what());
        }
    }
    counted_.add(provider);
}

void traffic_sink::take_run(const record_run& run) {
    std::span<const std::uint8_t> rest = run.bytes;
    while (!rest.empty()) {
        const record_view record = take_record(rest);
        if (filter_ == nullptr || filter_->matches(record, clock_)) {
            counted_.take(record);
        }
    }
}

}  // namespace elog
