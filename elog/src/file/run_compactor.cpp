// SPDX-License-Identifier: MIT
#include "file/run_compactor.hpp"

#include "compact/compact_shape.hpp"
#include "record/ring_records.hpp"

namespace elog {
namespace {

/// The largest size of the compacted form.
constexpr std::size_t worthwhile_size(std::size_t verbatim) noexcept {
    return verbatim - verbatim / 16;
}

}  // namespace

void run_compactor::add_provider(std::uint32_t id, std::uint32_t first_event,
                                 const provider_schema& schema) {
    if (id > record_provider_max) {
        return;
    }
    if (id >= providers_.size()) {
        providers_.resize(id + std::size_t{1});
    }
    numbered_events& provider = providers_[id];
    if (!provider.shapes.empty()) {
        return;
    }
    provider.first = first_event;
    provider.shapes.reserve(schema.events.size());
    for (const event_schema& event : schema.events) {
        provider.shapes.push_back(compact_shape_of(event));
    }
}

std::span<const std::uint8_t> run_compactor::compact(const record_run& run) {
    const std::size_t size_max = worthwhile_size(run.bytes.size());
    // The bound of a record exceeds its payload by this much, so a record that the encoder rejects
    // would make the form too large.
    const std::size_t size = size_max + compact_encoder::size_bound(0);
    if (buffer_.size() < size) {
        buffer_.resize(size);
    }
    encoder_.begin(std::span(buffer_).first(size));
    run_reader records(run);
    for (record_view record; records.next(record);) {
        if (record.provider >= providers_.size()) {
            return {};
        }
        const numbered_events& provider = providers_[record.provider];
        if (record.event >= provider.shapes.size() ||
            !encoder_.add({provider.first + record.event, record.thread, record.time, record.cpu,
                           record.flags, record.payload},
                          provider.shapes[record.event])) {
            return {};
        }
    }
    const std::span<const std::uint8_t> compacted = encoder_.bytes();
    return compacted.size() <= size_max ? compacted : std::span<const std::uint8_t>{};
}

}  // namespace elog
