// SPDX-License-Identifier: MIT
#include "capture/kernel_trace_run_builder.hpp"

#include <cstring>
#include <utility>

#include "base/user_error.hpp"
#include "record/ring_records.hpp"

namespace elog {
namespace {

// Size at which pending records are passed on.
constexpr std::size_t run_size = 256U << 10U;
// Beyond this number, providers are not distinguished by process.
constexpr std::uint32_t distinct_processes_max = 60000;
// The same limit for schemas: each instance has a copy, and a file may hold at most twice as much,
// see schemas_size_max.
constexpr std::size_t instance_schemas_max = std::size_t{16} << 20U;

/// Appends a text to the payload, if it has room.
void append_stack(std::vector<std::uint8_t>& bytes, const record_appender& record,
                  std::uint16_t offset, std::string_view stack) {
    const std::size_t word = record.payload_offset() + offset;
    const std::size_t distance = bytes.size() - (word + sizeof(std::uint32_t));
    const std::size_t size = stack.size() + 1;
    if (record.payload_size() + size > payload_size_max || distance > UINT16_MAX) {
        return;
    }
    bytes.insert(bytes.end(), stack.begin(), stack.end());
    bytes.push_back(0);
    const auto place = static_cast<std::uint32_t>(size << 16U | distance);
    std::memcpy(bytes.data() + word, &place, sizeof place);
}

}  // namespace

kernel_trace_run_builder::kernel_trace_run_builder(std::uint32_t ring_count, bool is_overwritten)
    : is_overwritten_(is_overwritten), rings_(ring_count) {}

std::uint32_t kernel_trace_run_builder::provider_of(const kernel_trace_event& event,
                                                    const process_info& process) {
    instance_key key{event.schema.get(), process.pid, process.start_time};
    const auto known = instances_.find(key);
    if (known != instances_.end()) {
        return known->second;
    }
    provider_instance added;
    if (next_instance_ >= distinct_processes_max || schema_bytes_ >= instance_schemas_max) {
        key = {event.schema.get(), 0, 0};
        const auto common = instances_.find(key);
        if (common != instances_.end()) {
            return common->second;
        }
        if (next_instance_ == record_provider_max) {
            throw user_error("There are more providers than a recording can have. Start it "
                             "again, with fewer events.");
        }
        added.process = "?";
    } else {
        added.pid = process.pid;
        added.uid = process.uid;
        added.process = process.name;
        added.start_time = process.start_time;
    }
    added.id = next_instance_++;
    added.schema = *event.schema;
    schema_bytes_ += added.schema.binary.size();
    sink_->take_provider(added);
    return instances_.emplace(key, added.id).first->second;
}

void kernel_trace_run_builder::take(std::uint32_t ring, const kernel_trace_event& event,
                                    const process_info& process,
                                    const kernel_trace_record& record) {
    const std::uint32_t provider = provider_of(event, process);
    ring_state& state = rings_[ring];
    record_appender appended(state.bytes);
    if (!event.plan.append(record.bytes, payload_size_max, state.bytes)) {
        appended.discard();
        count_damaged(ring);
        return;
    }
    if (event.stack && !record.stack.empty()) {
        append_stack(state.bytes, appended, *event.stack, record.stack);
    }
    appended.finish({.provider = provider,
                     .event = event.position,
                     .cpu = record.cpu,
                     .thread = record.thread,
                     .time = record.time});
    if (state.count == 0) {
        state.first_loss = std::exchange(state.unreported, 0);
    }
    ++state.count;
    if (state.bytes.size() >= run_size) {
        deliver(ring);
    }
}

/// The loss belongs in front of the next record, so earlier records are passed on first.
void kernel_trace_run_builder::lose(std::uint32_t ring, std::uint64_t count) {
    if (count == 0) {
        return;
    }
    deliver(ring);
    rings_[ring].unreported += count;
    rings_[ring].reported += count;
}

void kernel_trace_run_builder::deliver(std::uint32_t ring) {
    ring_state& state = rings_[ring];
    if (state.count == 0) {
        return;
    }
    record_run run;
    run.ring = ring;
    run.lost_before = std::exchange(state.first_loss, 0);
    run.overwritten = is_overwritten_;
    run.sequence = state.totals.read + state.reported - state.unreported;
    run.count = std::exchange(state.count, 0);
    run.bytes = state.bytes;
    sink_->take_run(run);
    state.totals.read += run.count;
    state.totals.bytes += usual_size(run);
    state.bytes.clear();
}

void kernel_trace_run_builder::finish() {
    for (std::uint32_t ring = 0; ring < rings_.size(); ++ring) {
        deliver(ring);
        const ring_state& state = rings_[ring];
        if (state.unreported != 0 || state.totals.damaged != 0) {
            sink_->take_loss(trailing_loss(ring, state.unreported,
                                           is_overwritten_ ? state.unreported : 0,
                                           state.totals.damaged));
        }
    }
}

ring_totals kernel_trace_run_builder::totals(std::uint32_t ring) const noexcept {
    ring_totals totals = rings_[ring].totals;
    (is_overwritten_ ? totals.overwritten : totals.lost) = rings_[ring].reported;
    return totals;
}

}  // namespace elog
