// SPDX-License-Identifier: MIT
//
// Builds trace.dat files of version 6 or 7.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernel_trace_sample.hpp"

namespace eventlog::test {

struct trace_dat_options {
    int version = 7;
    bool compressed = true;  // version 7
    std::string clock = "mono";
    std::optional<std::uint64_t> realtime{};  // microseconds ahead of the clock: --date
    std::string time_offset{};                // as in the file; empty: none
    bool has_host_clock = false;
    std::uint32_t name_option_hops = 1;   // option sections before that of the thread names
    std::size_t unknown_option_size = 0;  // bytes of each of two unknown options, version 7
};

/// A zstd frame of these bytes.
[[nodiscard]] std::vector<std::uint8_t> zstd_frame(std::span<const std::uint8_t> content);

class trace_dat_builder {
  public:
    using bytes = std::vector<std::uint8_t>;

    explicit trace_dat_builder(std::vector<system_format> formats, trace_dat_options options = {});

    /// The following pages belong to this instance of the kernel's tracing; version 7.
    void instance(std::string name, std::string clock);
    /// Starts the CPU's next page, with so many events missing before its first event.
    void page(std::uint32_t cpu, std::uint64_t missed = 0);
    /// The page reports missing events without their number.
    static constexpr std::uint64_t some = UINT64_MAX;
    /// Adds an event to the CPU's last page: at most 112 bytes, at most 100 ms after the previous
    /// event.
    void event(std::uint32_t cpu, std::uint64_t time, std::span<const std::uint8_t> record);
    /// Adds an entry of any kind to the page, word by word.
    void entry(std::uint32_t cpu, const std::vector<std::uint32_t>& words);
    /// The kernel's count of overwritten events on the CPU.
    void counted(std::uint32_t cpu, std::uint64_t overwritten);
    void name(std::uint32_t thread, std::string_view name);

    [[nodiscard]] bytes file() const;

    static constexpr std::uint32_t page_size = 4096;
    static constexpr std::uint32_t cpus = 2;

  private:
    struct page_state {
        byte_builder content;  // after the page header
        std::uint64_t begin = 0;
        std::uint64_t time = 0;
        std::uint64_t missed = 0;
        bool has_events = false;
    };

    struct buffer_state {
        std::string name;
        std::string clock;
        std::map<std::uint32_t, std::vector<page_state>> pages{};  // by CPU
    };

    [[nodiscard]] static bytes pages_of(const buffer_state& buffer, std::uint32_t cpu);
    /// Writes the buffer's pages, and returns the option with their location.
    [[nodiscard]] bytes add_buffer(byte_builder& file, const buffer_state& buffer) const;
    [[nodiscard]] std::uint64_t add_more_options(byte_builder& file, std::span<const bytes> buffers,
                                                 std::uint64_t next) const;
    [[nodiscard]] std::string names() const;
    void add_options(byte_builder& to) const;
    [[nodiscard]] bytes file_6() const;
    [[nodiscard]] bytes file_7() const;

    std::vector<system_format> formats_;
    trace_dat_options options_;
    std::vector<buffer_state> buffers_;
    std::map<std::uint32_t, std::uint64_t> counted_;
    std::map<std::uint32_t, std::string> names_;
};

}  // namespace eventlog::test
