// SPDX-License-Identifier: MIT
//
// Reading an .elog file, whole, cut off, damaged or made by an enemy. Opening it reads the headers
// of all blocks and the small blocks; records are read when they are needed.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "clock_table.hpp"
#include "file_format.hpp"
#include "text_writer.hpp"
#include "time_merger.hpp"
#include "unique_fd.hpp"

namespace elog {

class file_reader {
  public:
    /// Throws failure if the file cannot be opened or is no .elog file at all.
    explicit file_reader(std::string path);

    /// Gives out every readable record in the order of time.
    void read(const time_merger::take_record& take);

    [[nodiscard]] const provider_map& providers() const noexcept { return providers_; }
    [[nodiscard]] const clock_table& clock() const noexcept { return clock_; }
    [[nodiscard]] const host_block& host() const noexcept { return host_; }
    [[nodiscard]] std::uint32_t shared_ring() const noexcept { return host_.ring_count - 1; }
    [[nodiscard]] const std::vector<loss_block>& losses() const noexcept { return losses_; }
    [[nodiscard]] const std::optional<end_block>& end() const noexcept { return end_; }
    /// Somebody is writing to it right now: that its last block is not whole means nothing.
    [[nodiscard]] bool is_being_written() const noexcept { return is_being_written_; }

    /// Sentences about what could not be read, with offsets. Complete only after read().
    [[nodiscard]] const std::vector<std::string>& damages() const noexcept { return damages_; }

  private:
    static constexpr std::size_t damages_max = 100;

    struct block_place {
        std::uint64_t offset = 0;  // of the payload
        block_header header{};
    };

    void check_file_header();
    void scan();
    [[nodiscard]] std::optional<block_header> header_at(std::uint64_t offset) const;
    [[nodiscard]] std::optional<std::uint64_t> find_block(std::uint64_t offset) const;
    void take_block(const block_place& place);
    void report_torn_end(std::uint64_t offset);
    void compare_with_end();
    void take_host(const std::vector<std::uint8_t>& payload);
    void take_provider(const block_place& place, const std::vector<std::uint8_t>& payload);
    void take_records(const block_place& place);
    [[nodiscard]] std::optional<std::vector<std::uint8_t>> load(const block_place& place);
    [[nodiscard]] std::optional<owned_run> load_run(const block_place& place);

    template <class... Arguments>
    void report(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        // A file of nothing but damage must not fill the memory with sentences about it.
        if (damages_.size() < damages_max) {
            damages_.push_back(fmt::format(format, std::forward<Arguments>(arguments)...));
        } else if (damages_.size() == damages_max) {
            damages_.emplace_back("there is more damage than is listed here");
        }
    }

    std::string path_;
    eventlog::core::unique_fd file_;
    std::uint64_t size_ = 0;
    host_block host_{};
    bool has_host_ = false;
    bool is_being_written_ = false;
    end_block found_{};  // as read, to be compared with what the end says
    clock_table clock_;
    provider_map providers_;
    std::vector<std::vector<block_place>> records_;  // by ring
    std::vector<std::size_t> next_records_;          // by ring
    std::vector<loss_block> losses_;
    std::optional<end_block> end_;
    std::vector<std::string> damages_;
};

}  // namespace elog
