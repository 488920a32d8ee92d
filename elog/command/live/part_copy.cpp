// SPDX-License-Identifier: MIT
#include "live/part_copy.hpp"

namespace elog {

void part_writer::begin(const copy_options& to, const file_reader& file) {
    copier_.emplace(to, file.host(), file.required_clock_readings());
    copier_->write_offsets(file.clock().offsets());
    copier_->write_notes(file.notes());
}

void part_writer::write(const merged_record& record, const provider_map& providers,
                        const clock_converter& /*clock*/, std::uint32_t /*shared_ring*/) {
    copier_->write(record, 0, providers);
}

void part_writer::write_gap(const merged_record& record, std::uint32_t /*shared_ring*/) {
    copier_->write_gap(record);
}

void part_writer::write_loss(const loss_report& loss, const provider_map& providers,
                             std::uint32_t /*shared_ring*/) {
    loss_report known = loss;
    if (!has_beginning_ && loss.scope == loss_scope::provider) {
        // How many of these the rings of this part have reported is unknown.
        known.full = 0;
        known.no_memory = 0;
    }
    copier_->write_loss(known, 0, providers);
}

void part_writer::write_mark(const recording_mark& mark, const clock_converter& /*clock*/) {
    copier_->write_mark(mark);
}

part_copy::part_copy(const record_selection& choice, const copy_options& to)
    : writer_(!choice.times.since && !choice.tail), records_(choice, writer_) {
    writer_.begin(to, records_.file());
    records_.read();
    writer_.close();
}

}  // namespace elog
