// SPDX-License-Identifier: MIT
#include "output/buffered_writer.hpp"

namespace elog {

void buffered_writer::write(const merged_record& record, const provider_map& providers,
                            const clock_converter& clock, std::uint32_t shared_ring) {
    write_gap(record, shared_ring);
    const record_view& decoded = record.record;
    if (is_supported(decoded)) {
        const auto found = providers.find(decoded.provider);
        const bool is_known =
            found != providers.end() && decoded.event < found->second.schema.events.size();
        append_record(record, is_known ? &found->second : nullptr, clock);
    } else {
        ++skipped_;
    }
    if (buffer_.size() >= output_size) {
        flush();
    }
}

void buffered_writer::write_gap(const merged_record& record, std::uint32_t shared_ring) {
    if (record.lost_before != 0) {
        append_ring_loss(record.ring, record.ring == shared_ring, record.lost_before,
                         record.overwritten ? loss_name::overwritten : loss_name::full);
    }
}

void buffered_writer::write_loss(const loss_report& loss, const provider_map& providers,
                                 std::uint32_t shared_ring) {
    const bool is_of_ring = loss.scope == loss_scope::ring;
    const auto found = providers.find(loss.index);
    provider_instance named;  // a file may have the losses of a provider without its events
    named.schema.name = loss.provider;
    named.process = loss.process;
    named.pid = loss.pid;
    const provider_instance* provider = found != providers.end() ? &found->second
                                        : loss.provider.empty()  ? nullptr
                                                                 : &named;
    for_each_loss_reason(loss, [&](std::uint64_t lost, const char* reason) {
        if (is_of_ring) {
            append_ring_loss(loss.index, loss.index == shared_ring, lost, reason);
        } else {
            append_provider_loss(provider, lost, reason);
        }
    });
}

}  // namespace elog
