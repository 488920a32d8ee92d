// SPDX-License-Identifier: MIT
#include "top/top_sink.hpp"

#include "base/user_error.hpp"
#include "record/ring_records.hpp"

namespace elog {
namespace {

constexpr std::size_t kept_complaints_max = 20;

}  // namespace

void top_sink::start(const region_view& source) {
    clock_ = clock_converter(source.header.clock);
}

void top_sink::take_provider(const provider_instance& provider) {
    try {
        if (filter_ != nullptr) {
            filter_->add(provider);
        }
    } catch (const user_error& error) {
        if (diagnostics_.size() < kept_complaints_max) {
            diagnostics_.insert(error.what());
        }
    }
    counted_.add(provider);
}

void top_sink::take_run(const record_run& run) {
    run_reader records(run);
    for (record_view record; records.next(record);) {
        if (filter_ == nullptr || filter_->matches(record, clock_)) {
            counted_.take(record);
        }
    }
}

}  // namespace elog
