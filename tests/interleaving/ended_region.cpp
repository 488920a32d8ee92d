// SPDX-License-Identifier: MIT
#include "ended_region.hpp"

#include <unistd.h>

#include <gtest/gtest.h>

namespace eventlog::test {

ended_region::ended_region(std::unique_ptr<listener> ears)
    : file_(::dup(ears->source().file().get())), geometry_(ears->source().geometry()) {
    ears.reset();
    left_ = read();
}

void ended_region::expect_untouched() const {
    EXPECT_TRUE(read() == left_) << "somebody wrote to a subscription that had ended";
}

std::vector<std::uint8_t> ended_region::read() const {
    const std::uint64_t rings = geometry_.providers_offset - geometry_.rings_offset;
    const std::uint64_t buffers = geometry_.total_size - geometry_.buffers_offset;
    std::vector<std::uint8_t> bytes(rings + buffers);
    const auto read_at = [this](std::uint8_t* target, std::uint64_t size, std::uint64_t offset) {
        EXPECT_EQ(::pread(file_.get(), target, size, static_cast<off_t>(offset)),
                  static_cast<ssize_t>(size));
    };
    read_at(bytes.data(), rings, geometry_.rings_offset);
    read_at(bytes.data() + rings, buffers, geometry_.buffers_offset);
    return bytes;
}

}  // namespace eventlog::test
