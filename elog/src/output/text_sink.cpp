// SPDX-License-Identifier: MIT
#include "output/text_sink.hpp"

namespace elog {

void text_sink::start(const region_view& source) {
    shared_ring_ = source.geometry.ring_count - 1;
    clock_ = clock_converter(source.header.clock);
    merger_ = time_merger(source.geometry.ring_count);
}

void text_sink::write_marks(std::uint64_t time) {
    marks_.take_until(time,
                      [this](const recording_mark& mark) { writer_->write_mark(mark, clock_); });
}

void text_sink::write(const merged_record& record) {
    write_marks(order_time_of(record));
    writer_->write(record, providers_, clock_, shared_ring_);
}

void text_sink::take_loss(const loss_report& loss) {
    merger_.merge_rest([this](const merged_record& record) { write(record); });
    write_marks(UINT64_MAX);
    writer_->write_loss(loss, providers_, shared_ring_);
}

void text_sink::advance(std::uint64_t time, std::uint64_t present) {
    merger_.merge(time, present, [this](const merged_record& record) { write(record); });
    write_marks(time);
    writer_->flush();
}

void text_sink::finish() {
    advance(UINT64_MAX, UINT64_MAX);
    writer_->finish();
}

}  // namespace elog
