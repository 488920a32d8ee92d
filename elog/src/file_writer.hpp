// SPDX-License-Identifier: MIT
//
// Writing an .elog file in one pass. Records are copied as they were in the ring.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>
#include <string>

#include "file_format.hpp"
#include "provider_schema.hpp"
#include "records.hpp"
#include "unique_fd.hpp"

namespace elog {

class file_writer {
  public:
    /// Makes or replaces the file and writes header and host. Throws failure, as all others here.
    file_writer(std::string path, std::uint32_t clock, std::uint32_t ring_count);

    void write_clock(const eventlog_clock_pair& pair);
    void write_provider(const provider_instance& provider);
    void write_run(const record_run& run);
    void write_loss(const loss_block& loss);
    void write_end(const end_block& totals);

  private:
    void write_block(block_type type, std::span<const std::uint8_t> head,
                     std::span<const std::uint8_t> body);
    void write_host(std::uint32_t clock, std::uint32_t ring_count);
    void write_all(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second,
                   std::span<const std::uint8_t> third, std::size_t padding);

    std::string path_;
    eventlog::core::unique_fd file_;
    std::uint64_t next_block_ = 0;
    std::uint64_t bytes_written_ = 0;
    std::uint64_t whole_ = 0;  // bytes up to the end of the last whole block
};

}  // namespace elog
