// SPDX-License-Identifier: MIT
#include "ended_region.hpp"

#include <unistd.h>

#include <cerrno>
#include <vector>

#include <gtest/gtest.h>

namespace eventlog::test {

ended_region::ended_region(std::unique_ptr<event_listener> listener)
    : file_(::dup(listener->source().file().get())), geometry_(listener->source().geometry()) {
    listener.reset();
    left_ = count();
}

void ended_region::expect_untouched() const {
    EXPECT_EQ(count().records, left_.records) << "a record of a subscription that had ended";
    const off_t data =
        ::lseek(file_.get(), static_cast<off_t>(geometry_.buffers_offset), SEEK_DATA);
    EXPECT_TRUE(data < 0 && errno == ENXIO) << "the buffers were written to at " << data;
}

ended_region::sums ended_region::count() const {
    sums found;
    std::vector<std::uint64_t> words(geometry_.ring_stride / sizeof(std::uint64_t));
    auto* const ring = reinterpret_cast<eventlog_ring*>(words.data());
    for (std::uint32_t i = 0; i < geometry_.ring_count; ++i) {
        EXPECT_EQ(::pread(file_.get(), words.data(), geometry_.ring_stride,
                          static_cast<off_t>(geometry_.ring_offset(i))),
                  static_cast<ssize_t>(geometry_.ring_stride));
        const core::control_word control{ring->control};
        const std::uint64_t active = control.generation() & (geometry_.buffer_count - 1);
        found.records += core::descriptors_of(ring)[active].records_before + control.count();
        found.lost += ring->lost;
    }
    return found;
}

}  // namespace eventlog::test
